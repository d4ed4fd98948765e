"""A leaf of a JSON text by its pointer (RFC 6901), as it is written there; no number is ever made of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

LONGEST_JSON = 2_000_000
"""Characters of a text that is read; a longer one has quotes long enough without a pointer."""
LONGEST_POINTER = 1_000
_SHOWN = 100
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_BAD_ESCAPE = re.compile(r"~(?![01])")


@dataclass(frozen=True)
class Leaf:
    """A string, number, true, false or null. The span is that of its JSON text, quotes of a string and all."""

    start: int
    end: int
    text: str
    value: str | None
    """What a string says; None of any other leaf."""


class NoLeaf(Exception):
    """The pointer names no leaf of that text; the message says why."""


@dataclass
class _Container:
    """An object or array that is open; `depth` is how much of the pointer led to it, None where it lies elsewhere."""

    is_object: bool
    depth: int | None
    part: str | int = -1
    is_key: bool = field(default=False)

    def begin(self) -> None:
        """The next member comes."""
        self.is_key = self.is_object
        if not self.is_object:
            self.part = int(self.part) + 1


def leaf_at(text: str, pointer: str) -> Leaf:
    """The leaf that the pointer names; an empty one names the whole text. Raises NoLeaf.

    A key that stands twice on the way names nothing, since readers differ on which of the two they take.
    """
    parts = _parts(pointer)
    _must_be_json(text)
    leaf, seen = _found(text, parts)
    if max(seen) > 1:
        raise NoLeaf(f"a key of {_shown(pointer)} stands twice, so nobody can say which value is meant")
    if leaf is None and seen[-1]:
        raise NoLeaf(f"{_shown(pointer)} is an object or array: a leaf is a string, number, true, false or null")
    if leaf is None:
        raise NoLeaf(f"nothing stands at {_shown(pointer)}")
    return leaf


def _shown(pointer: str) -> str:
    return pointer[:_SHOWN].encode("utf-8", "backslashreplace").decode() or "the whole"


def _parts(pointer: str) -> list[str]:
    if len(pointer) > LONGEST_POINTER:
        raise NoLeaf(f"the pointer is longer than {LONGEST_POINTER:,} characters")
    if pointer and not pointer.startswith("/"):
        raise NoLeaf("a pointer begins with a slash, as in /order/status")
    if _BAD_ESCAPE.search(pointer):
        raise NoLeaf("in a pointer a tilde is written ~0 and a slash ~1")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _must_be_json(text: str) -> None:
    if len(text) > LONGEST_JSON:
        raise NoLeaf(f"the passage is longer than {LONGEST_JSON:,} characters: quote at least 12 of them instead")
    try:
        json.loads(text, strict=False, parse_int=str, parse_float=str, parse_constant=str)  # numbers of any size
    except (ValueError, RecursionError):
        raise NoLeaf("the passage is no JSON, or nested too deep to be read") from None


def _found(text: str, parts: list[str]) -> tuple[Leaf | None, list[int]]:
    """The leaf, and how many values each beginning of the pointer names. The text is JSON."""
    seen = [0] * (len(parts) + 1)
    leaf: Leaf | None = None
    around: list[_Container] = []
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in ("}", "]"):
            around.pop()
        elif mark == ",":
            around[-1].begin()
        elif mark == ":":
            continue
        elif around and around[-1].is_key:
            around[-1].is_key = False
            around[-1].part = _said(mark) if around[-1].depth is not None else ""
        else:
            depth = _depth(around, parts)
            if depth is not None:
                seen[depth] += 1
            if mark in ("{", "["):
                around.append(_Container(mark == "{", depth))
                around[-1].begin()
            elif depth == len(parts):
                leaf = Leaf(token.start(), token.end(), mark, _said(mark) if mark[0] == '"' else None)
    return leaf, seen


def _said(token: str) -> str:
    """What the token of a string says."""
    return str(json.loads(token, strict=False))


def _depth(around: list[_Container], parts: list[str]) -> int | None:
    """How much of the pointer leads to the value that comes now; None where it leads elsewhere."""
    if not around:
        return 0
    above = around[-1]
    if above.depth is None or above.depth == len(parts) or str(above.part) != parts[above.depth]:
        return None
    return above.depth + 1
