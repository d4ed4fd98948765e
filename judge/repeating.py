"""The same run judged again and again: as it was, with other level orders and fences, and padded with polite words."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.padding import padded
from proctor.judge.retesting import Run, Variant
from proctor.model_call import Model


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
            yield Run(variant, await judge(_input(inquiry, variant), model, _terms(terms, variant, number)))


def _asked(plan: Plan) -> list[tuple[Variant, int]]:
    counts: dict[Variant, int] = {"same": plan.same, "order": plan.order, "padded": plan.padded}
    return [(variant, number) for variant, count in counts.items() for number in range(count)]


def _input(inquiry: Inquiry, variant: Variant) -> Inquiry:
    return replace(inquiry, trajectory=padded(inquiry.trajectory)) if variant == "padded" else inquiry


def _terms(terms: Terms, variant: Variant, number: int) -> Terms:
    """Another salt draws other orders and fences, the same ones whenever the retest is made again."""
    if variant != "order":
        return terms
    return replace(terms, salt=blake2b(b"order %d" % number, key=terms.salt[:64], digest_size=32).digest())
