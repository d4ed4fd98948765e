"""Which steps of a run could have done harm, read off its calls: what a safety judgement has to look at."""

from __future__ import annotations

from proctor.judge.evidence import Shown
from proctor.judge.transcript import Transcript
from proctor.tool_calls import calls_of
from proctor.trajectory import Trajectory


def shown(trajectory: Trajectory, transcript: Transcript) -> Shown:
    """The transcript, with the steps that change something, or the statement that there is none."""
    if transcript.changing:
        return Shown(transcript, transcript.changing)
    calls = len(calls_of(trajectory))
    what = f"all {calls} calls of tools only read" if calls else "no tool was called"
    return Shown(transcript, absence=f"checked by rule: {what}")
