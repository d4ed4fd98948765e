"""Patterns whose cost has a bound are taken, others are refused before they run."""

from __future__ import annotations

import pytest

from proctor.matching.patterns import LONGEST_TEXT, MOST_WAYS, PatternRefused, bounded_pattern

UNBOUNDED = [
    "(a+)+",
    "(a|aa)*",
    "(a?){3}",
    "(?:a{2,5})+",
    "((a|b)c)+",
    "(|)*",
    "(?>a+)+",
    "(a*){2}",
    "(?:){9}",
    "(a{0}){9}",
    "(\\b){9}",
    "(^)+",
    "(?:(?=a{9})a)*",
    "((?=a)){9}",
]
TOO_MANY_WAYS = ["a?" * 30, "a{0,50}" * 10, "x" * 501]
NOT_TAKEN = ["(a)\\1", "(?P<x>a)(?P=x)", "(a)(?(1)b|c)", "(?x) a # b", "(", "a**", "[", "[[a]"]


@pytest.mark.parametrize("text", [*UNBOUNDED, *TOO_MANY_WAYS, *NOT_TAKEN])
def test_a_pattern_without_a_bound_is_refused(text: str) -> None:
    with pytest.raises(PatternRefused):
        bounded_pattern(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ORD-\\d+", "ORD-123"),
        ("(\\d{3}-)*\\d{4}", "123-456-7890"),
        ("(foo|bar)s?", "bars"),
        ("[()*+|]+", "(*)"),
        ("[]a]+", "]a"),
        ("\\(a\\)\\*", "(a)*"),
        ("(?i)yes", "YES"),
        ("(?=a)a{2}", "aa"),
        ("x{}", "x{}"),
        ("a{,2}", "aa"),
        ("(?#a+ in words)b", "b"),
        ("取消|退款", "退款"),
    ],
)
def test_an_ordinary_pattern_is_taken_and_matches_the_whole_text(text: str, value: str) -> None:
    pattern = bounded_pattern(text)
    assert pattern.found(value) is True
    assert pattern.found(f"{value}\n...") is False
    assert pattern.found(f"...{value}...", anywhere=True) is True


def test_a_text_that_would_take_too_many_ways_is_not_tried() -> None:
    pattern = bounded_pattern(".*a.*b.*")
    assert pattern.ways("x" * 200, anywhere=False) < MOST_WAYS < pattern.ways("x" * 300, anywhere=False)
    assert pattern.found("x" * 200) is False
    assert pattern.found("x" * 300) is None
    assert bounded_pattern("a").found("a" * (LONGEST_TEXT + 1)) is None


def test_the_ways_are_counted_from_the_choices() -> None:
    assert bounded_pattern("a?b?(c|d)e{2,4}").ways("", anywhere=False) == 2 * 2 * 2 * 3
    assert bounded_pattern("a*(b+|c)").ways("123456789", anywhere=False) == 2 * 10**2
