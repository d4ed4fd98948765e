"""A text as it can be read: without full-width and invisible characters, over line breaks, decoded.

Each reading knows where its characters stand in the original, so that a finding points there. Costs are linear in the
length of the text; prose without escapes or long words is read once.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

DEEPEST = 3
"""How often an encoding inside an encoding is opened."""

INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
_ODD = re.compile(
    f"[{INVISIBLE}\u00a0\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u2000-\u200a\u2010-\u2015\u202f\u2070-\u209c\u2212"
    "\u2460-\u249b\u3000\uff01-\uff5e\U0001d400-\U0001d7ff]"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_BREAK = re.compile(r"[ \t]*(?:\r\n?|\n|\\r\\n|\\n)[ \t]*(?:[>|*#]+[ \t]*)?")
_BROKEN = re.compile(r"[\w@.+/=-][ \t]*(?:\r\n?|\n|\\n)[ \t]*(?:[>|*#]+[ \t]*)?[\w@.+/=-]")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*|\\+u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


@dataclass(frozen=True, slots=True)
class Reading:
    """`text`, and for each of its characters the span in the original. `starts` None: the original itself."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the original the characters from `start` to `end` (exclusive, not empty) stand."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


class _Writer:
    """Builds a reading of a reading piece by piece."""

    def __init__(self, source: Reading) -> None:
        self.source = source
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def keep(self, start: int, end: int) -> None:
        if start >= end:
            return
        self.parts.append(self.source.text[start:end])
        if self.source.starts is None or self.source.ends is None:
            self.starts.extend(range(start, end))
            self.ends.extend(range(start + 1, end + 1))
        else:
            self.starts.extend(self.source.starts[start:end])
            self.ends.extend(self.source.ends[start:end])

    def put(self, text: str, start: int, end: int) -> None:
        """Write `text` for what stands from `start` to `end` of the source."""
        first, last = self.source.span(start, end)
        self.parts.append(text)
        self.starts.extend([first] * len(text))
        self.ends.extend([last] * len(text))

    def done(self) -> Reading:
        return Reading("".join(self.parts), self.starts, self.ends)


def readings(text: str) -> Iterator[Reading]:
    """Every way to read the text; the first is the plain one."""
    plain = folded(text)
    waiting = [(plain, 0)]
    if _BROKEN.search(plain.text):
        waiting.append((_joined(plain), 0))
    while waiting:
        reading, depth = waiting.pop(0)
        yield reading
        if depth < DEEPEST:
            waiting.extend((inner, depth + 1) for inner in _opened(reading))


def folded(text: str) -> Reading:
    """The text with full-width characters, digits of other scripts, odd spaces and dashes made plain; invisible gone."""
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


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return unicodedata.normalize("NFKC", character).translate(_DASHES)


def _joined(reading: Reading) -> Reading:
    writer, at = _Writer(reading), 0
    for found in _BREAK.finditer(reading.text):
        writer.keep(at, found.start())
        at = found.end()
    writer.keep(at, len(reading.text))
    return writer.done()


def _opened(reading: Reading) -> Iterator[Reading]:
    text = reading.text
    if ("%" in text or "\\" in text or "&#" in text) and _ESCAPE.search(text):
        yield _unescaped(reading)
    if len(text) >= 16 and max(map(len, text.split()), default=0) >= 16:
        for found in _BASE64.finditer(text):
            inner = _decoded(found[0])
            if inner is not None:
                writer = _Writer(reading)
                writer.put(inner, found.start(), found.end())
                yield writer.done()


def _unescaped(reading: Reading) -> Reading:
    writer, at = _Writer(reading), 0
    for found in _ESCAPE.finditer(reading.text):
        writer.keep(at, found.start())
        _unescape(writer, found)
        at = found.end()
    writer.keep(at, len(reading.text))
    plain = writer.done()
    if plain.text.isascii() or not _ODD.search(plain.text):
        return plain
    again = folded(plain.text)  # escapes may hide full-width digits too
    if again.starts is None or again.ends is None:
        return plain
    spans = [plain.span(start, end) for start, end in zip(again.starts, again.ends, strict=True)]
    return Reading(again.text, [start for start, _ in spans], [end for _, end in spans])


def _unescape(writer: _Writer, found: re.Match[str]) -> None:
    whole, start = found[0], found.start()
    if whole[0] != "%":
        code = int(whole[3:-1], 16) if whole[:3] == "&#x" else _code(whole)
        writer.put(chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "", start, found.end())
        return
    data = bytes.fromhex(whole.replace("%", ""))
    for character in data.decode("utf-8", "replace"):
        size = 3 * len(character.encode()) if character != "\ufffd" else 3
        end = min(start + size, found.end())
        if start < end:
            writer.put(character, start, end)
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
