"""Matching is one to one, finds as many pairs as there can be, and does not look at the order where it says so."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.matching.arguments import mismatches
from proctor.matching.assignment import assign
from proctor.matching.calls import ExpectedCall, Matched, Mode, match_calls
from proctor.matching.matchers import MatcherRefused, matcher_of
from proctor.matching.patterns import PatternRefused, bounded_pattern
from proctor.matching.values import DEEPEST, canonical, same
from proctor.tool_calls import calls_of
from tests.property.counts import examples
from tests.property.trajectories import values
from tests.runs import call, run_of

GRAPHS = st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), max_size=5)
NAMES = st.sampled_from(("a", "b"))
EXPECTED = st.lists(
    st.builds(
        lambda name, xs: {"name": name, "arguments": {"x": {"one_of": xs}}},
        NAMES,
        st.lists(st.integers(0, 2), min_size=1),
    ),
    max_size=5,
)
MADE = st.lists(st.builds(lambda name, x: call(name, x=x), NAMES, st.integers(0, 2)), max_size=6)
FREE: tuple[Mode, ...] = ("any_order", "superset", "subset")


@given(candidates=GRAPHS)
@examples(300, 20_000)
def test_an_assignment_is_one_to_one_and_as_large_as_can_be(candidates: list[list[int]]) -> None:
    found = assign(candidates)
    taken = [right for right in found if right is not None]
    assert len(taken) == len(set(taken))
    assert all(right in candidates[left] for left, right in enumerate(found) if right is not None)
    if len(candidates) > 3:
        return
    best = max(
        sum(right in candidates[left] for left, right in enumerate(order))
        for order in permutations(range(-len(candidates), 6), len(candidates))
    )
    assert len(taken) == best


@given(expected=EXPECTED, made=MADE, seed=st.integers(0, 99))
@examples(200, 10_000)
def test_the_order_of_calls_does_not_matter_where_the_mode_says_so(
    expected: list[dict[str, Any]], made: list[dict[str, Any]], seed: int
) -> None:
    shuffled = list(made)
    Random(seed).shuffle(shuffled)
    wanted = [ExpectedCall.of(each) for each in expected]
    for mode in FREE:
        one = match_calls(wanted, calls_of(run_of(*made)), mode)
        other = match_calls(wanted, calls_of(run_of(*shuffled)), mode)
        assert isinstance(one, Matched)
        assert isinstance(other, Matched)
        assert one.fits == other.fits
        assert sum(pair.matched for pair in one.pairs) == sum(pair.matched for pair in other.pairs)


@given(expected=EXPECTED, made=MADE)
@examples(200, 10_000)
def test_no_call_is_used_twice_and_none_is_lost(expected: list[dict[str, Any]], made: list[dict[str, Any]]) -> None:
    wanted = [ExpectedCall.of(each) for each in expected]
    calls = calls_of(run_of(*made))
    modes: tuple[Mode, ...] = (*FREE, "strict", "in_order")
    fits = {}
    for mode in modes:
        found = match_calls(wanted, calls, mode)
        assert isinstance(found, Matched)
        used = [pair.call.index for pair in found.pairs if pair.matched and pair.call]
        assert len(used) == len(set(used))
        assert sorted(used + [extra.index for extra in found.extra]) == list(range(len(calls)))
        fits[mode] = found.fits
    assert not fits["strict"] or (fits["in_order"] and fits["any_order"])
    assert not fits["in_order"] or fits["superset"]
    assert fits["any_order"] == (fits["superset"] and fits["subset"] and len(wanted) == len(calls))


@given(value=values())
@examples(300, 10_000)
def test_a_value_matches_itself_and_has_one_canonical_form(value: Any) -> None:
    assert bool(mismatches(matcher_of({"equal": value}), value)) is not same(value, value)
    if same(value, value):
        assert canonical(value) == canonical(value)


@given(one=values(), other=values())
@examples(300, 10_000)
def test_two_values_have_one_canonical_form_exactly_where_they_are_the_same(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) is same(one, other)
    assert (not mismatches(matcher_of({"equal": one}), other)) is same(one, other)


@given(plain=values(), value=values())
@examples(300, 10_000)
def test_any_json_is_a_matcher_or_refused_by_name(plain: Any, value: Any) -> None:
    try:
        matcher = matcher_of(plain)
    except MatcherRefused:
        return
    for found in mismatches(matcher, value):
        assert str(found).encode()
        assert found.at.count("/") <= DEEPEST + 1


@given(text=st.text("ab()*+?|{},12[]\\^.", max_size=14))
@examples(500, 50_000)
def test_a_pattern_is_taken_or_refused_and_what_is_taken_ends(text: str) -> None:
    try:
        pattern = bounded_pattern(text)
    except PatternRefused:
        return
    pattern.found("ab" * 40 + "c")
    pattern.found("ab" * 40 + "c", anywhere=True)
