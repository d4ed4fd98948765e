"""Which placeholder of one tape is which of another: they are numbered by first appearance, so the same may differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from proctor.canonical import with_texts
from proctor.diff import json_differences
from proctor.placeholders import SHAPED

_HINTS = ("proctor-redacted", "70726f63", "akiaproctor", "asiaproctor", "chjvy3rvci1yzwrhy3rlzc", "@redacted.invalid")
"""What some form of a placeholder has, in lower case: looking for these is much faster than for the forms."""
_DIGITS = re.compile(r"\d+")


class Renumbering:
    """The placeholders of the old tape by those of the new one; one stands for one, as they are first met."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        """`known` are pairs that are sure, such as those of named identities."""
        self._new: dict[str, str] = {}
        self._taken: set[str] = set()
        for old, new in known:
            self._one(old, new)

    def learn(self, old: Any, new: Any) -> None:
        """Take over the pairs of two values that should be the same."""
        if old == new:
            for text in _texts(old):
                self._from(text, text)
            return
        for _, left, right in json_differences(old, new):
            if isinstance(left, str) and isinstance(right, str) and without_numbers(left) == without_numbers(right):
                self._from(left, right)

    def applied(self, value: Any) -> Any:
        """A value of the old tape with the new one's placeholders."""
        return with_texts(value, self._text)

    def _text(self, text: str) -> str:
        return SHAPED.sub(lambda found: self._renumbered(found[0]), text) if holds_one(text) else text

    def _from(self, old: str, new: str) -> None:
        for left, right in zip(SHAPED.finditer(old), SHAPED.finditer(new), strict=False):
            self._one(_secret(left[0]), _secret(right[0]))

    def _one(self, old: str, new: str) -> None:
        if old not in self._new and new not in self._taken:
            self._new[old] = new
            self._taken.add(new)

    def _renumbered(self, placeholder: str) -> str:
        secret = _secret(placeholder)
        return placeholder.removesuffix(secret) + self._new.get(secret, secret)


def holds_one(text: str) -> bool:
    """Whether a placeholder may stand in a text."""
    low = text.lower()
    return any(hint in low for hint in _HINTS)


def without_numbers(text: str) -> str:
    """The text with the same sign for all placeholders of one form."""
    return SHAPED.sub(lambda found: _form(found[0]), text) if holds_one(text) else text


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str) and holds_one(value):
        yield value


def _form(placeholder: str) -> str:
    """In base64 each number is other letters, so nothing of it can stay."""
    secret = _secret(placeholder)
    plain = "roctor-redacted" in secret or not secret.startswith(("cHJv", "---"))
    return placeholder.removesuffix(secret) + (_DIGITS.sub("#", secret) if plain else "#")


def _secret(placeholder: str) -> str:
    """The part that stands for the secret: of a JWT its signature, for the claims are data."""
    return placeholder.rpartition(".")[2] if placeholder.startswith("eyJ") else placeholder
