"""Tools called, not called, in order, and the expected calls: the cases that the examples in the docs leave out."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.check import CheckResult
from proctor.checks.tools import calls_match, tool_called, tool_not_called, tools_in_order
from tests.runs import call, refused, run_of

NOTHING = run_of("user: Hello.", "agent: Hello.")


@pytest.mark.req(54)
def test_a_run_without_calls_is_told_from_one_that_called_another_name() -> None:
    silent = tool_called(NOTHING, "query_order")
    other = tool_called(run_of(call("queryOrder")), "query_order")
    assert (silent.outcome, other.outcome) == ("fail", "fail")
    assert silent.message == "query_order was not called: no tool was called at all"
    assert "is queryOrder an alias of it?" in other.message
    assert (
        tool_called(run_of(call("queryOrder")), "query_order", aliases={"query_order": ["queryOrder"]}).outcome
        == "pass"
    )


@pytest.mark.req(53, 204)
def test_a_prefix_finds_the_call_and_the_evidence_names_its_step() -> None:
    result = tool_called(run_of("user: Where?", call("query_order", id="W1")), "query_*")
    assert result.outcome == "pass"
    (evidence,) = result.evidence
    assert (evidence.step, evidence.field, evidence.quote) == (1, "tool_calls/0", 'query_order {"id": "W1"}')


@pytest.mark.parametrize(
    ("times", "at_least", "at_most", "outcome"),
    [
        (0, 0, None, "pass"),
        (1, 2, None, "fail"),
        (2, 2, None, "pass"),
        (2, 1, 2, "pass"),
        (3, 1, 2, "fail"),
        (0, 0, 0, "pass"),
    ],
)
def test_calls_are_counted(times: int, at_least: int, at_most: int | None, outcome: str) -> None:
    run = run_of("user: Go.", call("other"), *[call("t")] * times)
    assert tool_called(run, "t", at_least=at_least, at_most=at_most).outcome == outcome


def test_only_successful_calls_count_where_that_is_asked() -> None:
    failing = tool_called(run_of(refused("t")), "t", succeeded=True)
    assert (failing.outcome, failing.message) == ("fail", "t was called, and 1 call ended in an error")
    assert tool_called(run_of(refused("t"), call("t")), "t", succeeded=True).outcome == "pass"
    assert tool_called(run_of({"call": "t"}), "t", succeeded=True).outcome == "not_assessable"
    assert tool_called(run_of(refused("t")), "t").outcome == "pass"


@pytest.mark.req(95)
def test_a_wrong_argument_is_named_with_what_was_wanted_and_got() -> None:
    run = run_of("user: Refund.", call("refund", amount=25, order="W1"))
    result = tool_called(run, "refund", arguments={"amount": {"number": 20}})
    assert result.message.endswith("/amount: wanted the number 20, got 25")
    assert result.evidence[0].field == "tool_calls/0/arguments/amount"


def test_arguments_not_named_do_not_matter_to_a_call_that_is_looked_for() -> None:
    run = run_of(call("refund", amount=20, order="W1"))
    assert tool_called(run, "refund", arguments={"amount": 20}).outcome == "pass"
    assert tool_not_called(run, "refund", arguments={"amount": 20}).outcome == "fail"
    assert tool_not_called(run, "refund", arguments={"amount": 30}).outcome == "pass"


def test_a_doubtful_argument_is_no_pass_of_a_tool_that_must_not_be_called() -> None:
    result = tool_not_called(run_of(call("book", on="01/02/2026")), "book", arguments={"on": {"date": "2026-01-02"}})
    assert result.outcome == "not_assessable"


def test_a_tool_under_an_alias_counts_as_called() -> None:
    run = run_of(call("issue_refund"))
    assert tool_not_called(run, "refund", aliases={"refund": ["issue_*"]}).outcome == "fail"
    assert tools_in_order(run, ["refund"], aliases={"refund": ["issue_*"]}).outcome == "pass"


def test_order_names_the_first_tool_that_does_not_come() -> None:
    run = run_of(call("a"), call("c"))
    assert tools_in_order(run, ["a", "c"]).outcome == "pass"
    assert tools_in_order(run, ["a", "b", "c"]).message == "b was not called after a"


def matching(mode: Any, *expected: Any, made: str = "ab") -> CheckResult:
    return calls_match(run_of("user: Go.", *(call(name) for name in made)), expected, mode)


def test_calls_not_expected_are_told_only_where_they_count() -> None:
    assert matching("strict", "a").message == "not expected: b"
    assert matching("any_order", "b").message == "not expected: a"
    assert matching("subset", "a", "x").message == "not expected: b"
    assert matching("superset", "a", "x").message == "x was not called"


def test_more_repeats_than_are_assigned_are_not_assessable_and_named() -> None:
    result = matching("any_order", "a", made="a" * 201)
    assert result.outcome == "not_assessable"
    assert result.message.startswith("a stands 201 times")
    assert matching("superset", "b", made="a" * 300 + "b").outcome == "pass"
