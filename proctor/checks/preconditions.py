"""A tool only after others have succeeded: the right tool at the right moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.check import CheckResult
from proctor.checks.outcomes import at_call, at_result, bounded, failed, listed, not_assessable, passed, times
from proctor.matching.names import Aliases, named
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory


@bounded
def preconditions(
    trajectory: Trajectory, requires: Mapping[str, Sequence[str]], *, aliases: Aliases | None = None
) -> CheckResult:
    """Each call of a tool in `requires` came after a successful result of every tool that it requires."""
    calls = calls_of(trajectory)
    bound = [call for call in calls if named(requires, call.name, aliases)]
    if not bound:
        return not_assessable("preconditions", f"none of {listed(requires)} was called", "a call of one of them")
    unknown: list[Call] = []
    for call in bound:
        for tool, before in requires.items():
            if not named([tool], call.name, aliases):
                continue
            for other in before:
                earlier = [
                    each for each in calls if named([other], each.name, aliases) and _answered_before(each, call)
                ]
                if any(each.failed is False for each in earlier):
                    continue
                tried = [each for each in earlier if each.failed]
                if not tried and earlier:
                    unknown.append(call)
                    continue
                how = f"{other} had failed" if tried else f"no {other} had succeeded"
                evidence = [at_call(call), *(place for each in tried for place in at_result(each))]
                return failed(
                    "preconditions", f"{call.name} was called at step {call.step}, and {how} before", evidence
                )
    if unknown:
        message = f"what {listed(call.name for call in unknown)} had to wait for has no known result"
        return not_assessable("preconditions", message, "the results of those calls", map(at_call, unknown))
    return passed("preconditions", f"{times(len(bound), 'call')} came after what they require", map(at_call, bound))


def _answered_before(earlier: Call, call: Call) -> bool:
    """A result that came after the call, or in the same step, was not known when it was made."""
    return earlier.result_step is not None and earlier.result_step < call.step
