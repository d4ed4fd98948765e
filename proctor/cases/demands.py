"""What the expectations of a case ask of an agent: which tools they name, and whether doing nothing meets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proctor.cases.case import Case
from proctor.cases.parts import Called, Expectations
from proctor.checks.final_state import assertion_fails
from proctor.matching.calls import ExpectedCall


def expectations_of(case: Case) -> tuple[Expectations, ...]:
    """Those of the whole run, then those of its turns."""
    return (case.expect, *(turn.expect for turn in case.turns))


def demands_a_deed(expect: Expectations) -> bool:
    """Something must be called or said. What must not be, an agent that does nothing keeps to."""
    called = any(isinstance(each, str) or each.at_least > 0 for each in expect.called)
    whole = expect.calls is not None and expect.calls.mode != "subset" and bool(expect.calls.calls)
    return bool(
        called
        or whole
        or expect.writes
        or expect.outputs
        or expect.in_order
        or expect.says
        or expect.says_finally
        or expect.skill
        or expect.intents
    )


def met_at_start(case: Case, start: Any) -> bool:
    """Every assertion over the state holds of the state at the start; those over writes do not: nothing is written."""
    return not any(
        assertion_fails(each, start if each.over == "state" else [], each.over)[0]
        for expect in expectations_of(case)
        for each in (*expect.state, *expect.held)
    )


def tools_named(case: Case) -> Iterator[str]:
    """The tools, or their patterns, that a case names anywhere, in its own order."""
    for expect in expectations_of(case):
        calls = expect.calls.calls if expect.calls else ()
        yield from (_name(each) for each in (*(expect.writes or ()), *calls, *expect.called))
        yield from (*expect.not_called, *expect.in_order)
        for tool, before in expect.requires.items():
            yield from (tool, *before)
    for branch in case.branches:
        yield from (_name(each) for calls in branch.routes.values() for each in calls)
    yield from (step.tool for step in case.reference)


def _name(call: ExpectedCall | Called | str) -> str:
    if isinstance(call, str):
        return call
    return call.tool if isinstance(call, Called) else call.name
