"""Facts recalled, intents and routing: the numbers, and the cases that the examples in the docs leave out."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.events import intent_known, skill_routed
from proctor.checks.recall import recall
from proctor.checks.spoken import find, leaves
from tests.property.trajectories import nested
from tests.runs import call, run_of

TOLD = "user: Not by Blue Van, please. Order W12."
BROKEN = ("user: And?", call("ship", by="Blue Van"))


@pytest.mark.req(25)
@pytest.mark.parametrize(("times", "outcome"), [(0, "pass"), (1, "pass"), (2, "fail"), (3, "fail")])
def test_a_constraint_lost_once_is_not_flagged_and_twice_is(times: int, outcome: str) -> None:
    run = run_of(TOLD, "agent: Noted.", *BROKEN * times)
    result = recall(run, "Blue Van", instead=["Blue Van"], must_be_used=False)
    assert result.outcome == outcome


def test_a_constraint_broken_twice_in_one_turn_is_lost_once() -> None:
    run = run_of(TOLD, "user: And?", call("ship", by="blue van"), call("ship", by="Blue  Van"))
    assert recall(run, "Blue Van", instead=["Blue Van"], must_be_used=False).outcome == "pass"


@pytest.mark.req(98)
@pytest.mark.parametrize(
    ("later", "outcome"),
    [
        (["agent: Your order is w12."], "pass"),
        ([call("get_order", query={"ids": ["W12"]})], "pass"),
        ([call("get_order", "W12", id="W13")], "fail"),
        (["agent: Your order is W123."], "fail"),
        (["agent: Which order?"], "fail"),
        (["user: W12!"], "not_assessable"),
    ],
)
def test_a_fact_must_come_back_in_the_agents_own_words_or_calls(later: list[Any], outcome: str) -> None:
    result = recall(run_of("agent: Hello.", TOLD, *later), "W12")
    assert result.outcome == outcome
    assert result.outcome == "not_assessable" or result.evidence[0].quote == "W12"


@pytest.mark.parametrize(
    ("value", "text", "span"),
    [
        ("481.5", "that is $481.50.", (9, 15)),
        ("23553", "23,553 dollars", (0, 6)),
        ("-5", "it fell by 5", (11, 12)),
        ("10", "10.", (0, 2)),
        ("10", "order #W2310, 10.5, 2024-05-10, 10:30 or x10", None),
        ("10", "110 or 100", None),
        ("New York", "in new\n york", (3, 12)),
        ("York", "Yorkshire", None),
        ("64GB", "(64gb)", (1, 5)),
        ("退款", "已退款成功", (1, 3)),
        ("#W1", "order #W1", (6, 9)),
        ("#W1", "order #W12", None),
        (" ", "a b", None),
        ("1" * 50, "x" + "1" * 50, (1, 51)),
    ],
)
def test_a_value_is_found_as_people_spell_it_and_not_inside_another(
    value: str, text: str, span: tuple[int, int] | None
) -> None:
    assert find(value, text) == span


def test_the_texts_and_numbers_of_a_value_are_found_with_their_places() -> None:
    assert dict(leaves({"a": ["x", 1], "b": {"c/d": 2.5}, "e": True, "f": None})) == {
        "/a/0": "x",
        "/a/1": "1",
        "/b/c~1d": "2.5",
    }
    assert list(leaves([10**5000, nested(3000, "deep")])) == []


def intent(*lines: str, **told: Any) -> str:
    event = {"kind": "intent", "step": 0, "data": told}
    run = run_of("user: Money back.", *(lines or ("agent: It is done.",)), events=[event])
    return intent_known(run, ["refund", "cancel"]).outcome


@pytest.mark.req(35)
@pytest.mark.parametrize(("confidence", "outcome"), [(1, "pass"), (0.6, "pass"), (0.59, "fail"), (0, "fail")])
def test_below_the_confidence_the_agent_must_ask_back(confidence: float, outcome: str) -> None:
    assert intent(intent="refund", confidence=confidence) == outcome
    assert intent("agent: A refund, or an exchange?", intent="refund", confidence=confidence) == "pass"
    assert intent("agent: 是要退款吗？", intent="refund", confidence=confidence) == "pass"


def test_asking_later_or_of_an_unknown_intent_does_not_help() -> None:
    assert intent("agent: Done.", "user: What?", "agent: A refund?", intent="refund", confidence=0.5) == "fail"
    assert intent("agent: A loan?", intent="loan", confidence=0.9) == "fail"
    run = run_of("user: Back.", call("refund"), "agent: Was that right?", events=[
        {"kind": "intent", "step": 0, "data": {"intent": "refund", "confidence": 0.5}}
    ])  # fmt: skip
    assert intent_known(run, ["refund"]).outcome == "fail"


@pytest.mark.parametrize(
    "told",
    [{}, {"intent": "refund"}, {"intent": "refund", "confidence": "0.9"}, {"intent": "refund", "confidence": 60}],
)
def test_an_intent_without_a_confidence_is_not_assessable(told: dict[str, Any]) -> None:
    assert intent(**told) == "not_assessable"


def routed(*skills: Any, **declared: Any) -> Any:
    events = [{"kind": "skill_routed", "data": {"skill": skill}} for skill in skills]
    return skill_routed(run_of("user: Go.", events=events), "refunds", **declared)


@pytest.mark.req(65)
def test_without_routing_evidence_nothing_is_said() -> None:
    assert routed().outcome == "not_assessable"
    assert routed(None, 3).outcome == "not_assessable"


def test_the_last_route_counts_and_the_ones_before_are_told() -> None:
    assert routed("chat", "refunds").message == "routed to refunds, after chat"
    assert routed("refunds", "chat").outcome == "fail"
    assert routed("refunds_v2", aliases={"refunds": ["refunds_*"]}).outcome == "pass"
