"""Calls made again: loops, retries of a call that fails, and what a run of failures counts for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from proctor.check import CheckResult, Count
from proctor.checks.outcomes import at_call, bounded, call_text, failed, not_assessable, passed, times
from proctor.matching.values import canonical
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory

FINE = 3
"""Times that the same call may be made in a run; the next one is a loop."""


class ErrorFigures(NamedTuple):
    """Failing calls, counted so that repeating one call does not count as many errors."""

    errors: int
    invalid_actions: int


@bounded
def loops(trajectory: Trajectory, *, most: Count = FINE) -> CheckResult:
    """No tool was called with the same arguments more than `most` times in the run."""
    made: dict[Hashable, list[Call]] = {}
    for call in calls_of(trajectory):
        made.setdefault(_key(call), []).append(call)
    worst = max(made.values(), key=len, default=[])
    if len(worst) > most:
        message = f"{call_text(worst[0])} was called {times(len(worst), 'time')}; {most} are fine"
        return failed("loops", message, map(at_call, worst))
    return passed("loops", f"no call was made more than {times(most, 'time')}")


@bounded
def retries(trajectory: Trajectory, *, most: Count = 3) -> CheckResult:
    """No failing call was made again, unchanged, more than `most` times in a row."""
    calls = calls_of(trajectory)
    if calls and all(call.failed is None for call in calls):
        return not_assessable("retries", "no call has a known result", "the results of the calls")
    for again in _failing_rows(trajectory, calls):
        if again.retries > most:
            message = (
                f"{call_text(again.calls[0])} failed and was retried {times(again.retries, 'time')}; {most} are fine"
            )
            return failed("retries", message, map(at_call, again.calls))
    errors, invalid = error_figures(trajectory)
    message = f"{times(errors, 'error')}, {times(invalid, 'invalid action')}"
    return passed("retries", message)


def error_figures(trajectory: Trajectory) -> ErrorFigures:
    """Identical calls that fail in a row are one error, and the further ones invalid actions: five are 1 and 4."""
    rows = [row for row in _failing_rows(trajectory, calls_of(trajectory)) if row.calls[0].failed]
    return ErrorFigures(len(rows), sum(row.failures - 1 for row in rows))


class _Row(NamedTuple):
    """Identical calls in a row of which all but perhaps the last failed."""

    calls: tuple[Call, ...]
    failures: int
    """Failed tries, those inside the agent's own framework included."""
    retries: int
    """Tries after the first, the successful one included."""


def _failing_rows(trajectory: Trajectory, calls: Sequence[Call]) -> Iterator[_Row]:
    row: list[Call] = []
    key: Hashable = None
    for call in calls:
        same_again = bool(row) and row[-1].failed is True and _key(call) == key
        if not same_again and row:
            yield _row(trajectory, row)
            row = []
        row.append(call)
        key = _key(call)
    if row:
        yield _row(trajectory, row)


def _row(trajectory: Trajectory, row: Sequence[Call]) -> _Row:
    tries = [_tries(trajectory, call) for call in row]
    failures = sum(tries) - (row[-1].failed is not True)
    return _Row(tuple(row), failures, sum(tries) - 1 if row[0].failed else 0)


def _tries(trajectory: Trajectory, call: Call) -> int:
    """How often the agent's framework made the call, where the traffic told."""
    if not call.failed or call.result_step is None:
        return 1
    return trajectory.steps[call.result_step].attempts or 1


def _key(call: Call) -> Hashable:
    """What makes two calls the same. Arguments that did not parse are the same where their text is."""
    if call.arguments is None and call.arguments_raw is not None:
        return (call.name, "raw", call.arguments_raw)
    return (call.name, canonical(call.arguments))
