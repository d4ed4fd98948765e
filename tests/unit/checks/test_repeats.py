"""Loops and retries: the numbers."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.repeats import ErrorFigures, error_figures, loops, retries
from tests.runs import call, refused, run_of


@pytest.mark.req(195)
@pytest.mark.parametrize(("times", "outcome"), [(1, "pass"), (3, "pass"), (4, "fail"), (11, "fail")])
def test_three_identical_calls_are_fine_and_four_are_a_loop(times: int, outcome: str) -> None:
    assert loops(run_of(*[call("query", id="W1")] * times)).outcome == outcome
    apart = [line for n in range(times) for line in (call("query", id="W1"), call("other", n=n))]
    assert loops(run_of(*apart)).outcome == outcome


def test_the_order_of_arguments_makes_no_other_call_and_their_values_do() -> None:
    same = [{"call": "t", "arguments": {"a": 1, "b": 2}}, {"call": "t", "arguments": {"b": 2, "a": 1}}] * 2
    assert loops(run_of(*same)).outcome == "fail"
    assert loops(run_of(*(call("t", a=value) for value in (1, 1.0, True, "1", None)))).outcome == "pass"


def test_a_loop_names_each_of_its_calls() -> None:
    result = loops(run_of("user: Go.", *[call("t")] * 4))
    assert [place.step for place in result.evidence] == [1, 3, 5, 7]


def test_a_lone_surrogate_is_escaped_in_message_and_evidence() -> None:
    result = loops(run_of(*[call("t", a="\ud800")] * 4))
    assert result.message == 't {"a": "\\ud800"} was called 4 times; 3 are fine'
    assert "\\ud800" in result.model_dump_json()


@pytest.mark.req(96)
@pytest.mark.parametrize(
    ("lines", "figures"),
    [
        ([refused("t")] * 5, (1, 4)),
        ([refused("t")] * 5 + [call("t")], (1, 4)),
        ([refused("t")] * 2 + [refused("u")] * 2, (2, 2)),
        ([refused("t"), call("u"), refused("t")], (2, 0)),
        ([refused("t", a=1), refused("t", a=2)], (2, 0)),
        ([call("t")] * 5, (0, 0)),
        ([{"call": "t", "status": 503, "attempts": 5}], (1, 4)),
        ([{"call": "t", "result": "ok", "attempts": 5}], (0, 0)),
        ([{"call": "t"}], (0, 0)),
        ([], (0, 0)),
    ],
)
def test_identical_failing_calls_in_a_row_are_one_error_and_the_rest_invalid(
    lines: list[dict[str, Any]], figures: tuple[int, int]
) -> None:
    assert error_figures(run_of(*lines)) == ErrorFigures(*figures)


@pytest.mark.req(128)
@pytest.mark.parametrize(("failing", "outcome"), [(1, "pass"), (4, "pass"), (5, "fail"), (8, "fail")])
def test_three_retries_of_a_failing_call_are_fine_and_four_are_not(failing: int, outcome: str) -> None:
    assert retries(run_of(*[refused("pay")] * failing)).outcome == outcome


def test_the_retry_that_succeeds_counts_and_another_call_begins_anew() -> None:
    assert retries(run_of(*[refused("pay")] * 4, call("pay"))).outcome == "fail"
    assert retries(run_of(*[refused("pay", n=1)] * 3, *[refused("pay", n=2)] * 3)).outcome == "pass"
    assert retries(run_of(*[call("poll")] * 9)).outcome == "pass"
    assert retries(run_of({"call": "pay", "status": 503, "attempts": 5})).outcome == "fail"
