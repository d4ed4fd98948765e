"""What is sensitive is never shown: at most two characters of it, and those only where it is long."""

from __future__ import annotations

from proctor.sensitive.finds import Sensitive, sensitive

SHOWN = 2
LONG = 8
"""A secret of fewer characters is not shown at all."""
LONGEST = 160
"""Characters of a quote."""


def masked(value: str) -> str:
    """`***` and the last two characters; `***` alone for a short value or one that ends in an encoding."""
    tail = value[-SHOWN:]
    return f"***{tail}" if len(value) >= LONG and tail.isalnum() and tail.isascii() else "***"


def masked_text(text: str) -> str:
    """The text with everything sensitive in it masked."""
    return _without(text, 0, len(text), sensitive(text))


def quote(text: str, start: int = 0, end: int | None = None, longest: int = LONGEST) -> str:
    """The text from `start` to `end`, masked, its middle left out where it is long; always valid Unicode.

    The whole text is searched, so that a secret which the span cuts is masked too.
    """
    end = len(text) if end is None else end
    shown = _without(text, start, end, sensitive(text)).encode("utf-8", "backslashreplace").decode()
    if len(shown) > longest:
        half = (longest - 3) // 2
        shown = f"{shown[:half]}...{shown[-half:]}"
    return shown


def _without(text: str, start: int, end: int, secrets: list[Sensitive]) -> str:
    parts, at = [], start
    for secret in secrets:
        if secret.end <= at or secret.start >= end:
            continue
        parts += [text[at : secret.start], masked(secret.value)]
        at = secret.end
    return "".join([*parts, text[at:end]])
