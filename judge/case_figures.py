"""What Proctor itself counts over the trials of a case: lines for a judge to cite, and the numbers that caps look at.

What a source did not tell is "not told", never 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from proctor.judge.case_facts import drift, facts_of, writes_of
from proctor.rubric import CaseFigure, Counted
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory

NOT_TOLD = "not told"
EXPECTED: dict[Counted, str] = {"tool_calls": "actions", "steps": "steps"}
"""Where a trajectory's `expected` tells the reference run's: a list of them, or their number."""
_WORDS: dict[Counted, str] = {"tool_calls": "tool calls", "steps": "steps"}
_TIMED_OUT = re.compile(r"time[d ]?[ _-]?out|超时", re.IGNORECASE)
_TIMED_OUT_STATUS = frozenset({408, 504})


def reference(trials: Sequence[Trajectory], what: Counted) -> int | None:
    """The reference run's number; None where no trial tells one, or they tell several."""
    told = {_told(trial, EXPECTED[what]) for trial in trials} - {None}
    return told.pop() if len(told) == 1 else None


def mean(trials: Sequence[Trajectory], what: Counted) -> float:
    """The trials' mean."""
    return fmean(len(calls_of(trial)) if what == "tool_calls" else len(trial.steps) for trial in trials)


def by_reference(trials: Sequence[Trajectory], what: Counted) -> float | None:
    """The trials' mean by the reference run's number; None without one, or where it is 0."""
    number = reference(trials, what)
    return mean(trials, what) / number if number else None


def measured(trials: Sequence[Trajectory], figure: CaseFigure) -> float | None:
    """A figure that a cap may name; None where it cannot be told."""
    if figure == "result_drift":
        return drift(trials).share
    return by_reference(trials, "tool_calls" if figure == "tool_calls_by_reference" else "steps")


def ended(trial: Trajectory) -> bool:
    """It did not break off."""
    return trial.error is None and not trial.limits_hit


def figure_lines(trials: Sequence[Trajectory]) -> Iterator[str]:
    """Each figure under the name that anchors use, long enough to be quoted alone."""
    yield f"number of trials: {len(trials)}"
    yield f"trials that broke off: {sum(not ended(trial) for trial in trials)}"
    yield _drift(trials)
    yield _differing("end states", [facts_of(trial).end_state for trial in trials])
    yield _differing("writes", ["\n".join(writes_of(trial)) for trial in trials])
    yield _differing("final answers", [trial.final_answer for trial in trials])
    yield _line("tool calls of the trials", trials, lambda trial: len(calls_of(trial)))
    yield from _counted(trials, "tool_calls")
    yield _line("failed tool calls", trials, lambda trial: sum(bool(call.failed) for call in calls_of(trial)))
    yield _line("tool calls that timed out", trials, _timed_out)
    yield _line("steps of the trials", trials, lambda trial: len(trial.steps))
    yield from _counted(trials, "steps")
    yield _line("seconds of the trials", trials, lambda trial: trial.seconds)
    yield _line("input tokens", trials, lambda trial: trial.tokens.input if trial.tokens else None)
    yield _line("output tokens", trials, lambda trial: trial.tokens.output if trial.tokens else None)


def _counted(trials: Sequence[Trajectory], what: Counted) -> Iterator[str]:
    word, number, ratio = _WORDS[what], reference(trials, what), by_reference(trials, what)
    yield f"mean number of {word}: {mean(trials, what):g}"
    yield f"{word} of the reference run: {NOT_TOLD if number is None else number}"
    if ratio is not None:
        yield f"mean number of {word} by the reference run's: {ratio:g} times"


def _drift(trials: Sequence[Trajectory]) -> str:
    name = "trials that differ from the others in a fact"
    found = drift(trials)
    if found.share is None:
        return f"{name}: {NOT_TOLD}"
    which = f"; trial {', '.join(map(str, found.differing))}" if found.differing else ""
    missing = f"; not compared, broken off: trial {', '.join(map(str, found.left_out))}" if found.left_out else ""
    return f"{name}: {len(found.differing)} of {len(found.compared)} ({found.share * 100:.1f} %{which}{missing})"


def _line(name: str, trials: Sequence[Trajectory], measure: Callable[[Trajectory], float | None]) -> str:
    """`failed tool calls: 3, 5, 4 (trials 1 to 3; mean 4, least 3, most 5)`."""
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


def _told(trial: Trajectory, key: str) -> int | None:
    given = (trial.expected or {}).get(key)
    if isinstance(given, list):
        return len(given)
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


def _timed_out(trial: Trajectory) -> int:
    return sum(_is_time_out(trial, call) for call in calls_of(trial))


def _is_time_out(trial: Trajectory, call: Call) -> bool:
    if call.result_step is None:
        return False
    answer = trial.steps[call.result_step]
    if answer.status in _TIMED_OUT_STATUS or _TIMED_OUT.search(answer.fault or ""):
        return True
    return bool(call.failed) and _TIMED_OUT.search(answer.text or "") is not None
