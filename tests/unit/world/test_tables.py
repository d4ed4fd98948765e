"""A table in a state behaves as the dict it stands for, and what was stored stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy as copied
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from proctor.world.patch import ABSENT, json_patch, same
from proctor.world.table import Rows, Table

KEYS = st.sampled_from("abcd")
VALUES = st.lists(st.integers(0, 2), max_size=2)


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
    lambda d, k, v: sorted(d.items()),
    lambda d, k, v: [item.append(3) for item in d.values()],
    lambda d, k, v: sorted(d.keys()),
    lambda d, k, v: len(list(reversed(d))),
    lambda d, k, v: (k in d, len(d), bool(d)),
    lambda d, k, v: json.dumps(dict(d), sort_keys=True),
    lambda d, k, v: d == {k: v},
    lambda d, k, v: d.clear(),
    _append,
    _set_and_keep,
]


def stored(plain: Mapping[str, Any]) -> Rows:
    """Rows that begin with a dict's entries."""
    return Rows({key: text(value) for key, value in plain.items()})


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def entries(rows: Rows) -> dict[str, Any]:
    """What rows hold, as a dict."""
    return {key: json.loads(value) for key, value in rows.items()}


@given(st.dictionaries(KEYS, VALUES), st.lists(st.lists(st.tuples(st.sampled_from(STEPS), KEYS, VALUES), max_size=5)))
def test_a_table_does_what_a_dict_does_and_spares_the_start(start: dict[str, Any], calls: Any) -> None:
    plain, rows = copied(start), stored(start)
    for steps in calls:
        table, before = Table(rows, json.loads), entries(rows)
        for step, key, value in steps:
            assert step(table, key, copied(value)) == step(plain, key, copied(value))
        assert table.copy() == plain
        assert entries(rows) == before
        seen = list(table)
        assert (len(table), len(rows)) == (len(plain), len(before))
        for key, value in table.touched():
            rows.put(key, value if value is ABSENT else text(value))
        assert entries(rows) == plain
        assert sorted(rows) == sorted(seen)
    assert {key: json.loads(rows.begun(key)) for key in start} == start


def test_an_entry_that_is_made_again_stands_where_it_stood_and_new_ones_come_last() -> None:
    table = Table(stored({"a": 1, "b": 2}), json.loads)
    table["c"] = 3
    del table["a"]
    table["a"] = 4
    assert list(table.items()) == [("a", 4), ("b", 2), ("c", 3)]
    assert table.popitem() == ("c", 3)


def test_a_table_given_to_a_model_is_taken_whole() -> None:
    class Listing(BaseModel):
        lines: dict[str, list[int]]

    shared = {"a": [1], "b": [2]}
    rows = stored(shared)
    listing = Listing(lines=Table(rows, json.loads))  # type: ignore[arg-type]
    listing.lines["a"].append(9)
    assert listing.lines == {"a": [1, 9], "b": [2]}
    assert entries(rows) == shared


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


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0)])
def test_values_that_are_equal_but_written_otherwise_are_not_the_same(one: Any, other: Any) -> None:
    assert one == other
    assert not same(one, other)
