"""One date in many notations, and the notations that leave it open."""

from __future__ import annotations

from datetime import date

import pytest

from proctor.matching.dates import Moment, Unclear, read_date, same_date


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-01",
        "2026/12/1",
        "2026.12.01",
        "20261201",
        "2026年12月1日",
        "2026 年 12 月 01 日",
        "２０２６年１２月１日",
        "2026年12月1日 15:30",
        "2026年12月1日15时30分",
        "2026-12-01T23:30:00-05:00",
        "2026-12-01 10:00:00.123Z",
        "December 1, 2026",
        "Dec 1st, 2026",
        "Dec. 1 2026",
        "1 December 2026",
        "01-Dec-2026",
        " 1st dec 2026 ",
    ],
)
def test_the_same_day_in_another_notation_is_read(text: str) -> None:
    read = read_date(text)
    assert isinstance(read, Moment)
    assert read.day == date(2026, 12, 1)


@pytest.mark.parametrize(("text", "day"), [("25/12/2026", (12, 25)), ("12/25/2026", (12, 25)), ("3.3.2026", (3, 3))])
def test_day_and_month_are_told_apart_where_only_one_way_is_possible(text: str, day: tuple[int, int]) -> None:
    assert read_date(text) == Moment(date(2026, *day))


@pytest.mark.parametrize("text", ["01/12/2026", "1.2.2026", "12月1日", "Dec 1"])
def test_a_date_that_may_be_read_in_two_ways_is_unclear(text: str) -> None:
    assert isinstance(read_date(text), Unclear)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01", "2026-02-30", "32/01/2026", "2026-12-01 and more", "Foo 1, 2026", "1" * 100]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("wanted", "got", "same"),
    [
        ("2026-12-01", "2026-12-01T23:30:00-05:00", True),
        ("2026-12-01T08:00:00+08:00", "2026-12-01T00:00:00Z", True),
        ("2026-12-01T00:30:00+08:00", "2026-11-30T16:30:00Z", True),
        ("2026-12-01T08:00:00", "2026年12月1日 08:00", True),
        ("2026-12-01T08:00:00Z", "2026-12-01T08:00:00+01:00", False),
        ("2026-12-01T08:00:00", "2026-12-01", False),
        ("2026-12-01", "2026-12-02", False),
    ],
)
def test_a_day_is_compared_as_written_and_a_time_as_an_instant(wanted: str, got: str, same: bool) -> None:
    one, other = read_date(wanted), read_date(got)
    assert isinstance(one, Moment)
    assert isinstance(other, Moment)
    assert same_date(one, other) is same
