"""The same run judged again and again: as it was, with its levels in other orders, and padded with polite words.

What a rule decides is left out of the comparison: it comes out the same whatever the model says.
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from proctor.judge.blinding import blind
from proctor.judge.faults import JudgeFault
from proctor.judge.fences import level_order
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.padding import padded
from proctor.judge.retesting import Run, Variant
from proctor.model_call import Model

_DRAWS = 200
"""Salts that are tried for one that moves the levels of every criterion."""


@dataclass(frozen=True)
class Plan:
    """How often each variant is asked."""

    same: int = 5
    order: int = 2
    padded: int = 1

    @property
    def runs(self) -> int:
        """Verdicts that one run takes."""
        return self.same + self.order + self.padded


async def repeat(inquiries: Sequence[Inquiry], model: Model, terms: Terms, plan: Plan) -> AsyncGenerator[Run]:
    """Each verdict as it comes. Nothing is kept, and nothing that was kept is used: only fresh replies can differ."""
    for inquiry in inquiries:
        for variant, number in _asked(plan):
            yield Run(variant, await judge(_input(inquiry, variant), model, _terms(inquiry, terms, variant, number)))


def by_model(runs: Sequence[Run]) -> tuple[list[Run], tuple[str, ...]]:
    """The runs without the criteria that a rule decided in any of a trajectory's, and these: `refund-1, safety`."""
    decided = {
        (run.verdict.trajectory, each.criterion): None
        for run in runs
        for each in run.verdict.criteria
        if each.by != "model" or each.lowered_by
    }
    kept = []
    for run in runs:
        own = tuple(each for each in run.verdict.criteria if (run.verdict.trajectory, each.criterion) not in decided)
        kept.append(Run(run.variant, run.verdict.model_copy(update={"criteria": own})))
    return kept, tuple(f"{trajectory}, {criterion}" for trajectory, criterion in decided)


def other_salt(inquiry: Inquiry, salt: bytes, number: int) -> bytes:
    """One that lists the levels of every criterion otherwise, as far as one is found; the same one each time."""
    plain = _orders(inquiry, salt)
    best, most = salt, -1
    for draw in range(_DRAWS):
        other = hmac.digest(salt, f"retest {number} {draw}".encode(), "sha256")
        moved = sum(one != two for one, two in zip(plain, _orders(inquiry, other), strict=True))
        if moved > most:
            best, most = other, moved
        if moved == len(plain):
            break
    return best


def _asked(plan: Plan) -> list[tuple[Variant, int]]:
    counts: dict[Variant, int] = {"same": plan.same, "order": plan.order, "padded": plan.padded}
    return [(variant, number) for variant, count in counts.items() for number in range(count)]


def _input(inquiry: Inquiry, variant: Variant) -> Inquiry:
    return replace(inquiry, trajectory=padded(inquiry.trajectory)) if variant == "padded" else inquiry


def _terms(inquiry: Inquiry, terms: Terms, variant: Variant, number: int) -> Terms:
    return replace(terms, salt=other_salt(inquiry, terms.salt, number)) if variant == "order" else terms


def _orders(inquiry: Inquiry, salt: bytes) -> list[tuple[int, ...]]:
    """Of each criterion that is judged on one run; none where the run cannot be shown."""
    try:
        digests = {thoughts: blind(inquiry.trajectory, thoughts=thoughts).digest for thoughts in (False, True)}
    except JudgeFault:
        return []
    criteria = [each for each in inquiry.rubric.criteria if each.scope == "trial"]
    return [level_order(salt, digests["thought" in each.evidence], each) for each in criteria]
