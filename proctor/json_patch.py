"""Putting a value at a place of a JSON text; every other byte stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")

ABSENT = object()
"""Stands for no value: what was there before a key was added."""


class CannotPatch(ValueError):
    """The place is not in the text; the message says where the way to it ends."""


class Patched(NamedTuple):
    """The new text, and the value that stood there (`ABSENT` for none)."""

    text: str
    before: Any


def patched(text: str, pointer: str, value: Any) -> Patched:
    """`text` with `value` at a JSON pointer: replaced, or added as a key of an object or at the end (`-`) of an array.

    Raises CannotPatch where the text is no JSON, or has nothing to which the place could belong.
    """
    new = json.dumps(value, ensure_ascii=False)
    at = _start(text)
    walked = ""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for depth, part in enumerate(parts):
        children = dict(_children(text, at, walked))
        walked = f"{walked}/{part}"
        child = children.get(part)
        if child is not None:
            at = child[0]
        elif depth < len(parts) - 1:
            raise CannotPatch(f"the answer has no {walked}")
        else:
            return Patched(_added(text, at, part, new, len(children), walked), ABSENT)
    before, end = _value(text, at)
    return Patched(text[:at] + new + text[end:], before)


def _start(text: str) -> int:
    at = _skip(text, 0)
    _, end = _value(text, at)
    if text[end:].strip():
        raise CannotPatch("the answer is no JSON")
    return at


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise CannotPatch("the answer is no JSON") from None


def _children(text: str, at: int, pointer: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Keys (or indexes) of the value that starts at `at`, with where their values start and end."""
    opening = text[at]
    if opening not in "{[":
        raise CannotPatch(f"the answer has no object or list at {pointer or '/'}")
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        name = str(index)
        if opening == "{":
            name, at = _value(text, at)
            at = _skip(text, _skip(text, at) + 1)  # past the colon
        _, end = _value(text, at)
        yield name, (at, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1


def _added(text: str, at: int, name: str, new: str, count: int, pointer: str) -> str:
    """The text with one more member in the object or list that starts at `at` and has `count`."""
    _, end = _value(text, at)
    comma = ", " if count else ""
    if text[at] == "{":
        return f"{text[: end - 1]}{comma}{json.dumps(name, ensure_ascii=False)}: {new}{text[end - 1 :]}"
    if name not in ("-", str(count)):
        raise CannotPatch(f"the answer has no {pointer}: the list has {count} items")
    return f"{text[: end - 1]}{comma}{new}{text[end - 1 :]}"


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
