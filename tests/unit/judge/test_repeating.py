"""How a retest asks: the same again, every criterion's levels in another order, and polite words added."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from proctor.errors import UsageError
from proctor.judge.blinding import blind
from proctor.judge.fences import level_order
from proctor.judge.inquiry import Inquiry
from proctor.judge.repeating import Plan, by_model, other_salt, repeat
from proctor.judge.retesting import Run, retest
from proctor.model_call import ModelCall, Reply
from proctor.rubric_file import load_rubric
from tests.unit.judge.refunds import SALT, TERMS, refund, saying

RUBRIC = load_rubric("trajectory")
WANTED = {"expected_writes": {"expected": [{"name": "create_refund", "arguments": {"order_id": "W2"}}]}}


class Watched:
    """A judge that remembers its prompts."""

    name, is_stand_in = "stand-in/scripted:test", True

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def ask(self, call: ModelCall) -> Reply:
        self.prompts.append(call.messages[-1].content)
        return await saying().ask(call)


async def runs_of(model: Watched, plan: Plan, inquiry: Inquiry) -> list[Run]:
    async with aclosing(repeat([inquiry], model, TERMS, plan)) as made:
        return [each async for each in made]


@pytest.mark.parametrize("number", [0, 1])
def test_another_order_moves_the_levels_of_every_criterion(number: int) -> None:
    inquiry = Inquiry(refund(), RUBRIC)
    other = other_salt(inquiry, SALT, number)
    digest = blind(inquiry.trajectory, thoughts=False).digest
    for criterion in RUBRIC.criteria:
        assert level_order(other, digest, criterion) != level_order(SALT, digest, criterion), criterion.id
    assert other == other_salt(inquiry, SALT, number)


def test_the_variants_ask_what_they_say() -> None:
    model = Watched()
    runs = asyncio.run(runs_of(model, Plan(2, 1, 1), Inquiry(refund(), RUBRIC)))
    assert [each.variant for each in runs] == ["same", "same", "order", "padded"]
    first, again, order, padded = (sorted(model.prompts[at : at + 5]) for at in range(0, 20, 5))
    assert first == again
    assert not set(first) & set(order)
    assert min(map(len, padded)) > 20_000
    assert retest(runs, "0-2").flips == ()


@pytest.mark.req(169)
def test_what_a_rule_decides_is_left_out_and_named() -> None:
    runs = asyncio.run(runs_of(Watched(), Plan(2, 0, 0), Inquiry(refund(), RUBRIC, checks=WANTED)))
    compared, decided = by_model(runs)
    assert decided == ("refund, task_achievement",)
    assert {len(each.verdict.criteria) for each in compared} == {4}


def test_where_rules_decide_all_there_is_nothing_to_compare() -> None:
    empty = refund().model_copy(update={"steps": refund().steps[:1], "final_answer": None})
    compared, decided = by_model(asyncio.run(runs_of(Watched(), Plan(2, 0, 0), Inquiry(empty, RUBRIC))))
    assert len(decided) == 5
    with pytest.raises(UsageError, match="judged twice"):
        retest(compared, "0-2")
