"""The writes of a run against those of a correct one."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.expected_writes import expected_writes
from tests.runs import call, refused, run_of

REFUND = {"name": "refund", "arguments": {"order": "W1"}}
SEARCH = call("search_flights", [{"flight": "HAT1", "from": "EWR", "to": "IAH", "price": 9}])


def book(**flight: Any) -> dict[str, Any]:
    return call("book", flights=[flight])


@pytest.mark.req(203, 221)
def test_a_claim_without_the_write_or_after_an_error_fails() -> None:
    claimed = "agent: I have refunded W1 for you."
    assert expected_writes(run_of("user: Refund W1.", claimed), [REFUND]).outcome == "fail"
    result = expected_writes(run_of("user: Refund W1.", refused("refund", order="W1"), claimed), [REFUND])
    assert result.outcome == "fail"
    assert "ended in an error at step 1" in result.message
    assert [(place.step, place.quote) for place in result.evidence] == [(2, '{"error": "refused"}')]


def test_the_order_of_writes_reads_and_failed_tries_do_not_matter() -> None:
    lines = (refused("refund", order="W1"), call("get_order"), call("cancel", order="W2"), call("refund", order="W1"))
    wanted = [REFUND, {"name": "cancel", "arguments": {"order": "W2"}}]
    assert expected_writes(run_of(*lines), wanted).outcome == "pass"


def test_a_write_that_nobody_expects_fails_and_a_read_does_not() -> None:
    assert (
        expected_writes(run_of(call("refund", order="W1"), call("cancel")), [REFUND]).message == "not expected: cancel"
    )
    assert expected_writes(run_of(call("cancel")), []).outcome == "fail"
    assert expected_writes(run_of(call("cancel")), [], reads=["can*"]).outcome == "pass"
    assert expected_writes(run_of(call("get_order")), []).outcome == "pass"
    assert expected_writes(run_of(call("get_order")), [], writes=["get_order"]).outcome == "fail"


def test_what_the_traffic_showed_goes_before_the_name() -> None:
    reading = {"call": "cancel_preview", "result": "ok", "effect": "read"}
    assert expected_writes(run_of(reading), []).outcome == "pass"
    assert expected_writes(run_of(reading), [], writes=["cancel_*"]).outcome == "fail"


@pytest.mark.req(95)
def test_a_wrong_argument_is_named() -> None:
    result = expected_writes(run_of("user: Go.", call("refund", order="W2")), [REFUND])
    assert result.message == 'refund at step 1: /order: wanted "W1", got "W2"'
    assert result.evidence[0].field == "tool_calls/0/arguments/order"


def test_a_write_without_a_known_result_is_not_assessable() -> None:
    result = expected_writes(run_of({"call": "refund", "arguments": {"order": "W1"}}), [REFUND])
    assert (result.outcome, result.needs) == ("not_assessable", "the results of the writing calls")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("It is $1,528.14.", "pass"), ("It is 1528.15.", "fail"), ("Ref W1528.14x", "fail"), ("", "fail")],
)
def test_an_output_must_stand_in_the_agents_own_words(said: str, outcome: str) -> None:
    run = run_of("user: 1528.14?", call("get_total", "1528.14"), f"agent: {said}")
    assert expected_writes(run, [], ["1528.14"]).outcome == outcome


def test_the_cases_own_expectation_is_taken_as_it_stands() -> None:
    literal = {"name": "book", "arguments": {"on": {"date": "2026-12-01"}}}
    expected = {"write_actions": [literal], "outputs": ["W1"]}
    same = run_of(call("book", on={"date": "2026-12-01"}), "agent: Booked W1.", expected=expected)
    other = run_of(call("book", on="2026-12-01"), "agent: Booked W1.", expected=expected)
    silent = run_of(call("book", on={"date": "2026-12-01"}), "agent: Booked.", expected=expected)
    assert [expected_writes(run).outcome for run in (same, other, silent)] == ["pass", "fail", "fail"]


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([SEARCH, book(flight="HAT1", to="IAH")], "pass"),
        ([SEARCH, book(flight="HAT1", to="ORD")], "fail"),
        ([SEARCH, book(flight="HAT1", seat="1A")], "fail"),
        ([SEARCH, book(flight="HAT2", to="IAH")], "fail"),
        ([book(flight="HAT1", to="IAH"), SEARCH], "fail"),
        ([call("list_cities", [{"to": "IAH"}]), book(flight="HAT1", to="IAH")], "fail"),
        ([SEARCH, call("book", flights=[{"flight": "HAT1"}], to="IAH")], "fail"),
    ],
    ids=[
        "repeats",
        "contradicts",
        "adds",
        "of another",
        "before it was known",
        "of nothing in common",
        "an argument of its own",
    ],
)
def test_a_field_inside_is_forgiven_only_where_it_repeats_what_a_tool_said(
    lines: list[dict[str, Any]], outcome: str
) -> None:
    wanted = [{"name": "book", "arguments": {"flights": [{"flight": "HAT1"}]}}]
    assert expected_writes(run_of(*lines), wanted).outcome == outcome
