"""Which of several lawful routes a run took, told by its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.check import CheckResult
from proctor.checks.outcomes import at_call, bounded, failed, listed, not_assessable, passed
from proctor.matching.calls import CallLike, ExpectedCall, TooManyRepeats, call_mismatches, match_calls
from proctor.matching.names import Aliases
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory


@bounded
def branch_taken(
    trajectory: Trajectory,
    branches: Mapping[str, Sequence[CallLike]],
    wanted: str,
    *,
    aliases: Aliases | None = None,
) -> CheckResult:
    """Of the declared branches the run took `wanted`, to its end and in order, and set foot on no other.

    A branch is its list of calls. Calls that fit two branches tell nothing and are not counted for either.
    """
    expected = {name: [ExpectedCall.of(call) for call in calls] for name, calls in branches.items()}
    if wanted not in expected or len(expected) < 2:
        message = f"{wanted} is not one of two or more branches: {listed(expected)}"
        return not_assessable("branch_taken", message, "the calls of each branch")
    calls = calls_of(trajectory)
    trod: dict[str, list[Call]] = {name: [] for name in expected}
    for call in calls:
        fits = [
            name for name, way in expected.items() if any(call_mismatches(each, call, aliases) == () for each in way)
        ]
        if len(fits) == 1:
            trod[fits[0]].append(call)
    others = [name for name, made in trod.items() if made and name != wanted]
    if others:
        also = f" as well as {wanted}" if trod[wanted] else f" instead of {wanted}"
        evidence = [at_call(call) for name in others for call in trod[name]]
        return failed("branch_taken", f"took the branch {listed(others)}{also}", evidence)
    evidence = [at_call(call) for call in trod[wanted]]
    if not trod[wanted]:
        return failed("branch_taken", f"took none of the branches {listed(expected)}")
    matched = match_calls(expected[wanted], calls, "in_order", aliases)
    if isinstance(matched, TooManyRepeats):
        return not_assessable("branch_taken", str(matched), "fewer calls of one tool")
    if not matched.fits:
        missing = [expected[wanted][pair.expected].name for pair in matched.pairs if not pair.matched]
        return failed("branch_taken", f"began the branch {wanted}, and {listed(missing)} is missing in it", evidence)
    return passed("branch_taken", f"took the branch {wanted}, and no other", evidence)
