"""Is a fact that was told once still known later: used in the agent's own words, or in the arguments of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proctor.check import CheckResult, Count, Evidence
from proctor.checks.outcomes import at_call, at_text, bounded, failed, listed, not_assessable, passed, times
from proctor.checks.spoken import find, leaves
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Step, Trajectory


class _Used(NamedTuple):
    """A turn in which the agent used the fact, or another in its stead."""

    turn: int
    evidence: Evidence


@bounded
def recall(
    trajectory: Trajectory,
    fact: str,
    *,
    instead: Sequence[str] = (),
    must_be_used: bool = True,
    losses: Count = 1,
) -> CheckResult:
    """A fact that the user told is used later, and not lost more than `losses` times.

    It is lost in each later turn in which the agent says or sends one of `instead`: the old address, the carrier that
    was ruled out. `must_be_used=False` is for a ban, which is kept by staying silent.
    """
    told = next((step for step in trajectory.steps if step.role == "user" and find(fact, step.text or "")), None)
    if told is None:
        return not_assessable("recall", f"the user never told {fact}", "a user's turn that tells the fact")
    later = [step for step in trajectory.steps[told.index + 1 :] if step.role == "assistant"]
    if not later:
        return not_assessable("recall", f"the agent did nothing after it was told {fact}", "a later turn of the agent")
    calls: dict[int, list[Call]] = {}
    for call in calls_of(trajectory):
        calls.setdefault(call.step, []).append(call)
    used = [found for step in later if (found := _use(step, calls.get(step.index, ()), (fact,)))]
    lost = {found.turn: found for step in later if (found := _use(step, calls.get(step.index, ()), instead))}
    evidence = [_said(told, fact), *(each.evidence for each in (*lost.values(), *used))]
    where = f"{times(len(lost), 'turn')} ({listed(str(turn) for turn in lost)})" if lost else ""
    if len(lost) > losses:
        return failed("recall", f"{fact} was lost in {where}; once is not flagged", evidence)
    if must_be_used and not used:
        return failed("recall", f"{fact} was told at step {told.index} and never used after it", evidence)
    also = f", and was lost in {where}: not flagged" if lost else ""
    kept = f"was used at {times(len(used), 'later step')}" if used else "was not broken later"
    return passed("recall", f"{fact} {kept}{also}", evidence)


def _said(step: Step, fact: str) -> Evidence:
    start, end = find(fact, step.text or "") or (0, 0)
    return at_text(step, start, end)


def _use(step: Step, calls: Sequence[Call], values: Sequence[str]) -> _Used | None:
    """Where the step says or sends one of the values."""
    for value in values:
        if span := find(value, step.text or ""):
            return _Used(step.turn, at_text(step, *span))
        for call in calls:
            for at, text in leaves(call.arguments):
                if find(value, text):
                    return _Used(step.turn, at_call(call, at))
    return None
