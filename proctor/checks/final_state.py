"""The first check of a case: what the run left behind, whatever the agent says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from proctor.check import CheckResult, Evidence
from proctor.checks.json_path import PathField, nodes
from proctor.checks.outcomes import at_state, bounded, failed, listed, not_assessable, passed, times
from proctor.checks.writes import ToolEffects, writes_made
from proctor.matching.arguments import Mismatch, described, mismatches
from proctor.matching.matchers import Ignore, MatcherField
from proctor.trajectory import Trajectory


class StateAssertion(BaseModel):
    """What must stand in a state. Every value that the path finds must match, and it must find one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: PathField
    """JSONPath: `$.orders.W1.status`; over writes: `$[?@.tool=='refund'].arguments.amount`."""
    value: MatcherField = Ignore(ignore=True)
    absent: bool = False
    """The path must find nothing."""
    over: Literal["state", "writes"] = "state"
    """The end state, or the list of writes made, each with `tool`, `arguments` and `result`."""

    @classmethod
    def of(cls, said: StateLike) -> StateAssertion:
        """From plain JSON as a suite file holds it. Raises ValueError for one that cannot be."""
        return said if isinstance(said, StateAssertion) else cls.model_validate(said)


StateLike = StateAssertion | Mapping[str, Any]


@bounded
def final_state(
    trajectory: Trajectory,
    assertions: Sequence[StateLike],
    *,
    writes: Sequence[str] = (),
    reads: Sequence[str] = (),
) -> CheckResult:
    """Every assertion holds of the end state, or of the writes made; `writes` and `reads` name tools by pattern."""
    wanted = [StateAssertion.of(each) for each in assertions]
    written = _written(trajectory, ToolEffects(writes, reads)) if any(each.over == "writes" for each in wanted) else []
    unknown = [each for each in wanted if each.over == "state"] if trajectory.end_state is None else []
    wrong: list[str] = []
    doubt: list[str] = []
    evidence: list[Evidence] = []
    for each in wanted:
        if each in unknown:
            continue
        document, root = (trajectory.end_state, "end_state") if each.over == "state" else (written, "writes")
        said, places, undecidable = assertion_fails(each, document, root)
        evidence += places
        if said:
            (doubt if undecidable else wrong).append(said)
    if wrong:
        return failed("final_state", "; ".join(wrong), evidence)
    if unknown:
        message = f"there is no end state to look for {listed(each.path for each in unknown)} in"
        return not_assessable("final_state", message, "the state at the end, or assertions over the writes", evidence)
    if doubt or not wanted:
        message = "; ".join(doubt) or "nothing is asserted"
        return not_assessable("final_state", message, "an assertion that can be decided", evidence)
    return passed("final_state", f"{times(len(wanted), 'assertion')} held", evidence)


def assertion_fails(wanted: StateAssertion, document: Any, root: str) -> tuple[str, list[Evidence], bool]:
    """Why it does not hold of the document (empty: it does), where, and whether that is only undecidable."""
    found = nodes(wanted.path, document)
    if wanted.absent:
        places = [at_state(f"{root}/{at}", value) for at, value in found]
        return (
            (f"{wanted.path} finds {times(len(found), 'value')}, and none should be there" if found else ""),
            places,
            False,
        )
    if not found:
        return f"{wanted.path} finds nothing; wanted {described(wanted.value)}", [], False
    places = []
    first: Mismatch | None = None
    for at, value in found:
        differing = mismatches(wanted.value, value)
        places.append(at_state(f"{root}/{at}{differing[0].at if differing else ''}", value))
        worst = next((each for each in differing if each.how != "undecidable"), differing[0] if differing else None)
        first = worst if first is None or (worst and first.how == "undecidable") else first
    if first is None:
        return "", places, False
    return f"{wanted.path} {first}".replace(" the value:", ":"), places, first.how == "undecidable"


def _written(trajectory: Trajectory, effects: ToolEffects) -> list[dict[str, Any]]:
    """The writes as a document. One whose result is not known is no evidence that anything was written."""
    return [
        {"tool": call.name, "arguments": call.arguments, "result": call.result}
        for call in writes_made(trajectory, effects)
        if call.failed is False
    ]
