"""A text as it can be read: without full-width and invisible characters, over line breaks, decoded.

Each reading knows where its characters stand in the original, so that a finding points there. Costs are linear in the
length of the text; prose without escapes or long words is read once.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

DEEPEST = 3
"""How often an encoding inside an encoding is opened."""

SHORTEST = 16
"""Characters of base64 that a phone number takes."""

INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
_ODD = re.compile(
    f"[{INVISIBLE}\u00a0\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u2000-\u200a\u2010-\u2015\u202f\u2070-\u209c\u2212"
    "\u2460-\u249b\u3000\uff01-\uff5e\U0001d400-\U0001d7ff]"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_BREAK = re.compile(r"(?:\r\n?|\n|\\r\\n|\\n)[ \t]*(?:[>|*#]+[ \t]*)?")
_OPEN_END = re.compile(r"[A-Za-z0-9+/_=-]{8}\Z|(?:sk-|gh[pousr]_|github_|eyJ|AKIA|ASIA|xox|AIza)\S{0,40}\Z|[Bb]earer\Z")
_GOES_ON = re.compile(r"[A-Za-z0-9+/_=-]{3}")
_BESIDE = 40
"""Characters that are looked at before and after a line break."""
_NAMED = {"&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}
_ESCAPE = re.compile(
    r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*|\\+u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});|"
    + "|".join(_NAMED)
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Characters that no screen shows, each with an ASCII character that a model reads in it."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


Piece = tuple[int, int, int]
"""Where a piece of a reading starts, and the span in the original that it stands for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, and the pieces of the original that it is made of; no pieces: the original itself.

    A piece as long as its span is that span, character for character; any other stands for its span as a whole.
    """

    text: str
    pieces: tuple[Piece, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the original the characters from `start` to `end` (exclusive, not empty) stand."""
        if not self.pieces:
            return start, end
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        index = bisect_right(self.pieces, at, key=lambda piece: piece[0]) - 1
        begin, first, last = self.pieces[index]
        until = self.pieces[index + 1][0] if index + 1 < len(self.pieces) else len(self.text)
        return (first + at - begin, first + at - begin + 1) if until - begin == last - first else (first, last)

    def within(self, start: int, end: int) -> list[tuple[str, int, int]]:
        """The pieces from `start` to `end`, each with its text and its span in the original."""
        if not self.pieces:
            return [(self.text[start:end], start, end)]
        found = []
        index = bisect_right(self.pieces, start, key=lambda piece: piece[0]) - 1
        while index < len(self.pieces) and self.pieces[index][0] < end:
            until = self.pieces[index + 1][0] if index + 1 < len(self.pieces) else len(self.text)
            one, other = max(start, self.pieces[index][0]), min(end, until)
            found.append((self.text[one:other], self._place(one)[0], self._place(other - 1)[1]))
            index += 1
        return found


class _Writer:
    """Builds a reading of a reading piece by piece."""

    def __init__(self, source: Reading) -> None:
        self.source = source
        self.parts: list[str] = []
        self.pieces: list[Piece] = []
        self.length = 0

    def keep(self, start: int, end: int) -> None:
        """Write what stands from `start` to `end` of the source."""
        if start < end:
            for text, first, last in self.source.within(start, end):
                self._write(text, first, last)

    def put(self, text: str, start: int, end: int) -> None:
        """Write `text` for what stands from `start` to `end` of the source."""
        if text:
            self._write(text, *self.source.span(start, end))

    def _write(self, text: str, first: int, last: int) -> None:
        self.parts.append(text)
        self.pieces.append((self.length, first, last))
        self.length += len(text)

    def done(self) -> Reading:
        """The reading; an empty one has no pieces and no text."""
        return Reading("".join(self.parts), tuple(self.pieces))


def readings(text: str, *, over_breaks: bool = True, shortest: int = SHORTEST) -> Iterator[Reading]:
    """Every way to read the text; the first is the plain one.

    `over_breaks` reads it without its line breaks too; `shortest` is the length from which a word is tried as base64.
    """
    plain = folded(text)
    waiting = [(plain, 0), *((inner, 1) for inner in _tagged(text))]
    breaks = _breaks(plain.text) if over_breaks else []
    if breaks:
        waiting.append((_joined(plain, breaks), 0))
    while waiting:
        reading, depth = waiting.pop(0)
        yield reading
        if depth < DEEPEST:
            waiting.extend((inner, depth + 1) for inner in _opened(reading, shortest))


