"""Text of other people on a line of ours."""

from __future__ import annotations


def one_line(text: str) -> str:
    """What the text holds must not write lines of a report, nor move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
