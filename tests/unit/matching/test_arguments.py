"""What each matcher takes and refuses, and how a difference is told."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.matching.arguments import Mismatch, mismatches
from proctor.matching.matchers import MatcherRefused, matcher_of
from tests.property.trajectories import nested


def differs(plain: Any, value: Any) -> tuple[Mismatch, ...]:
    return mismatches(matcher_of(plain), value)


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        (1, 1),
        ("a", "a"),
        (None, None),
        ({"equal": {"equal": 1}}, {"equal": 1}),
        ({"equal": {"b": [1], "a": 2}}, {"a": 2, "b": [1]}),
        ({"one_of": [1, {"regex": "W\\d+"}]}, "W12"),
        ({"regex": "W\\d+", "anywhere": True}, "order W12 please"),
        ({"number": 10}, 10.0),
        ({"number": 10, "within": 0.01}, 10.01),
        ({"number": 10, "within": 0.01}, 9.99),
        ({"number": 0.3, "within": 0.1}, 0.2),
        ({"ignore": True}, None),
        ({"subset": {"a": {"number": 1}}}, {"a": 1.0, "b": 2}),
        ({"a": [1, {"ignore": True}], "b": {"date": "2026-12-01"}}, {"a": [1, 2], "b": "1 December 2026"}),
        ({}, {}),
        ([], []),
        ({"date": "2026-12-01", "flight": "A1"}, {"date": "2026-12-01", "flight": "A1"}),
    ],
)
def test_a_value_as_wanted_matches(plain: Any, value: Any) -> None:
    assert differs(plain, value) == ()


@pytest.mark.parametrize(
    ("plain", "value", "told"),
    [
        (1, 1.0, "the value: wanted 1, got 1.0"),
        (1, True, "the value: wanted 1, got true (a number was wanted, not a boolean)"),
        ("10", 10, 'the value: wanted "10", got 10 (a string was wanted, not a number)'),
        ({"number": 10}, "10", 'the value: wanted the number 10, got "10" (a number was wanted, not a string)'),
        ({"number": 10}, True, "the value: wanted the number 10, got true (a number was wanted, not a boolean)"),
        ({"number": 10, "within": 0.01}, 10.011, "the value: wanted the number 10 within 0.01, got 10.011"),
        ({"number": 10}, float("nan"), "the value: wanted the number 10, got NaN"),
        ({"regex": "W\\d+"}, "W12 ", 'the value: wanted a text like "W\\\\d+", got "W12 "'),
        ({"one_of": [1, 2]}, 3, "the value: wanted one of 1, 2, got 3"),
        ({"a": 1}, {}, "/a: wanted 1, and it is not there"),
        ({"a": {"ignore": True}}, {}, "/a: wanted anything, and it is not there"),
        ({"a": 1}, {"a": 1, "b/c": 2}, "/b~1c: not wanted, got 2"),
        ({"subset": {"a": 1}}, {"a": 2, "b": 3}, "/a: wanted 1, got 2"),
        ({"subset": {"a": 1}}, None, "the value: wanted an object, got null (it is a null)"),
        ([1, 2], [1], "the value: wanted [1, 2], got [1] (1 items instead of 2)"),
        ({"equal": {"a": [{"b": 1}]}}, {"a": [{"b": 2}]}, "/a/0/b: wanted 1, got 2"),
        ({"date": "2026-12-01"}, "2026-12-02", 'the value: wanted the date 2026-12-01, got "2026-12-02"'),
        ({"date": "2026-12-01"}, 20261201, "the value: wanted the date 2026-12-01, got 20261201 (it is no date)"),
    ],
)
def test_a_difference_names_the_field_what_was_wanted_and_what_was_got(plain: Any, value: Any, told: str) -> None:
    (found,) = differs(plain, value)
    assert str(found) == told
    assert found.how != "undecidable"


def test_every_field_that_differs_is_named() -> None:
    wanted = {"order_id": "W1", "amount": {"number": 5}, "lines": [{"sku": "a"}, {"sku": "b"}]}
    got = {"order_id": "W2", "amount": 6, "lines": [{"sku": "a"}, {"sku": "c"}], "note": ""}
    assert [found.at for found in differs(wanted, got)] == ["/order_id", "/amount", "/lines/1/sku", "/note"]


@pytest.mark.parametrize(
    ("plain", "value", "why"),
    [
        ({"date": "2026-12-01"}, "01/12/2026", "day and month may be either way round"),
        ({"date": "2026-12-01"}, "12月1日", "it has no year"),
        ({"date": "2026-12-01T10:00:00Z"}, "2026-12-01T10:00:00", "one has a time zone and the other has none"),
        ({"regex": ".*a.*"}, "b" * 5_000, "the text is too long (5000 characters) for this pattern"),
        ({"one_of": ["x", {"date": "2026-12-01"}]}, "12/01/2026", "day and month may be either way round"),
    ],
)
def test_a_value_that_may_or_may_not_match_is_undecidable(plain: Any, value: Any, why: str) -> None:
    (found,) = differs(plain, value)
    assert (found.how, found.why) == ("undecidable", why)


@pytest.mark.parametrize(
    ("plain", "at"),
    [
        ({"number": "12"}, "the top"),
        ({"number": True}, "the top"),
        ({"number": float("inf")}, "the top"),
        ({"a": [{"date": "soon"}]}, "/a/0"),
        ({"date": "01/02/2026"}, "the top"),
        ({"regex": "(a+)+"}, "the top"),
        ({"regex": "("}, "the top"),
        ({"ignore": False}, "the top"),
        ({"subset": [1]}, "the top"),
        ({"one_of": 1}, "the top"),
        ({"one_of": [{"number": None}]}, "/0"),
        (nested(200, 1), "/0/a"),
    ],
)
def test_a_matcher_that_cannot_be_is_refused_by_its_place(plain: Any, at: str) -> None:
    with pytest.raises(MatcherRefused, match=f"^at {at}"):
        matcher_of(plain)
