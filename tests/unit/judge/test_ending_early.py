"""A call that may not be made ends the verdict: there is none, and nothing is asked any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from proctor.errors import BudgetSpent
from proctor.judge.casing import Case, judge_case
from proctor.judge.inquiry import Inquiry
from proctor.judge.judging import judge
from proctor.judge.service.budgets import Budgets
from proctor.model_call import ModelCall, Reply
from proctor.rubric_file import load_rubric
from proctor.verdict import Verdict
from tests.unit.judge.ledgers import ledger_in
from tests.unit.judge.refunds import TERMS, refund, saying

SPENT = BudgetSpent("budget_batch", "batch b1 is limited to 1.00 USD")


class Ending:
    """A judge that is still at work on its first questions when the last one, of `after`, may not be asked."""

    name = "stand-in/ending"
    is_stand_in = True

    def __init__(self, after: int) -> None:
        self.asked = self.cancelled = 0
        self._after = after

    async def ask(self, call: ModelCall) -> Reply:
        self.asked += 1
        if self.asked == self._after:
            raise SPENT
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError("nobody answers")


async def ends(model: Ending, judging: Callable[[], Awaitable[Verdict]]) -> None:
    with pytest.raises(BudgetSpent) as raised:
        await judging()
    assert raised.value is SPENT
    assert raised.value.__cause__ is None
    assert (model.asked, model.cancelled) == (model._after, model._after - 1)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_spent_budget_ends_the_verdict_on_a_run_and_the_other_criteria_with_it() -> None:
    model = Ending(5)
    await ends(model, lambda: judge(Inquiry(refund(), load_rubric("trajectory")), model, TERMS))


async def test_a_spent_budget_ends_the_verdict_on_a_case_and_the_other_criteria_with_it() -> None:
    reference = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}
    runs = [refund(llm="live", case="refunds", trial=number, expected=reference) for number in (0, 1)]
    inquiries = tuple(Inquiry(run, load_rubric("acmse")) for run in runs)
    verdicts = [await judge(each, saying(), TERMS) for each in inquiries]
    model = Ending(2)
    await ends(model, lambda: judge_case(Case("refunds", inquiries, tuple(verdicts)), model, TERMS))


class Paid:
    """A judge that answers well, for a tenth of a dollar each time."""

    name = "stand-in/paid"
    is_stand_in = True

    def __init__(self, limit: float) -> None:
        self.calls = 0
        self._answering = saying()
        self._budgets = Budgets(limit, 0.0, lambda: "2026-01-31")

    async def ask(self, call: ModelCall) -> Reply:
        reserved = self._budgets.reserve(None, 0.1)
        self.calls += 1
        reply = await self._answering.ask(call)
        self._budgets.settle(reserved, 0.1)
        return reply


async def test_what_was_answered_before_the_budget_was_spent_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    inquiry, poor, rich = Inquiry(refund(), load_rubric("trajectory")), Paid(0.2), Paid(0.3)
    async with ledger_in(tmp_path) as (_, made):
        with pytest.raises(BudgetSpent):
            await judge(inquiry, made(poor, "verdict"), TERMS)
        verdict = await judge(inquiry, made(rich, "verdict"), TERMS)
    assert (poor.calls, rich.calls, verdict.scored) == (2, 3, 5)
