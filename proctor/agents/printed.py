"""What a program printed last, for people."""

from __future__ import annotations

from collections import deque
from typing import Literal

_LINES = 40
_CHARACTERS = 4_000
"""Of all lines together, and bytes of one."""
Stream = Literal["out", "err"]


class Printed:
    """The last lines of both streams, in the order in which they came to their end. Pieces of a line are joined."""

    def __init__(self) -> None:
        """Nothing was printed yet."""
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._begun: dict[Stream, bytes] = {"out": b"", "err": b""}

    def add(self, stream: Stream, piece: bytes) -> None:
        """Take in what came: any part of a line, or of several."""
        *whole, rest = (self._begun[stream] + piece).split(b"\n")
        self._lines.extend(map(_text, whole[-_LINES:]))
        self._begun[stream] = rest[-_CHARACTERS:]

    def note(self, line: str) -> None:
        """Add a line of our own."""
        self._lines.append(line)

    def shown(self) -> str:
        """The end of it, lines that have no end yet included."""
        begun = [_text(rest) for rest in self._begun.values() if rest]
        return "\n".join((*self._lines, *begun))[-_CHARACTERS:]


def _text(line: bytes) -> str:
    return line[-_CHARACTERS:].decode("utf-8", "replace").rstrip("\r")
