"""Checks asked for by name, with parameters as plain JSON: wrong ones are an error before any run is checked."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from proctor.check import CheckResult
from proctor.checks.index import CHECKS
from proctor.errors import UsageError, nearest
from proctor.trajectory import Step, ToolCall, Trajectory

_PROBE = Trajectory(
    id="probe",
    steps=(
        Step(index=0, role="user", text="hello"),
        Step(index=1, role="assistant", tool_calls=(ToolCall(name="tool", id="c", arguments={}),)),
        Step(index=2, role="tool", tool_call_id="c", text="{}"),
        Step(index=3, role="assistant", text="done"),
    ),
    end_state={},
)
"""A run on which parameters are tried: what a check cannot read, it cannot read here either."""


def checked_parameters(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a check. Raises UsageError for an unknown check, and for parameters that it cannot take."""
    if name not in CHECKS:
        raise UsageError("unknown_check", f'there is no check "{name}"', nearest(name, CHECKS))
    types = _types(name)
    for parameter, value in given.items():
        if parameter not in types:
            raise _bad(name, f'it has no parameter "{parameter}"', nearest(parameter, types))
        try:
            types[parameter].validate_python(value)
        except ValidationError as error:
            raise _bad(name, f"{parameter}: {_first(error)}") from None
    missing = [each for each in required_parameters(name) if each not in given]
    if missing:
        raise _bad(name, f"it needs {', '.join(missing)}")
    run_check(name, _PROBE, given)
    return dict(given)


def run_check(name: str, trajectory: Trajectory, given: Mapping[str, Any]) -> CheckResult:
    """The result of one check. Raises UsageError for parameters that it cannot take."""
    try:
        return CHECKS[name](trajectory, **given)
    except ValidationError as error:
        raise _bad(name, _first(error)) from None


def required_parameters(name: str) -> tuple[str, ...]:
    """The parameters that a check cannot do without."""
    _, *parameters = inspect.signature(CHECKS[name]).parameters.values()
    return tuple(each.name for each in parameters if each.default is inspect.Parameter.empty)


@cache
def _types(name: str) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(inspect.unwrap(CHECKS[name]), include_extras=True)
    _, *parameters = inspect.signature(CHECKS[name]).parameters
    return {each: TypeAdapter(hints[each]) for each in parameters}


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


def _bad(name: str, why: str, fix: str = "") -> UsageError:
    return UsageError("bad_checks", f"{name}: {why}", fix or "docs/checks.md has examples of each check")
