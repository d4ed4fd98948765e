"""A table in a state behaves as the dict it stands for, and what was stored stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.world.patch import json_patch
from proctor.world.table import Table
from proctor.world.values import copied, same

KEYS = st.sampled_from("abcd")
VALUES = st.lists(st.integers(0, 2), max_size=2)


def _pop_item(d: dict[str, Any], _key: str, _value: Any) -> Any:
    return d.popitem() if d else None


def _append(d: dict[str, Any], key: str, value: Any) -> Any:
    if key in d:
        d[key].append(value)


def _set_and_keep(d: dict[str, Any], key: str, value: Any) -> Any:
    d.update({key: value})
    seen = d[key]
    value.append(9)
    return seen is value


STEPS: list[Callable[[dict[str, Any], str, Any], Any]] = [
    lambda d, k, v: d.get(k),
    lambda d, k, v: d.get(k, v),
    lambda d, k, v: d.__setitem__(k, v),
    lambda d, k, v: d.pop(k, v),
    lambda d, k, v: d.setdefault(k, v),
    lambda d, k, v: d.update({k: v}),
    lambda d, k, v: d.__ior__({k: v}) is d,
    lambda d, k, v: d | {k: v},
    lambda d, k, v: {**d, k: v},
    lambda d, k, v: dict(d),
    lambda d, k, v: d.copy(),
    lambda d, k, v: list(d.items()),
    lambda d, k, v: [item.append(3) for item in d.values()],
    lambda d, k, v: sorted(d.keys()),
    lambda d, k, v: list(reversed(d)),
    lambda d, k, v: (k in d, len(d), bool(d)),
    lambda d, k, v: json.dumps(d),
    lambda d, k, v: d == {k: v},
    lambda d, k, v: d.clear(),
    _pop_item,
    _append,
    _set_and_keep,
]


@given(st.dictionaries(KEYS, VALUES), st.lists(st.tuples(st.sampled_from(STEPS), KEYS, VALUES), max_size=8))
def test_a_table_does_what_a_dict_does_and_spares_what_is_stored(stored: dict[str, Any], steps: Any) -> None:
    rows, plain = copied(stored), copied(stored)
    table = Table(rows)
    for step, key, value in steps:
        assert step(table, key, copied(value)) == step(plain, key, copied(value))
    assert list(table.plain().items()) == list(plain.items())
    assert rows == stored
    missed = {key for key in {*rows, *plain} if rows.get(key, ...) != plain.get(key, ...)} - set(table.touched())
    assert not missed, "a change that nobody would notice"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b/c", "~", ""]), inner),
    max_leaves=12,
)


def applied(patch: list[dict[str, Any]], value: Any) -> Any:
    """A JSON Patch applied as RFC 6902 says."""
    holder = {"": copied(value)}
    for step in patch:
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in f"/{step['path']}".split("/")[1:]]
        way, last = (["", *way[1:]], last) if way else ([], "")
        at: Any = holder
        for part in way:
            at = at[int(part)] if isinstance(at, list) else at[part]
        if isinstance(at, list):
            index = int(last)
            if step["op"] == "add":
                at.insert(index, step["value"])
            elif step["op"] == "remove":
                del at[index]
            else:
                at[index] = step["value"]
        elif step["op"] == "remove":
            del at[last]
        else:
            assert (last in at) == (step["op"] == "replace")
            at[last] = step["value"]
    return holder[""]


def unordered(value: Any) -> str:
    """A value to be compared to the byte, but for the order of keys."""
    return json.dumps(value, sort_keys=True)


@given(JSON, JSON)
def test_a_patch_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    patch = json_patch(before, after)
    assert unordered(applied(patch, before)) == unordered(after)
    assert bool(patch) == (unordered(before) != unordered(after))


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_values_that_are_equal_but_written_otherwise_are_not_the_same(one: Any, other: Any) -> None:
    assert one == other
    assert not same(one, other)
