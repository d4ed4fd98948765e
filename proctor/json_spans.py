"""Where the strings of a JSON text stand, so that one can be changed and every other byte stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_STRUCTURE = re.compile(r'["{}\[\],]')
_DECODER = json.JSONDecoder()


class StringLeaf(NamedTuple):
    """A string. `start` and `end` count characters and take in the quotes."""

    pointer: str
    """RFC 6901: `/items/0/href`; empty where the whole text is one string."""
    start: int
    end: int
    value: str
    is_key: bool = False
    """`pointer` is then that of the key's value."""


def string_leaves(text: str, *, keys: bool = False) -> tuple[StringLeaf, ...] | None:
    """Every string value of a JSON text, in its order; None where the text is no JSON, or nested past any use.

    With `keys`, the keys of objects too.
    What `json.loads` reads is JSON here. A value whose key stands twice has one pointer and two leaves.
    """
    try:
        json.loads(text, parse_int=str, parse_float=str)  # numbers of any length
        return tuple(_leaves(text, keys))
    except (ValueError, RecursionError):
        return None


def pointer_pattern(pointers: Iterable[str]) -> re.Pattern[str]:
    """What matches, whole, the pointers that one of these declares; `*` stands for any one key or index."""
    return re.compile("|".join("/".join(map(_part_pattern, pointer.split("/"))) for pointer in pointers))


def _leaves(text: str, keys: bool) -> Iterator[StringLeaf]:
    """The leaves of a text that is JSON: only strings and the marks between values need a look."""
    around: list[_Container] = []
    pointer, at, is_key = "", 0, False
    while (found := _STRUCTURE.search(text, at)) is not None:
        at = found.end()
        mark = found.group()
        if mark == '"':
            value, at = _DECODER.raw_decode(text, found.start())
            if is_key:
                pointer = around[-1].pointer_of(value)
                if keys:
                    yield StringLeaf(pointer, found.start(), at, value, is_key=True)
            else:
                yield StringLeaf(pointer, found.start(), at, value)
            is_key = False
        elif mark in "{[":
            around.append(_Container(pointer, is_object=mark == "{"))
            is_key, pointer = around[-1].next_value()
        elif mark == ",":
            is_key, pointer = around[-1].next_value()
        else:
            around.pop()
            is_key = False


class _Container:
    """An object or array that is open at some place of a text."""

    __slots__ = ("_index", "_is_object", "_pointer")

    def __init__(self, pointer: str, *, is_object: bool) -> None:
        self._pointer = pointer
        self._is_object = is_object
        self._index = -1

    def pointer_of(self, key: str) -> str:
        return f"{self._pointer}/{key.replace('~', '~0').replace('/', '~1')}"

    def next_value(self) -> tuple[bool, str]:
        """Whether a key comes first, and else the pointer of the value that comes."""
        self._index += 1
        return self._is_object, "" if self._is_object else f"{self._pointer}/{self._index}"


def _part_pattern(part: str) -> str:
    return "[^/]*" if part == "*" else re.escape(part)
