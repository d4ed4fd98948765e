"""The difference of two JSON values, as a JSON Patch (RFC 6902)."""

from __future__ import annotations

from typing import Any

ABSENT: Any = object()
"""Stands for no value at all."""

Patch = list[dict[str, Any]]
"""Operations `add`, `remove` and `replace`, to be applied in order."""


def json_patch(before: Any, after: Any, pointer: str = "") -> Patch:
    """What makes `after` of `before`, at a JSON pointer; empty where they are the same. `ABSENT` for no value.

    The order of an object's keys says nothing here.
    """
    if before is ABSENT:
        return [] if after is ABSENT else [{"op": "add", "path": pointer, "value": after}]
    if after is ABSENT:
        return [{"op": "remove", "path": pointer}]
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        return [
            step
            for name in names
            for step in json_patch(before.get(name, ABSENT), after.get(name, ABSENT), f"{pointer}/{escaped(name)}")
        ]
    if isinstance(before, list) and isinstance(after, list):
        return _lists(before, after, pointer)
    return [] if same(before, after) else [{"op": "replace", "path": pointer, "value": after}]


def escaped(name: str) -> str:
    """A key as it stands in a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _lists(before: list[Any], after: list[Any], pointer: str) -> Patch:
    """Items keep their places; what is too much goes from the end, so that every index holds when its turn comes."""
    shared = min(len(before), len(after))
    steps = [step for at in range(shared) for step in json_patch(before[at], after[at], f"{pointer}/{at}")]
    steps += [{"op": "remove", "path": f"{pointer}/{at}"} for at in reversed(range(shared, len(before)))]
    steps += [{"op": "add", "path": f"{pointer}/{at}", "value": after[at]} for at in range(shared, len(after))]
    return steps


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are written alike, but for the order of keys: 1, 1.0 and True are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)  # 0.0 and -0.0 are equal
    return bool(one == other)
