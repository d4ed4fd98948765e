"""Characters that make a text read otherwise than it is written. They are named for people, and never mapped."""

from __future__ import annotations

import re
import unicodedata

MOST = 5
"""Kinds of character named of one text."""

_INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0\U000e0100-\U000e01ef"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_STYLED = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
"""Full-width and mathematical letters and digits. Full-width marks are how Chinese and Japanese are written."""
_JOINERS = "\u200c\u200d"
_JOINED = "\u0600-\u0dff\u1000-\u109f\u1780-\u17ff\ufe0f\u2190-\u2bff\U0001f000-\U0001faff"
"""What joiners stand after in good spelling: Arabic and Indic letters, emoji."""
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_ALIKE = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13ff"
)
"""Letters that pass for Latin ones: Greek capitals and some small ones, Cyrillic, Armenian, Cherokee."""

_ODD = re.compile(
    f"[{_INVISIBLE}{_BIDI}{_TAGS}{_STYLED}]"
    f"|(?<![{_JOINED}])[{_JOINERS}]"
    f"|(?<=[{_LATIN}])[{_ALIKE}]|[{_ALIKE}](?=[{_LATIN}])"
)
_UNSEEN = re.compile(f"[{_INVISIBLE}{_BIDI}{_TAGS}{_JOINERS}]")
_MIXED = re.compile(f"[{_ALIKE}]")


def visible(text: str) -> str:
    """The text without the characters that nobody sees: to count it by, never to compare it."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def suspicious(text: str) -> tuple[str, ...]:
    """What is suspicious in the text, each kind once, at most `MOST`: `U+200B ZERO WIDTH SPACE`."""
    if text.isascii():
        return ()
    found: dict[str, None] = {}
    for match in _ODD.finditer(text):
        found.setdefault(match.group())
        if len(found) == MOST:
            break
    return tuple(map(_named, found))


def _named(character: str) -> str:
    name = unicodedata.name(character, "(without a name)")
    beside = " beside Latin letters" if _MIXED.match(character) else ""
    return f"U+{ord(character):04X} {name}{beside}"