def folded(text: str) -> Reading:
    """The text with full-width characters, other digits, odd spaces and dashes made plain; invisible ones gone."""
    whole = Reading(text)
    if text.isascii() or not _ODD.search(text):
        return whole
    writer, at = _Writer(whole), 0
    for odd in _ODD.finditer(text):
        writer.keep(at, odd.start())
        if not _INVISIBLE.fullmatch(odd[0]):
            writer.put(_plain(odd[0]), odd.start(), odd.end())
        at = odd.end()
    writer.keep(at, len(text))
    return writer.done()


def _tagged(text: str) -> Iterator[Reading]:
    if text.isascii():
        return
    for found in _TAGS.finditer(text):
        writer = _Writer(Reading(text))
        writer.put("".join(chr(ord(each) - 0xE0000) for each in found[0]), *found.span())
        yield writer.done()


def _folded_character(character: str) -> str:
    if _INVISIBLE.fullmatch(character):
        return ""
    return _plain(character) if _ODD.fullmatch(character) else character


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return unicodedata.normalize("NFKC", character).translate(_DASHES)


def _breaks(text: str) -> list[tuple[int, int]]:
    """The line breaks after which a number, an address or a key may go on, with the blanks around them."""
    if "\n" not in text and "\r" not in text and "\\n" not in text:
        return []
    found = ((_blank_before(text, one.start()), one.end()) for one in _BREAK.finditer(text))
    return [(start, end) for start, end in found if _goes_on(text, start, end)]


def _blank_before(text: str, at: int) -> int:
    return len(text[max(0, at - _BESIDE) : at].rstrip(" \t")) + max(0, at - _BESIDE)


def _goes_on(text: str, start: int, end: int) -> bool:
    after = text[end : end + _BESIDE]
    if not after or not start:
        return False
    if text[start - 1].isdigit() and after[0].isdigit():
        return True
    before = text[max(0, start - _BESIDE) : start]
    word = before[before.rfind(" ") + 1 :]
    if "@" in word or "@" in after.partition(" ")[0].partition("\n")[0]:
        return True
    return bool(_OPEN_END.search(word)) and bool(_GOES_ON.match(after))


def _joined(reading: Reading, breaks: list[tuple[int, int]]) -> Reading:
    writer, at = _Writer(reading), 0
    for start, end in breaks:
        writer.keep(at, start)
        at = end
    writer.keep(at, len(reading.text))
    return writer.done()


def _opened(reading: Reading, shortest: int) -> Iterator[Reading]:
    text = reading.text
    if ("%" in text or "\\" in text or "&" in text) and _ESCAPE.search(text):
        yield _unescaped(reading)
    if is_long_worded(text, shortest):
        for found in _BASE64.finditer(text):
            inner = _decoded(found[0]) if found.end() - found.start() >= shortest else None
            if inner is not None:
                writer = _Writer(reading)
                writer.put(inner, found.start(), found.end())
                yield writer.done()


def is_encoded(text: str, shortest: int = SHORTEST) -> bool:
    """Something in the text may be an encoding."""
    return "%" in text or "\\" in text or ("&" in text and ";" in text) or is_long_worded(text, shortest)


def is_long_worded(text: str, shortest: int = SHORTEST) -> bool:
    """The text has a word of so many characters, as encoded text has."""
    return len(text) >= shortest and max(map(len, text.split()), default=0) >= shortest


def _unescaped(reading: Reading) -> Reading:
    writer, at = _Writer(reading), 0
    for found in _ESCAPE.finditer(reading.text):
        writer.keep(at, found.start())
        _unescape(writer, found)
        at = found.end()
    writer.keep(at, len(reading.text))
    return writer.done()


def _unescape(writer: _Writer, found: re.Match[str]) -> None:
    whole, start = found[0], found.start()
    if whole in _NAMED:
        writer.put(_NAMED[whole], start, found.end())
        return
    if whole[0] != "%":
        code = int(whole[3:-1], 16) if whole[:3] == "&#x" else _code(whole)
        writer.put(
            _folded_character(chr(code)) if code < 0xD800 or 0xDFFF < code < 0x110000 else "", start, found.end()
        )
        return
    data = bytes.fromhex(whole.replace("%", ""))
    for character in data.decode("utf-8", "replace"):
        size = 3 * len(character.encode()) if character != "\ufffd" else 3
        end = min(start + size, found.end())
        if start < end:
            writer.put(_folded_character(character), start, end)
        start = end


def _code(escape: str) -> int:
    if escape[0] == "&":
        return int(escape[2:-1])
    return int(escape.lstrip("\\")[1:], 16)


def _decoded(segment: str) -> str | None:
    """What a base64 text says, where it is text."""
    body = segment.rstrip("=").translate(str.maketrans("-_", "+/"))
    if len(body) % 4 == 1:
        body = body[:-1]
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    inner = folded(text).text
    return inner if inner and all(character.isprintable() or character in "\r\n\t" for character in inner) else None
