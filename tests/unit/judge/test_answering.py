"""A gateway that lets another model answer than was asked: the verdict says so, and doubts the agent's own vendor."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.judge.casing import Case, judge_case
from proctor.judge.grade import is_bad
from proctor.judge.inquiry import Inquiry, Vendors
from proctor.judge.judging import judge
from proctor.model_call import ModelCall, Reply
from proctor.rubric_file import load_rubric
from proctor.verdict import Verdict
from tests.unit.judge.refunds import TERMS, answer, judged, refund, saying

APART = Vendors(("anthropic",), ("openai",))
OWN = "answered by gpt-4o-2024-08-06, a model of the agent's own vendor"


class Gateway:
    """A live judge, as it seems, whose answers come from these models in turn."""

    name = "openrouter/anthropic/claude-sonnet-4.5"

    def __init__(self, *returned: str, is_stand_in: bool = False, says: Any = None) -> None:
        self.is_stand_in = is_stand_in
        self._returned = list(returned)
        self._saying = saying(says or answer())

    async def ask(self, call: ModelCall) -> Reply:
        reply = await self._saying.ask(call)
        self._returned.append(self._returned.pop(0))
        return replace(reply, model=self._returned[-1])


def noted(verdict: Verdict) -> list[str]:
    return [each.message for each in verdict.findings if each.kind == "note"]


def answered(*returned: str, vendors: Vendors = APART, is_stand_in: bool = False) -> Verdict:
    return judged(model=Gateway(*returned, is_stand_in=is_stand_in), vendors=vendors)


def test_an_answer_by_the_agents_own_vendor_is_for_a_person_to_look_at() -> None:
    verdict = answered("openai/gpt-4o-2024-08-06")
    own = "answered by openai/gpt-4o-2024-08-06, a model of the agent's own vendor"
    assert verdict.needs_review == (own,)
    assert noted(verdict) == [f"{own}: openrouter/anthropic/claude-sonnet-4.5 was asked"]
    assert is_bad(verdict, None)


@pytest.mark.parametrize("returned", ["claude-sonnet-4-5-20250929", "a-model-nobody-knows", "anthropic/claude-opus-4"])
def test_an_answer_by_another_vendor_or_of_an_unknown_name_is_not_doubted(returned: str) -> None:
    verdict = answered(returned)
    assert (verdict.needs_review, noted(verdict), verdict.judge.returned) == ((), [], (returned,))


def test_a_distilled_model_counts_as_both_vendors() -> None:
    verdict = answered("deepseek-r1-distill-llama-70b", vendors=Vendors(("anthropic",), ("meta",)))
    assert len(verdict.needs_review) == 1


def test_where_several_models_answered_a_note_names_them_and_only_the_agents_own_is_doubted() -> None:
    verdict = answered("claude-sonnet-4-5", "gpt-4o-2024-08-06", "claude-sonnet-4-5-20250929")
    assert verdict.needs_review == (OWN,)
    assert noted(verdict) == [
        f"{OWN}: openrouter/anthropic/claude-sonnet-4.5 was asked",
        "openrouter/anthropic/claude-sonnet-4.5 was asked, and models of several names answered: "
        "claude-sonnet-4-5, gpt-4o-2024-08-06, claude-sonnet-4-5-20250929",
    ]


def test_where_the_rule_was_set_aside_nothing_is_doubted_and_several_names_are_still_told() -> None:
    verdict = answered("gpt-4o-2024-08-06", "gpt-4o", vendors=Vendors(("openai",), ("openai",), overridden=True))
    assert verdict.needs_review == ()
    assert [message.partition(" answered: ")[2] for message in noted(verdict)] == ["gpt-4o-2024-08-06, gpt-4o"]


def test_a_stand_in_is_nobodys_model_whatever_it_is_called() -> None:
    verdict = answered("gpt-4o-2024-08-06", "gpt-4o", is_stand_in=True)
    assert verdict.needs_review == ()
    assert noted(verdict) == ["no live model was used: openrouter/anthropic/claude-sonnet-4.5 is a stand-in by rules"]


def test_a_stand_in_agent_has_no_vendor_of_its_own() -> None:
    assert answered("stand-in/obedient", vendors=Vendors(("anthropic",), ("stand-in",))).needs_review == ()


def of_case(vendors: Sequence[Vendors], *returned: str) -> Verdict:
    reference = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}
    runs = [refund(llm="live", case="refunds", trial=number, expected=reference) for number in range(len(vendors))]
    inquiries = tuple(Inquiry(run, load_rubric("acmse"), vendors=each) for run, each in zip(runs, vendors, strict=True))
    verdicts = [asyncio.run(judge(each, saying(), TERMS)) for each in inquiries]
    model = Gateway(*returned, says=answer(5, [(0, "mean number of tool calls: 2")]))
    return asyncio.run(judge_case(Case("refunds", inquiries, tuple(verdicts)), model, TERMS))


def test_the_same_holds_for_what_is_judged_over_a_case_by_the_vendors_of_all_its_agents() -> None:
    other = Vendors(("anthropic",), ("meta",))
    verdict = of_case([other, APART], "gpt-4o-2024-08-06")
    assert OWN in verdict.needs_review
    assert noted(verdict) == [f"{OWN}: openrouter/anthropic/claude-sonnet-4.5 was asked"]
    assert OWN not in of_case([other, other], "gpt-4o-2024-08-06").needs_review
    [several] = noted(of_case([other, other], "claude-opus-4", "claude-sonnet-4"))
    assert several.endswith("models of several names answered: claude-opus-4, claude-sonnet-4")
