"""Many runs judged one after the other: each verdict kept as it is made, so that a stopped run goes on for nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass

from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.record import record_of
from proctor.judge.reply_cache import KeptModel
from proctor.judge.verdict_store import VerdictStore
from proctor.model_call import Model
from proctor.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class Judged:
    """A verdict, and what it cost now: replies that were kept before cost nothing."""

    verdict: Verdict
    asked: int
    """Calls that went out now."""
    cost: float | None
    """US dollars spent now; None where a provider did not tell."""


async def judge_all(
    inquiries: Iterable[Inquiry],
    model: Model,
    terms: Terms,
    store: VerdictStore,
    told: Callable[[Inquiry, CriterionResult], None],
) -> AsyncGenerator[Judged]:
    """Each verdict as it comes. Raises PlatformError where one cannot be kept; those before it are."""
    for inquiry in inquiries:
        kept = KeptModel(model, store.replies)

        def came(result: CriterionResult, kept: KeptModel = kept, inquiry: Inquiry = inquiry) -> None:
            kept.keep(result)
            told(inquiry, result)

        verdict = await judge(inquiry, kept, terms, came)
        store.keep(record_of(verdict, inquiry, terms, tuple(kept.exchanges)))
        yield Judged(verdict, kept.asked, kept.cost)
