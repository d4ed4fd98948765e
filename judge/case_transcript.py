"""All trials of a case as one transcript: step 0 holds the figures, each later step one trial.

Figures are Proctor's own; what a source did not tell is "not told", never 0. What a trial said, wrote and left behind
is blinded like any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proctor.checks.state_changes import changes_state
from proctor.judge.blinding import blind
from proctor.judge.case_figures import NOT_TOLD, ended, figure_lines
from proctor.judge.showing import as_json
from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.tool_calls import calls_of
from proctor.trajectory import Step, Task, ToolCall, Trajectory

_NOTHING = Passage("figure", "trial", f"final answer, writes and end state: {NOT_TOLD}")


def case_transcript(trials: Sequence[Trajectory]) -> Transcript:
    """The transcript of at least one trial of the same case, in the order given. Raises NotBlind, ValueError."""
    if not trials:
        raise ValueError("a case is judged over its trials, and there is none")
    steps = [step for number, trial in enumerate(trials, 1) for step in _trial(number, trial)]
    numbered = tuple(step.model_copy(update={"index": index}) for index, step in enumerate(steps))
    as_run = Trajectory(id="case", task=Task(goal=trials[0].task.goal, policy=trials[0].task.policy), steps=numbered)
    blinded = blind(as_run, thoughts=False)
    trial_of = {index: step.turn for index, step in enumerate(numbered)}
    shown = [_figures(trials)]
    for number, trial in enumerate(trials, 1):
        parts = [step for step in blinded.steps if trial_of[step.index] == number]
        passages = tuple(each for step in parts for each in step.passages) or (_NOTHING,)
        heading = f"trial {number}" if ended(trial) else f"trial {number}, broke off"
        shown.append(ShownStep(number, heading, _renamed(passages)))
    flags = tuple(replace(flag, step=trial_of.get(flag.step, flag.step)) for flag in blinded.flags)
    return replace(blinded, steps=tuple(shown), flags=flags, changing=frozenset(), digest=f"{blinded.digest}-case")


def _trial(number: int, trial: Trajectory) -> Iterator[Step]:
    """What a trial comes to, as steps of a run whose turns are the trials."""
    if trial.final_answer:
        yield Step(index=0, turn=number, role="assistant", text=trial.final_answer)
    writes = tuple(
        ToolCall(name=call.name, id=f"{number}", arguments=call.arguments, arguments_raw=call.arguments_raw)
        for call in calls_of(trial)
        if changes_state(call)
    )
    if writes:
        yield Step(index=0, turn=number, role="assistant", tool_calls=writes)
    if trial.end_state is not None:
        yield Step(index=0, turn=number, role="tool", text=as_json(trial.end_state))


def _renamed(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """With the places in the trial from which they come."""
    fields = {"agent": "final_answer", "tool_result": "end_state"}
    return tuple(replace(each, field=fields.get(each.kind, each.field)) for each in passages)


def _figures(trials: Sequence[Trajectory]) -> ShownStep:
    return ShownStep(0, "figures over all trials", (Passage("figure", "figures", "\n".join(figure_lines(trials))),))
