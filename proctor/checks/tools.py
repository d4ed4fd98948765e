"""Was a tool called, was it left alone, were tools called in order, were exactly the expected calls made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.check import CheckResult, Count, Evidence
from proctor.checks.outcomes import at_call, bounded, failed, listed, not_assessable, passed, times
from proctor.errors import UsageError
from proctor.matching.calls import (
    CallLike,
    ExpectedCall,
    Matched,
    Mode,
    Pair,
    TooManyRepeats,
    call_mismatches,
    match_calls,
    told,
)
from proctor.matching.names import Aliases, named, nearest_name
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory


@bounded
def tool_called(
    trajectory: Trajectory,
    tool: str,
    *,
    arguments: Mapping[str, Any] | None = None,
    at_least: Count = 1,
    at_most: Count | None = None,
    succeeded: bool = False,
    aliases: Aliases | None = None,
) -> CheckResult:
    """The tool was called so many times; with `arguments` (matchers), only calls that match them count.

    With `succeeded` only calls count whose result is no error. Raises UsageError where `at_most` is below `at_least`.
    """
    if at_most is not None and at_most < at_least:
        told = f"tool_called: at_most ({at_most}) is below at_least ({at_least}): no run can pass"
        raise UsageError("bad_checks", told, "at_least is 1 unless given; for a tool to be left alone give at_least 0")
    expected = ExpectedCall.of({"name": tool, "arguments": arguments, "others": "ignored"})
    calls = calls_of(trajectory)
    if not calls:
        return _wrong_name("tool_called", tool, calls) if at_least else passed("tool_called", "no tool was called")
    compared = [(call, found) for call in calls if (found := call_mismatches(expected, call, aliases)) is not None]
    fitting = [call for call, found in compared if not found]
    counted = [call for call in fitting if call.failed is False] if succeeded else fitting
    doubt = [call for call, found in compared if found and all(each.how == "undecidable" for each in found)]
    doubt += [call for call in fitting if succeeded and call.failed is None]
    if at_most is not None and len(counted) > at_most:
        message = f"{tool} was called {times(len(counted), 'time')}; at most {at_most} are allowed"
        return failed("tool_called", message, map(at_call, counted))
    if len(counted) >= at_least and (at_most is None or len(counted) + len(doubt) <= at_most):
        message = f"{tool} was called {times(len(counted), 'time')}"
        return passed("tool_called", message, map(at_call, counted))
    if doubt and len(counted) + len(doubt) >= at_least:
        message = f"of {times(len(doubt), 'call')} of {tool} it cannot be told whether it counts"
        needs = "a result of the call, and arguments that can be read in one way only"
        return not_assessable("tool_called", message, needs, map(at_call, doubt))
    if not compared:
        return _wrong_name("tool_called", tool, calls)
    if len(fitting) >= at_least:
        message = f"{tool} was called, and {times(len(fitting) - len(counted), 'call')} ended in an error"
        return failed("tool_called", message, map(at_call, fitting))
    near, found = min(compared, key=lambda each: (not each[1], len(each[1])))
    why = f": {found[0]}" if found else ""
    message = f"{tool} was called {times(len(counted), 'time')} as wanted instead of {at_least}{why}"
    return failed("tool_called", message, [at_call(near, found[0].at if found else "")])


@bounded
def tool_not_called(
    trajectory: Trajectory, tool: str, *, arguments: Mapping[str, Any] | None = None, aliases: Aliases | None = None
) -> CheckResult:
    """The tool was never called; with `arguments` (matchers), not with those."""
    expected = ExpectedCall.of({"name": tool, "arguments": arguments, "others": "ignored"})
    calls = calls_of(trajectory)
    compared = [(call, found) for call in calls if (found := call_mismatches(expected, call, aliases)) is not None]
    made = [call for call, found in compared if not found]
    if made:
        message = f"{tool} was called {times(len(made), 'time')}, and should not have been"
        return failed("tool_not_called", message, map(at_call, made))
    doubt = [call for call, found in compared if all(each.how == "undecidable" for each in found)]
    if doubt:
        message = f"{tool} was called, and it cannot be told whether with these arguments"
        return not_assessable(
            "tool_not_called", message, "arguments that can be read in one way only", map(at_call, doubt)
        )
    offered = [schema.name for schema in trajectory.tools or ()]
    if offered and not any(named([tool], name, aliases) for name in offered):
        near = nearest_name(tool, offered)
        message = f"the agent was never offered a tool {tool}" + (f"; did you mean {near}?" if near else "")
        return not_assessable("tool_not_called", message, "a tool that the agent was offered")
    return passed("tool_not_called", f"{tool} was not called" + (" with these arguments" if arguments else ""))


@bounded
def tools_in_order(trajectory: Trajectory, tools: Sequence[str], *, aliases: Aliases | None = None) -> CheckResult:
    """The tools were called in this order; other calls may stand between them."""
    matched = match_calls([ExpectedCall(name=tool) for tool in tools], calls_of(trajectory), "in_order", aliases)
    if isinstance(matched, TooManyRepeats):
        return not_assessable("tools_in_order", str(matched), "fewer calls of one tool")
    found = [at_call(pair.call) for pair in matched.pairs if pair.matched and pair.call]
    for pair in matched.pairs:
        if not pair.matched:
            before = f" after {tools[pair.expected - 1]}" if pair.expected else ""
            early = " (it was called, but not there)" if pair.misplaced else _instead(pair)
            return failed("tools_in_order", f"{tools[pair.expected]} was not called{before}{early}", found)
    return passed("tools_in_order", f"called in this order: {listed(tools)}", found)


@bounded
def calls_match(
    trajectory: Trajectory, expected: Sequence[CallLike], mode: Mode, *, aliases: Aliases | None = None
) -> CheckResult:
    """The calls made are the expected ones, in one of five modes (see `proctor.matching.calls`)."""
    wanted = [ExpectedCall.of(call) for call in expected]
    matched = match_calls(wanted, calls_of(trajectory), mode, aliases)
    if isinstance(matched, TooManyRepeats):
        return not_assessable("calls_match", str(matched), "fewer calls of one tool")
    found = [at_call(pair.call) for pair in matched.pairs if pair.matched and pair.call]
    if matched.fits:
        return passed("calls_match", f"{len(found)} of {times(len(wanted), 'expected call')} made ({mode})", found)
    message, evidence = difference(wanted, matched, mode)
    if matched.in_doubt:
        return not_assessable("calls_match", message, "arguments that can be read in one way only", evidence)
    return failed("calls_match", message, evidence)


def difference(wanted: Sequence[ExpectedCall], matched: Matched, mode: Mode) -> tuple[str, list[Evidence]]:
    """What is missing, what differs and where, and what was called beside: a sentence and its places."""
    said: list[str] = []
    evidence: list[Evidence] = []
    near = set()
    for pair in matched.pairs:
        if pair.matched or mode == "subset":
            continue
        said.append(_missing(wanted[pair.expected], pair))
        if pair.call:
            near.add(pair.call.index)
            evidence += [at_call(pair.call, found.at) for found in pair.mismatches] or [at_call(pair.call)]
    if mode not in ("in_order", "superset"):
        extra = [call for call in matched.extra if call.index not in near]
        if extra:
            said.append(f"not expected: {listed(call.name for call in extra)}")
        evidence += map(at_call, extra)
    return "; ".join(said), evidence


def _missing(expected: ExpectedCall, pair: Pair) -> str:
    if pair.call is None:
        return f"{told(expected)} was not called{_instead(pair)}"
    if pair.misplaced:
        return f"{expected.name} was called at step {pair.call.step}, not in its place"
    more = f" (and {times(len(pair.mismatches) - 1, 'other field')})" if len(pair.mismatches) > 1 else ""
    return f"{expected.name} at step {pair.call.step}: {pair.mismatches[0]}{more}"


def _instead(pair: Pair) -> str:
    return f" (nearest: {pair.other_name})" if pair.other_name else ""


def _wrong_name(check: str, tool: str, calls: Iterable[Call]) -> CheckResult:
    """Tells a run without calls from one that called something else."""
    names = [call.name for call in calls]
    if not names:
        return failed(check, f"{tool} was not called: no tool was called at all")
    near = nearest_name(tool, names)
    hint = f"; is {near} an alias of it?" if near else ""
    return failed(check, f"{tool} was not called; called were {listed(names)}{hint}")
