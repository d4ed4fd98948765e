"""A tape's YAML is read to just what PyYAML's own safe loader makes of it, only sooner."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import CassetteUndecodable
from proctor.tape_yaml import read

KEYS = st.text(max_size=5) | st.sampled_from(["<<", "=", "1", "yes", "null"]) | st.integers() | st.booleans()
LEAVES = st.none() | st.integers() | st.floats(allow_nan=False) | st.dates() | st.binary(max_size=9) | KEYS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)

WRITTEN = [
    "[&a {x: 1}, {<<: *a, y: 2}, *a]",
    "[{a: 1, a: 2}, {1: a, b: {2: c}}, {2026-01-01: d}]",
    "[!!str 1, !!int '1', !!set {a, b}, !!omap [a: 1], !!pairs [a: 1, a: 2]]",
    "[{=: 1, b: 2}, ~, ~text, 0o7, 1_000, 12:30:00, '<<', 'yes', yes]",
    "[!!seq [a], !!map {a: 1}, !!binary aGk=, 2026-01-01]",
]
REFUSED = [
    "[!!python/object:os.system {}]",
    "[!!str [a]]",
    "[{!!str [a]: 1}]",
    "[{{a: 1}: 2}]",
    "[{[k]: v}]",
    "[=]",
    "[!!seq {a: 1}]",
    "[!!map [a]]",
    "[{<<: text}]",
    "[*unknown]",
]


def exact(value: Any) -> Any:
    """A value with its types, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return [(exact(key), exact(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(exact, value)]
    return type(value).__name__, value


def safely(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


@given(st.lists(VALUES, max_size=3))
def test_what_was_dumped_is_read_as_the_safe_loader_reads_it(items: list[Any]) -> None:
    text = yaml.safe_dump({"interactions": [*items, *items]})
    assert exact(read(text.encode())) == exact(safely(text))


@pytest.mark.parametrize("items", WRITTEN)
def test_what_a_person_may_write_is_read_as_the_safe_loader_reads_it(items: str) -> None:
    text = f"interactions: {items}\n"
    assert exact(read(text.encode())) == exact(safely(text))


@pytest.mark.parametrize("items", REFUSED)
def test_what_the_safe_loader_refuses_is_refused_with_its_line(items: str) -> None:
    text = f"interactions: {items}\n"
    with pytest.raises(yaml.YAMLError):
        safely(text)
    with pytest.raises(CassetteUndecodable, match="line 1: not YAML"):
        read(text.encode())


def test_two_aliases_give_one_object_which_may_hold_itself() -> None:
    first, second, ring = read(b"interactions: [&a {x: [1]}, *a, &r [*r, {in: *r}]]")["interactions"]
    assert first is second
    assert ring[0] is ring
    assert ring[1]["in"] is ring
