"""Values that most parsers would round to one another are different requests, at any depth."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from proctor.interaction import Request
from tests.property.counts import examples
from tests.property.test_keys import finds, post, tape_of

digits = st.text("0123456789", min_size=18, max_size=60)
depths = st.integers(0, 600)


def nested(leaf: str, depth: int) -> Request:
    """A request whose JSON body holds `leaf` below so many arrays and objects."""
    text = '{"a": ' * (depth % 7) + "[" * depth + leaf + "]" * depth + "}" * (depth % 7)
    return replace(post({}), body=text.encode())


def apart(one: str, other: str, depth: int) -> bool:
    """Whether neither of two leaves is answered by the other's recording, and each by its own."""
    first, second = nested(one, depth), nested(other, depth)
    found = [finds(tape_of(a), b) for a, b in ((first, second), (second, first), (first, first), (second, second))]
    return found == [False, False, True, True]


@given(number=st.integers(-(2**200), 2**200), depth=depths)
@examples(ci=200, soak=1000)
def test_integers_of_any_size_that_differ_by_one_are_apart(number: int, depth: int) -> None:
    assert apart(str(number), str(number + 1), depth)


@given(text=digits, last=st.integers(1, 9), depth=depths)
@examples(ci=200, soak=1000)
def test_fractions_that_differ_in_their_last_digit_are_apart(text: str, last: int, depth: int) -> None:
    assert apart(f"0.{text}{last}", f"0.{text}{(last + 1) % 10}", depth)


@given(number=st.integers(-(2**70), 2**70), depth=depths)
@examples(ci=100, soak=1000)
def test_an_integer_a_float_a_text_and_an_array_of_it_are_apart(number: int, depth: int) -> None:
    spellings = [str(number), f"{number}.0", f'"{number}"', f"[{number}]"]
    assert all(apart(one, other, depth) for one in spellings for other in spellings if one != other)


@given(number=st.integers(1, 2**80), zeros=st.integers(0, 5), depth=depths)
@examples(ci=100, soak=1000)
def test_spellings_of_one_fraction_are_one(number: int, zeros: int, depth: int) -> None:
    one, other = nested(f"{number}.5", depth), nested(f"{number}5{'0' * zeros}E-{zeros + 1}", depth)
    assert finds(tape_of(one), other)
    assert finds(tape_of(other), one)


@given(key=st.text("ab", max_size=3), values=st.lists(st.integers(0, 3), min_size=2, max_size=3), depth=depths)
@examples(ci=100, soak=500)
def test_an_object_with_a_key_twice_is_compared_by_its_bytes(key: str, values: list[int], depth: int) -> None:
    twice = "{" + ", ".join(f'"{key}": {value}' for value in values) + "}"
    assert apart(twice, f'{{"{key}": {values[-1]}}}', depth)
    assert apart(twice, twice.replace(", ", ","), depth)


@given(high=st.integers(0xD800, 0xDBFF), low=st.integers(0xDC00, 0xDFFF), depth=depths)
@examples(ci=100, soak=500)
def test_lone_surrogates_are_apart_and_a_pair_is_its_character(high: int, low: int, depth: int) -> None:
    assume(high != 0xD800)
    assert apart(f'"\\u{high:04x}"', '"\\ud800"', depth)
    assert apart(f'"\\u{low:04x}"', f'"\\u{high:04x}"', depth)
    character = chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    pair = nested(f'"\\u{high:04x}\\u{low:04x}"', depth)
    assert finds(tape_of(pair), nested(f'"{character}"', depth))
