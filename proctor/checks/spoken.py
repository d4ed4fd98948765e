"""Finding a value in what somebody said: whole words or numbers, spelt as people spell them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from proctor.matching.values import DEEPEST, pointer

_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_INSIDE_A_WORD = re.compile(r"[A-Za-z0-9_]")
_PART_BEFORE = re.compile(r"[A-Za-z_]\Z|\d[-/:.]\Z")
_PART_AFTER = re.compile(r"[A-Za-z_]|[-/:.]\d")
LONGEST_NUMBER = 40


def find(value: str, text: str) -> tuple[int, int] | None:
    """The span where the text says the value, else None.

    Case and the kind of white space do not count. Letters and digits next to it do: `10` is not said by `#W2310`,
    `10.5` or `2024-05-10`. A number is said in any notation of the same number: `481.5` by
    `$481.50`, `23553` by `23,553`.
    """
    if _PLAIN_NUMBER.fullmatch(value):
        return _find_number(value, text)
    pattern = _words(value)
    found = pattern.search(text) if pattern else None
    return found.span() if found else None


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Each text and number in a JSON value, as text, with its JSON pointer; what is nested too deeply is left out."""
    if at.count("/") > DEEPEST:
        return
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            yield at, str(value)
        except ValueError:  # an integer of more digits than Python writes out
            return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, pointer(at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, pointer(at, index))


def _find_number(value: str, text: str) -> tuple[int, int] | None:
    if len(value) > LONGEST_NUMBER:
        start = text.find(value)
        return (start, start + len(value)) if start >= 0 else None
    wanted = abs(Decimal(value))
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        if end - start > LONGEST_NUMBER or _PART_BEFORE.search(text, max(0, start - 2), start):
            continue
        if _PART_AFTER.match(text, end):
            continue
        if _as_number(found[0]) == wanted:
            return start, end
    return None


def _as_number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


@lru_cache(maxsize=512)
def _words(value: str) -> re.Pattern[str] | None:
    words = value.split()
    if not words:
        return None
    before = r"(?<![A-Za-z0-9_])" if _INSIDE_A_WORD.match(words[0]) else ""
    after = r"(?![A-Za-z0-9_])" if _INSIDE_A_WORD.match(words[-1], len(words[-1]) - 1) else ""
    return re.compile(before + r"\s+".join(map(re.escape, words)) + after, re.IGNORECASE)
