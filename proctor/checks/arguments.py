"""The arguments have the types that the tools were offered with."""

from __future__ import annotations

from itertools import islice

from proctor.check import CheckResult
from proctor.checks.findings import at_argument
from proctor.checks.outcomes import at_call, bounded, failed, not_assessable, passed, times
from proctor.checks.schema import faults
from proctor.checks.words import words_of
from proctor.trajectory import Trajectory

_MOST = 5


@bounded
def argument_types(trajectory: Trajectory) -> CheckResult:
    """Each call's arguments are JSON and fit the schema of their tool: types, required fields, enums."""
    words = words_of(trajectory)
    if not words.calls:
        return not_assessable("argument_types", "no tool was called", "a call with arguments")
    for call in words.calls:
        if call.arguments is None and (call.arguments_raw or "").strip():
            message = f"the arguments of {call.name} at step {call.step} are no JSON"
            return failed("argument_types", message, [at_argument(call, "", call.arguments_raw)])
    schemas = {tool.name: tool.parameters for tool in trajectory.tools or () if tool.parameters is not None}
    typed = [call for call in words.calls if call.name in schemas]
    if not typed:
        return not_assessable(
            "argument_types", "no schema of the tools called is known", "the tools as they were offered"
        )
    for call in typed:
        arguments = {} if call.arguments is None else call.arguments
        found = list(islice(faults(arguments, schemas[call.name]), _MOST))
        if found:
            pointer, why = found[0]
            message = f"{pointer or 'the whole'} of {call.name} at step {call.step} {why}"
            return failed("argument_types", message, [at_argument(call, at, _at(arguments, at)) for at, _ in found])
    return passed("argument_types", f"{times(len(typed), 'call')} as the schema wants", map(at_call, typed))


def _at(value: object, pointer: str) -> object:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list):
            value = value[int(name)]
    return value
