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
    needed = {name: _Needed(name, calls, aliases) for before in requires.values() for name in before}
    bound: list[Call] = []
    unknown: list[Call] = []
    for call in calls:
        wanted = [name for tool, before in requires.items() if named([tool], call.name, aliases) for name in before]
        if wanted:
            bound.append(call)
        for name in wanted:
            met = needed[name].met_before(call)
            if met is False:
                return _too_early(call, needed[name])
            if met is None:
                unknown.append(call)
    if not bound:
        return not_assessable("preconditions", f"none of {listed(requires)} was called", "a call of one of them")
    if unknown:
        message = f"what {listed(call.name for call in unknown)} had to wait for has no known result"
        return not_assessable("preconditions", message, "the results of those calls", map(at_call, unknown))
    return passed("preconditions", f"{times(len(bound), 'call')} came after what they require", map(at_call, bound))


class _Needed:
    """A tool that others wait for: when it first succeeded, failed, or was called and never answered."""

    def __init__(self, name: str, calls: Sequence[Call], aliases: Aliases | None) -> None:
        self.name = name
        made = [call for call in calls if named([name], call.name, aliases)]
        self.succeeded = next((call for call in made if call.failed is False), None)
        self.refused = next((call for call in made if call.failed is True), None)
        self.unanswered = next((call for call in made if call.failed is None), None)

    def met_before(self, call: Call) -> bool | None:
        """Whether it had succeeded when that call was made; None where that cannot be told."""
        if _answered_before(self.succeeded, call):
            return True
        return None if self.unanswered and self.unanswered.index < call.index else False


def _too_early(call: Call, needed: _Needed) -> CheckResult:
    refused = needed.refused if _answered_before(needed.refused, call) else None
    how = f"{needed.name} had failed" if refused else f"no {needed.name} had succeeded"
    evidence = [at_call(call), *(at_result(refused) if refused else ())]
    return failed("preconditions", f"{call.name} was called at step {call.step}, and {how} before", evidence)


def _answered_before(earlier: Call | None, call: Call) -> bool:
    """A result that came after the call, or in the same step, was not known when it was made."""
    return earlier is not None and earlier.result_step is not None and earlier.result_step < call.step
