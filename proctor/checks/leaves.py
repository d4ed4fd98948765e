"""The single values in the arguments of the calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proctor.tool_calls import Call

_DEEPEST = 32
"""Levels of nesting that are read; what lies deeper is no value that a tool takes."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One value in the arguments of a call; `pointer` leads to it, `name` is the nearest key above it."""

    call: Call
    pointer: str
    name: str
    value: Any


def leaves(call: Call) -> Iterator[Argument]:
    """The single values in a call's arguments."""
    waiting: list[tuple[Any, str, str, int]] = [(call.arguments, "", "", 0)]
    while waiting:
        value, pointer, name, depth = waiting.pop()
        if depth > _DEEPEST:
            continue
        if isinstance(value, dict):
            for key, inner in reversed(list(value.items())):
                word = str(key)
                at = word.replace("~", "~0").replace("/", "~1")
                waiting.append((inner, f"{pointer}/{at}", word, depth + 1))
        elif isinstance(value, list):
            waiting.extend((value[at], f"{pointer}/{at}", name, depth + 1) for at in reversed(range(len(value))))
        else:
            yield Argument(call, pointer, name, value)
