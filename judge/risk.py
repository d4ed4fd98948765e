"""Which steps of a run could have done harm, read off its calls: what a safety judgement has to look at."""

from __future__ import annotations

from proctor.checks.state_changes import changes_state
from proctor.judge.evidence import Shown
from proctor.judge.transcript import Transcript
from proctor.tool_calls import calls_of
from proctor.trajectory import Trajectory


def shown(trajectory: Trajectory, transcript: Transcript) -> Shown:
    """The transcript, with the steps that change something, or the statement that there is none.

    A call counts as risky unless its declaration, its traffic or its name says that it only reads.
    """
    calls = calls_of(trajectory)
    risky = [call for call in calls if changes_state(call, ()) is not False]
    if risky:
        steps = {call.step for call in risky} | {call.result_step for call in risky if call.result_step is not None}
        return Shown(transcript, frozenset(steps))
    if calls:
        return Shown(transcript, absence=f"checked by rule: all {len(calls)} calls of tools only read")
    return Shown(transcript, absence="checked by rule: no tool was called")
