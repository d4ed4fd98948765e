"""Did the run make exactly the writes that a correct run makes, and say what it has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.check import CheckResult
from proctor.checks.outcomes import at_call, at_result, bounded, failed, listed, not_assessable, passed, times
from proctor.checks.restated import Restated
from proctor.checks.spoken import find
from proctor.checks.tools import difference
from proctor.checks.writes import ToolEffects, writes_made, writes_refused
from proctor.matching.calls import CallLike, ExpectedCall, Matched, TooManyRepeats, match_calls
from proctor.matching.matchers import Equal
from proctor.matching.names import Aliases
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory

NAME = "expected_writes"


@bounded
def expected_writes(
    trajectory: Trajectory,
    expected: Sequence[CallLike] | None = None,
    outputs: Sequence[str] | None = None,
    *,
    writes: Sequence[str] = (),
    reads: Sequence[str] = (),
    aliases: Aliases | None = None,
) -> CheckResult:
    """The writes made are the expected ones: equal arguments, any order, none beside; `outputs` stand in its words.

    Without `expected` (and `outputs`) the trajectory's own `expected` is taken: `write_actions` and `outputs`. A call
    that ended in an error wrote nothing. Which tools write: `writes` and `reads` (patterns), else the traffic, else
    the verb in the name. A field inside an argument that only repeats what a tool said before is forgiven.
    """
    wanted = _wanted(trajectory, expected)
    if wanted is None:
        return not_assessable(
            NAME, "nothing tells which writes are expected", "`expected`, or `write_actions` in the case"
        )
    effects = ToolEffects((*writes, *(call.name for call in wanted)), reads)
    made = writes_made(trajectory, effects)
    matched = match_calls(wanted, made, "any_order", aliases, Restated(calls_of(trajectory)))
    if isinstance(matched, TooManyRepeats):
        return not_assessable(NAME, str(matched), "fewer calls of one tool")
    said = outputs if outputs is not None else _outputs(trajectory)
    unsaid = [output for output in said if not _said(trajectory, output)]
    if not matched.fits:
        return _other_writes(trajectory, wanted, matched, effects)
    if unsaid:
        return failed(NAME, f"the agent never said {listed(unsaid)}", map(at_call, made))
    open_ended = [call for call in made if call.failed is None]
    if open_ended:
        message = f"{listed(call.name for call in open_ended)} has no known result"
        return not_assessable(NAME, message, "the results of the writing calls", map(at_call, open_ended))
    also = f" and {times(len(said), 'output')} said" if said else ""
    return passed(NAME, f"{times(len(wanted), 'expected write')} made, none beside{also}", map(at_call, made))


def _other_writes(
    trajectory: Trajectory, wanted: Sequence[ExpectedCall], matched: Matched, effects: ToolEffects
) -> CheckResult:
    message, evidence = difference(wanted, matched, "any_order")
    missing = {wanted[pair.expected].name for pair in matched.pairs if not pair.matched}
    refused = [call for call in writes_refused(trajectory, effects) if call.name in missing]
    if refused:
        message += f"; {_refusals(refused)}"
        evidence += [place for call in refused for place in at_result(call)]
    if matched.in_doubt:
        return not_assessable(NAME, message, "arguments that can be read in one way only", evidence)
    return failed(NAME, message, evidence)


def _refusals(refused: Sequence[Call]) -> str:
    steps = listed(str(call.step) for call in refused)
    return f"{listed(call.name for call in refused)} ended in an error at step {steps}"


def _wanted(trajectory: Trajectory, expected: Sequence[CallLike] | None) -> list[ExpectedCall] | None:
    if expected is not None:
        return [ExpectedCall.of(call) for call in expected]
    actions = (trajectory.expected or {}).get("write_actions")
    if not isinstance(actions, list):
        return None
    wanted = []
    for action in actions:
        if not isinstance(action, Mapping) or not isinstance(action.get("name"), str):
            return None
        wanted.append(ExpectedCall(name=action["name"], arguments=_literal(action.get("arguments"))))
    return wanted


def _literal(arguments: Any) -> dict[str, Equal] | None:
    """A case's plain arguments hold no matchers: each is compared as it stands."""
    if not isinstance(arguments, dict):
        return None
    return {name: Equal(equal=value) for name, value in arguments.items()}


def _outputs(trajectory: Trajectory) -> list[str]:
    outputs = (trajectory.expected or {}).get("outputs")
    return [output for output in outputs if isinstance(output, str)] if isinstance(outputs, list) else []


def _said(trajectory: Trajectory, output: str) -> bool:
    return any(step.role == "assistant" and find(output, step.text or "") for step in trajectory.steps)
