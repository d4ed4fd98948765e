"""What a quote and a passage may differ in and still be the same text: this list, by code point, and nothing else.

No Unicode normal form, no look-alikes, no case, nothing invisible taken out: any of these can change what was said.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

FOLD = "1"
"""Version. A verdict keeps it; another list is another version."""

LINE_ENDS = (0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029)
SPACES = (0x09, 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
"""With the line ends, Unicode's White_Space: 25 code points. A run of any of them is one space."""
QUOTES = {
    0x2018: "'",
    0x2019: "'",
    0x201A: "'",
    0x201B: "'",
    0x201C: '"',
    0x201D: '"',
    0x201E: '"',
    0x201F: '"',
}
"""Typographic quotes, each the ASCII one. Primes, accents, backticks and guillemets are other characters."""

_TO = {**dict.fromkeys((*LINE_ENDS, *SPACES), " "), **QUOTES}
_CHANGES = re.compile(f"[{re.escape(''.join(chr(code) for code in _TO if code != 0x20))}]|  ")
_RUN = re.compile(" {2,}")
_CONTROL_NAMES = {
    0x09: "CHARACTER TABULATION",
    0x0A: "LINE FEED",
    0x0B: "LINE TABULATION",
    0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN",
    0x85: "NEXT LINE",
}


@dataclass(frozen=True)
class Folded:
    """A text after the fold, and how to find its places in the text as it was."""

    text: str
    _runs: tuple[int, ...] = ()
    """Where in `text` a space stands for a longer run."""
    _less: tuple[int, ...] = (0,)
    """How many characters are left out by the first 0, 1, 2, ... of those runs."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Of a span of `text`, that of the text before the fold. A run of spaces at an edge is taken in whole."""
        return self._before(start), self._before(end)

    def _before(self, at: int) -> int:
        return at + self._less[bisect_left(self._runs, at)]


class FoldRow(NamedTuple):
    """One code point that the fold changes, for people."""

    code: int
    name: str
    becomes: str


def fold(text: str) -> Folded:
    """The text with white space as single spaces and typographic quotes as ASCII ones."""
    if not _CHANGES.search(text):
        return Folded(text)
    same_length = text.translate(_TO)
    parts, runs, less = [], [], [0]
    at = 0
    for run in _RUN.finditer(same_length):
        parts.append(same_length[at : run.start() + 1])
        runs.append(run.start() - less[-1])
        less.append(less[-1] + len(run.group()) - 1)
        at = run.end()
    return Folded("".join([*parts, same_length[at:]]), tuple(runs), tuple(less))


def rows() -> tuple[FoldRow, ...]:
    """The whole list, in the order of the code points."""
    return tuple(
        FoldRow(code, _CONTROL_NAMES.get(code) or unicodedata.name(chr(code)), _TO[code]) for code in sorted(_TO)
    )
