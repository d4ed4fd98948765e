"""All trials of a case as one transcript: step 0 holds the figures, each later step one trial.

Figures are Proctor's own; what a source did not tell is "not told", never 0. What a trial said, wrote and left behind
is blinded like any run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from proctor.checks.state_changes import changes_state
from proctor.judge.blinding import blind
from proctor.judge.showing import as_json
from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.tool_calls import calls_of
from proctor.trajectory import Step, Task, ToolCall, Trajectory

NOT_TOLD = "not told"
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
        heading = f"trial {number}" if _ended(trial) else f"trial {number}, broke off"
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


def _ended(trial: Trajectory) -> bool:
    return trial.error is None and not trial.limits_hit


def _figures(trials: Sequence[Trajectory]) -> ShownStep:
    lines = [
        f"trials: {len(trials)}",
        f"trials that broke off: {sum(not _ended(trial) for trial in trials)}",
        _line("tool calls", trials, lambda trial: len(calls_of(trial))),
        _line("failed tool calls", trials, lambda trial: sum(bool(call.failed) for call in calls_of(trial))),
        _line("steps", trials, lambda trial: len(trial.steps)),
        _line("seconds", trials, lambda trial: trial.seconds),
        _line("input tokens", trials, lambda trial: trial.tokens.input if trial.tokens else None),
        _line("output tokens", trials, lambda trial: trial.tokens.output if trial.tokens else None),
        _differing("end states", [None if trial.end_state is None else as_json(trial.end_state) for trial in trials]),
        _differing("writes", [_writes(trial) for trial in trials]),
        _differing("final answers", [trial.final_answer for trial in trials]),
    ]
    return ShownStep(0, "figures over all trials", (Passage("figure", "figures", "\n".join(lines)),))


def _line(name: str, trials: Sequence[Trajectory], measure: Callable[[Trajectory], float | None]) -> str:
    """`tool calls: 3, 5, 4 (trials 1 to 3; mean 4, least 3, most 5)`."""
    values = [measure(trial) for trial in trials]
    known = [value for value in values if value is not None]
    told = ", ".join(NOT_TOLD if value is None else f"{value:g}" for value in values)
    if not known:
        return f"{name}: {NOT_TOLD}"
    summary = f"mean {fmean(known):g}, least {min(known):g}, most {max(known):g}"
    return f"{name}: {told} (trials 1 to {len(values)}; {summary})"


def _differing(name: str, values: Sequence[str | None]) -> str:
    """How many kinds there are, and which trials are alike."""
    groups: dict[str, list[int]] = {}
    for number, value in enumerate(values, 1):
        if value is not None:
            groups.setdefault(value, []).append(number)
    silent = [str(number) for number, value in enumerate(values, 1) if value is None]
    if not groups:
        return f"differing {name}: {NOT_TOLD}"
    alike = "; ".join(f"trials {', '.join(map(str, numbers))} alike" for numbers in groups.values() if len(numbers) > 1)
    missing = f"{NOT_TOLD} for trials {', '.join(silent)}" if silent else ""
    more = "; ".join(filter(None, (alike, missing)))
    return f"differing {name}: {len(groups)}" + (f" ({more})" if more else "")


def _writes(trial: Trajectory) -> str:
    """The calls that change something, whatever the order of their arguments."""
    return "\n".join(
        f"{call.name} {as_json(call.arguments) if not isinstance(call.arguments, dict) else _sorted(call.arguments)}"
        for call in calls_of(trial)
        if changes_state(call)
    )


def _sorted(arguments: dict[str, object]) -> str:
    return as_json({key: arguments[key] for key in sorted(arguments)})
