"""The user's answers by rule."""

from __future__ import annotations

import pytest

from proctor.cases.case import Reply
from proctor.harness.replies import Replies

RULE = Reply(when=("order number", "订单号"), say="It is A1.")


@pytest.mark.req(213)
@pytest.mark.parametrize(
    "said",
    [
        "What is your order number?",
        "Sure. Please tell me the order number.",
        "I can help with that. Could you give me your Order Number first?",
        "好的，请提供一下订单号。",
        "您的订单号是多少？",
    ],
)
def test_a_question_or_request_that_holds_a_word_of_the_rule_is_answered(said: str) -> None:
    assert Replies((RULE,)).to(said) == "It is A1."


@pytest.mark.parametrize(
    "said",
    [
        "Your order number A1 was refunded.",
        "订单号 A1 已退款。",
        "What is your name?",
        "",
        "Is there more? Order number A1.",
    ],
)
def test_a_statement_and_another_question_are_not(said: str) -> None:
    assert Replies((RULE,)).to(said) is None


def test_a_rule_answers_as_often_as_it_says_and_then_the_next_one_that_fits() -> None:
    other = Reply(when=("order",), say="I told you.", times=2)
    replies = Replies((RULE, other))
    asked = "Which order number?"
    assert [replies.to(asked) for _ in range(4)] == ["It is A1.", "I told you.", "I told you.", None]
