"""How the checks that read texts write their results: bounded, and masked in every message and quote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from proctor.check import CheckResult, Evidence, Outcome
from proctor.checks.masking import quote
from proctor.tool_calls import Call
from proctor.trajectory import Trajectory

P = ParamSpec("P")

LONGEST_MESSAGE = 400
MOST_EVIDENCE = 20
"""Places that one result names; the message tells how many there are."""


def total(
    check: Callable[Concatenate[Trajectory, P], CheckResult],
) -> Callable[Concatenate[Trajectory, P], CheckResult]:
    """A check that answers "not assessable" of values nested too deeply, instead of raising."""

    @wraps(check)
    def run(trajectory: Trajectory, /, *args: P.args, **kwargs: P.kwargs) -> CheckResult:
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
    return CheckResult(
        check=check,
        outcome=outcome,
        message=quote(message, longest=LONGEST_MESSAGE),
        evidence=tuple(evidence)[:MOST_EVIDENCE],
        needs=needs,
    )


def at_text(step: int | None, text: str, start: int = 0, end: int | None = None, field: str = "text") -> Evidence:
    """A span of a text, the whole of it where no `end` is given."""
    whole = end is None
    return Evidence(
        step=step,
        field=field,
        start=None if whole else start,
        end=end,
        quote=quote(text, start, end),
    )


def at_argument(call: Call, pointer: str, value: Any) -> Evidence:
    """One argument of a call, by JSON pointer below `arguments` (empty for all of them)."""
    return Evidence(
        step=call.step, field=f"tool_calls/{call.position}/arguments{quote(pointer)}", quote=quote(shown(value))
    )


def at_call(call: Call) -> Evidence:
    """A call as a whole."""
    return Evidence(
        step=call.step, field=f"tool_calls/{call.position}", quote=quote(f"{call.name} {shown(call.arguments)}")
    )


def at_result(call: Call) -> tuple[Evidence, ...]:
    """What a call was answered, where it was."""
    return () if call.result_step is None else (at_text(call.result_step, call.result_text or ""),)


def shown(value: Any) -> str:
    """A value as JSON on one line; texts as they are."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"a value that cannot be shown ({type(value).__name__})"
