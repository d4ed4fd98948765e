"""Expected calls against made ones, in five modes."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.matching.calls import MOST_REPEATS, ExpectedCall, Matched, Mode, TooManyRepeats, match_calls, told
from proctor.tool_calls import Call, calls_of
from tests.runs import call, run_of

A, B, C = ExpectedCall.of("a"), ExpectedCall.of("b"), ExpectedCall.of("c")


def made(*names: str) -> tuple[Call, ...]:
    return calls_of(run_of(*(call(name) for name in names)))


def matched(expected: list[ExpectedCall], calls: tuple[Call, ...], mode: Mode) -> Matched:
    found = match_calls(expected, calls, mode)
    assert isinstance(found, Matched)
    return found


@pytest.mark.parametrize(
    ("names", "fitting"),
    [
        ("ab", "strict in_order any_order superset subset"),
        ("ba", "any_order superset subset"),
        ("axb", "in_order superset"),
        ("bxa", "superset"),
        ("a", "subset"),
        ("", "subset"),
        ("aab", "in_order superset"),
        ("x", ""),
    ],
)
def test_each_mode_takes_what_it_says(names: str, fitting: str) -> None:
    modes: tuple[Mode, ...] = ("strict", "in_order", "any_order", "superset", "subset")
    assert [mode for mode in modes if matched([A, B], made(*names), mode).fits] == fitting.split()


def test_a_call_is_given_up_to_the_one_that_has_no_other() -> None:
    either = ExpectedCall.of({"name": "a", "arguments": {"x": {"one_of": [1, 2]}}})
    one = ExpectedCall.of({"name": "a", "arguments": {"x": 1}})
    calls = calls_of(run_of(call("a", x=1), call("a", x=2)))
    found = matched([either, one], calls, "any_order")
    assert found.fits
    assert [pair.call.index for pair in found.pairs if pair.call] == [1, 0]


def test_a_repeated_call_matches_no_more_than_once() -> None:
    assert not matched([A, A], made("a"), "superset").fits
    assert not matched([A], made("a", "a"), "any_order").fits
    assert not matched([A], made("a", "a"), "subset").fits


@pytest.mark.req(95)
def test_the_nearest_call_is_named_with_the_fields_that_differ() -> None:
    wanted = ExpectedCall.of({"name": "book", "arguments": {"to": "SEA", "date": "2026-12-01", "bags": 1}})
    far = call("book", to="JFK", date="2026-12-02", bags=2)
    found = matched([wanted], calls_of(run_of(far, call("book", to="SEA", date="2026-12-02", bags=1))), "superset")
    (pair,) = found.pairs
    assert not pair.matched
    assert pair.call is not None
    assert pair.call.index == 1
    assert [str(field) for field in pair.mismatches] == ['/date: wanted "2026-12-01", got "2026-12-02"']


def test_a_call_out_of_its_place_is_told_from_a_missing_one() -> None:
    first, second = matched([A, B], made("b", "a"), "in_order").pairs
    assert first.matched
    assert second.misplaced
    assert matched([A], made("aa"), "superset").pairs[0].call is None


def test_calls_left_over_are_told() -> None:
    found = matched([A], made("x", "a", "y"), "any_order")
    assert [extra.name for extra in found.extra] == ["x", "y"]


def test_arguments_not_named_are_refused_unless_the_call_ignores_them() -> None:
    calls = calls_of(run_of(call("a", x=1, y=2)))
    strict: dict[str, Any] = {"name": "a", "arguments": {"x": 1}}
    assert not matched([ExpectedCall.of(strict)], calls, "superset").fits
    assert matched([ExpectedCall.of(strict | {"others": "ignored"})], calls, "superset").fits


@pytest.mark.parametrize("mode", ["any_order", "subset", "superset", "strict"])
def test_a_value_that_cannot_be_told_leaves_the_match_in_doubt(mode: Mode) -> None:
    wanted = [ExpectedCall.of({"name": "a", "arguments": {"on": {"date": "2026-12-01"}}})]
    doubtful = call("a", on="01/12/2026")
    assert matched(wanted, calls_of(run_of(doubtful)), mode).in_doubt
    if mode != "superset":
        assert not matched(wanted, calls_of(run_of(doubtful, call("x"))), mode).in_doubt
    assert not matched(wanted, calls_of(run_of(call("a", on="2026-12-02"))), mode).in_doubt


def test_more_repeats_than_the_bound_are_refused_by_name() -> None:
    enough = made(*["a"] * MOST_REPEATS, *["x"] * 300)
    assert isinstance(match_calls([A], enough, "superset"), Matched)
    refused = match_calls([B, A], (*enough, *made("a")), "superset")
    assert refused == TooManyRepeats("a", MOST_REPEATS + 1)
    assert str(refused) == "a stands 201 times; calls are assigned up to 200 of one tool"
    assert isinstance(match_calls([A] * (MOST_REPEATS + 1), (), "subset"), TooManyRepeats)


def test_an_expected_call_is_told_in_words() -> None:
    assert told(A) == "a"
    assert (
        told(ExpectedCall.of({"name": "a", "arguments": {"n": {"number": 2}, "s": "x"}})) == 'a (n the number 2, s "x")'
    )
