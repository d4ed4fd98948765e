"""A secret in a text."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A secret in a text. `value` is what it says: where `quoted`, the text has it percent-encoded."""

    start: int
    end: int
    value: str
    kind: str
    quoted: bool = False
