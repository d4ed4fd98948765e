"""How the checks write their results: each message and quote passes here, so that none breaks a report or leaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Concatenate, ParamSpec

from proctor.check import CheckResult, Evidence, Outcome
from proctor.checks.masking import quote
from proctor.matching.values import cut, shown
from proctor.tool_calls import Call
from proctor.trajectory import Step, Trajectory

P = ParamSpec("P")

LONGEST_MESSAGE = 600
_LONGEST_CALL = 220
MOST_EVIDENCE = 20
"""Places that one result names; the message tells the number of all."""


def bounded(
    check: Callable[Concatenate[Trajectory, P], CheckResult],
) -> Callable[Concatenate[Trajectory, P], CheckResult]:
    """A check that says "not assessable" of a run without steps, or of values nested too deeply, instead of raising."""

    @wraps(check)
    def run(trajectory: Trajectory, /, *args: P.args, **kwargs: P.kwargs) -> CheckResult:
        if not trajectory.steps:
            return not_assessable(check.__name__, "the trajectory has no steps", "a run that was recorded")
        try:
            return check(trajectory, *args, **kwargs)
        except RecursionError:
            return not_assessable(check.__name__, "values in it are nested too deeply", "values of fewer levels")

    return run


def passed(check: str, message: str, evidence: Iterable[Evidence] = ()) -> CheckResult:
    """The check holds."""
    return _result(check, "pass", message, evidence)


def failed(check: str, message: str, evidence: Iterable[Evidence] = ()) -> CheckResult:
    """The check does not hold."""
    return _result(check, "fail", message, evidence)


def not_assessable(check: str, message: str, needs: str, evidence: Iterable[Evidence] = ()) -> CheckResult:
    """Nothing can be said; `needs` is what would have made it assessable."""
    return _result(check, "not_assessable", message, evidence, needs)


def _result(check: str, outcome: Outcome, message: str, evidence: Iterable[Evidence], needs: str = "") -> CheckResult:
    some = tuple(evidence)[:MOST_EVIDENCE]
    return CheckResult(
        check=check,
        outcome=outcome,
        message=quote(message, longest=LONGEST_MESSAGE),
        evidence=some,
        needs=cut(needs, LONGEST_MESSAGE),
    )


def at_call(call: Call, at: str = "") -> Evidence:
    """A call, or one field of its arguments by JSON pointer."""
    if at:
        return Evidence(step=call.step, field=f"tool_calls/{call.position}/arguments{cut(at)}", quote=call_text(call))
    return Evidence(step=call.step, field=f"tool_calls/{call.position}", quote=call_text(call))


def at_result(call: Call) -> tuple[Evidence, ...]:
    """What a call was answered, where it was."""
    if call.result_step is None:
        return ()
    return (Evidence(step=call.result_step, quote=quote(call.result_text or "")),)


def at_text(step: Step, start: int, end: int) -> Evidence:
    """A span of a step's text."""
    return Evidence(step=step.index, start=start, end=end, quote=quote(step.text or "", start, end))


def at_state(field: str, value: object) -> Evidence:
    """A value that stands in no step; `field` is a JSON pointer into the trajectory, without its first slash."""
    return Evidence(step=None, field=cut(field), quote=quote(shown(value)))


def call_text(call: Call) -> str:
    """A call on one line: `refund {"order_id": "W1"}`."""
    return quote(f"{cut(call.name, 80)} {shown(call.arguments)}", longest=_LONGEST_CALL)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in one line, the same one once, in the order met."""
    unique = list(dict.fromkeys(cut(name, 80) for name in names))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def times(number: int, what: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
