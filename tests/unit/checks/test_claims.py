"""Success that is claimed: what a claim is, and what it needs behind it."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.claimed import claims_in
from proctor.checks.index import CHECKS
from proctor.checks.words import Text
from tests.runs import call, refused, run_of

CLAIMS = (
    "Your order has been cancelled.",
    "Your order W1 has now been successfully canceled!",
    "I've gone ahead and booked it.",
    "I have updated your address.",
    "We refunded you.",
    "The refund was successful.",
    "Your booking is confirmed!",
    "The return request for the lamp has been successfully processed.",
    "After checking the rules, I have cancelled your order.",
    "已为您取消订单。",
    "您的退款申请已提交。",
    "订单已成功取消",
    "我已经帮您修改了地址",
    "改签成功。",
)
NO_CLAIMS = (
    "Would you like it to be cancelled?",
    "Has it been cancelled?",
    "If the order has been cancelled, tell me.",
    "Once your order has been cancelled, you get a mail.",
    "I will cancel it, and it will have been refunded by Monday.",
    "I can get it refunded.",
    "It has not been cancelled.",
    "No order has been cancelled.",
    "Your order has been processed and cannot be changed.",
    "The total was charged on 2 May.",
    "是否已取消？",
    "退款成功后会通知您",
    "已取消的订单不能恢复",
    "尚未退款",
    "如果订单已取消，请告诉我。",
)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_done_form_that_is_stated_is_a_claim(text: str) -> None:
    assert len(claims_in(Text(0, text))) == 1


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_questions_conditions_offers_and_denials_claim_nothing(text: str) -> None:
    assert claims_in(Text(0, text)) == []


def outcome(*lines: Any, **declared: Any) -> str:
    return CHECKS["success_claimed"](run_of("user: Cancel W1.", *lines), **declared).outcome


SAID = "agent: Your order has been cancelled."


@pytest.mark.req(221)
def test_a_claim_needs_a_call_that_changes_something_and_succeeded() -> None:
    assert outcome(SAID) == "fail"
    assert outcome(call("get_order", {"status": "open"}), SAID) == "fail"
    assert outcome(refused("cancel_order"), SAID) == "fail"
    assert outcome(call("cancel_order", "ok"), SAID) == "pass"
    assert outcome(refused("cancel_order"), call("cancel_order", "ok"), SAID) == "pass"


def test_a_call_after_the_words_is_none_before_them() -> None:
    assert outcome(SAID, call("cancel_order", "ok")) == "fail"


def test_a_success_of_another_turn_does_not_cover_a_failure_of_this_one() -> None:
    earlier = (call("cancel_order", "ok", order_id="W1"), SAID, "user: And W2.")
    assert outcome(*earlier, refused("cancel_order", order_id="W2"), "agent: W2 has been cancelled.") == "fail"
    assert outcome(*earlier, call("cancel_order", "ok", order_id="W2"), "agent: W2 has been cancelled.") == "pass"


def test_what_was_read_may_be_told() -> None:
    assert outcome(call("get_order", {"status": "cancelled"}), SAID) == "pass"
    assert outcome(call("get_order", {"refund": 20}), "agent: It was open, and 20 has already been refunded.") == "pass"


def test_an_unknown_tool_leaves_it_open_until_it_is_declared() -> None:
    assert outcome(call("desk", "ok"), SAID) == "not_assessable"
    assert outcome(call("desk", "ok"), SAID, writes=["desk"]) == "pass"
    assert outcome(refused("desk"), SAID, writes=["desk"]) == "fail"


def test_the_evidence_is_the_words_and_the_error() -> None:
    result = CHECKS["success_claimed"](run_of("user: Cancel W1.", refused("cancel_order"), SAID))
    assert [(place.step, place.field) for place in result.evidence] == [(3, "text"), (1, "tool_calls/0"), (2, "text")]
    assert result.evidence[0].quote == "has been cancelled"
