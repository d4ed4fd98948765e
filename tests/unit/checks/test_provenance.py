"""Where values come from: what supports one, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.index import CHECKS
from tests.runs import call, run_of

SUPPORTED: dict[str, tuple[list[Any], Any]] = {
    "the user's words": (["user: Cancel W2378156."], "W2378156"),
    "without a sign": (["user: Cancel #W2378156."], "W2378156"),
    "without its letters": (["user: Cancel 2378156."], "#W2378156"),
    "in Chinese words": (["user: 取消订单W2378156谢谢"], "W2378156"),
    "in full width": (["user: Cancel Ｗ２３７８１５６."], "W2378156"),
    "an earlier result": (["user: Go.", call("get", {"card": "credit_card_29"})], "credit_card_29"),
    "a day of the year": (["user: On 20 May 2026."], "2026-05-20"),
    "a day without a year": (["user: On May 20th."], "2026-05-20"),
    "a Chinese day": (["user: 2026年5月20日出发"], "2026-05-20T00:00:00"),
    "an American day": (["user: 05/20/2026"], "2026-05-20"),
    "a day in a range": (["user: Any day from May 18 to May 22."], "2026-05-20"),
    "a day told relatively": (["user: Today is 2026-05-19. Book tomorrow."], "2026-05-20"),
    "a grouped number": (["user: Pay 1,127.69."], 1127.69),
    "a number as text": (["user: Pay $20."], "20.00"),
    "a number in words": (["user: A table for seven."], 7),
    "a sum": (["user: Go.", call("get", {"fare": 175, "tax": 24})], 199),
    "a difference": (["user: Go.", call("get", {"paid": 375, "due": 128})], 247),
    "a product": (["user: Three bags at 50."], 150),
    "a name": (["user: I am Mei Patel."], "Mei Patel"),
    "an address": (["user: 943 Maple Drive, Suite 356, Chicago."], "943 Maple Drive Suite 356"),
}
LOST: dict[str, tuple[list[Any], Any]] = {
    "an id of nowhere": (["user: Cancel my order."], "W2378156"),
    "one digit off": (["user: Cancel W2378156."], "W2378157"),
    "a part of one": (["user: Cancel W2378156."], "W237815"),
    "the agent's own word": (["user: Go.", "agent: W2378156?", "user: Yes."], "W2378156"),
    "another day": (["user: On 20 May 2026."], "2026-05-21"),
    "another year": (["user: On 20 May 2026."], "2027-05-20"),
    "another number": (["user: Pay 1,127.69."], 1127.7),
    "an address of nowhere": (["user: Chicago, please."], "943 Maple Drive"),
    "a name of nowhere": (["user: Hello."], "Mei Patel"),
    "a mail of nowhere": (["user: Hello."], "ann@corp.test"),
    "a number among many": (["user: Go.", call("get", list(range(100, 160)))], 261),
}

FREE = ("economy", "one_way", "JFK", "PENDING_REVIEW", True, None, 1, "it is no longer needed, said the buyer 7")


def outcome(lines: list[Any], value: Any, **fields: Any) -> str:
    return CHECKS["value_from_nowhere"](run_of(*lines, call("use", x=value), **fields)).outcome


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_value_is_supported_by(name: str) -> None:
    assert outcome(*SUPPORTED[name]) == "pass"


@pytest.mark.req(126)
@pytest.mark.parametrize("name", LOST)
def test_a_value_comes_from_nowhere(name: str) -> None:
    assert outcome(*LOST[name]) == "fail"


@pytest.mark.parametrize("value", FREE)
def test_words_and_texts_that_an_agent_composes_are_not_checked(value: Any) -> None:
    assert outcome(["user: Go."], value) == "pass"


def test_a_result_supports_only_what_comes_after_it() -> None:
    run = run_of("user: Go.", call("use", {"id": "W77"}, x="W77"))
    assert CHECKS["value_from_nowhere"](run).outcome == "fail"


def test_initial_data_policy_defaults_and_enums_support() -> None:
    lines = ["user: Go."]
    assert outcome(lines, "W77", task={"initial_data": {"orders": ["W77"]}}) == "pass"
    assert outcome(lines, "W77", task={"policy": "The test order is W77."}) == "pass"
    for word in ("enum", "const", "default"):
        schema = {"properties": {"x": {word: ["W77"] if word == "enum" else "W77"}}}
        assert outcome(lines, "W77", tools=[{"name": "use", "parameters": schema}]) == "pass"
        assert outcome(lines, "W77", tools=[{"name": "other", "parameters": schema}]) == "fail"


def test_a_total_that_the_user_accepted_may_be_split() -> None:
    lines: list[Any] = [
        "user: Book it.",
        call("get", {"a": 51, "b": 55, "card": 39}),
        "agent: That is 106.",
        "user: Go ahead.",
    ]
    parts = [{"amount": 39}, {"amount": 67}]
    assert CHECKS["value_from_nowhere"](run_of(*lines, call("pay", parts=parts))).outcome == "pass"
    unasked = run_of(*lines[:3], call("pay", parts=[{"amount": 40}, {"amount": 67}]))
    assert CHECKS["value_from_nowhere"](unasked).outcome == "fail"


def test_the_evidence_names_the_argument() -> None:
    result = CHECKS["value_from_nowhere"](run_of("user: Go.", call("use", rows=[{"a/b": "W77"}])))
    (place,) = result.evidence
    assert (place.step, place.field, place.quote) == (1, "tool_calls/0/arguments/rows/0/a~1b", "W77")
