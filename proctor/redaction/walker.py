"""Through every layer that a text really has: JSON in a string, base64, percent-encoding, and each in another."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from proctor.credentials import basic_password, secret_spans
from proctor.json_spans import StringLeaf, string_leaves
from proctor.placeholders import SHAPED
from proctor.redaction.edits import Edit, applied, shifted
from proctor.redaction.finder import Finder
from proctor.redaction.json_names import COOKIES, JsonNames
from proctor.redaction.span import Span
from proctor.redaction.strength import SHORTEST
from proctor.redaction.wording import scheme_of

Swap = Callable[[Span, str], str | None]
"""What to put for a secret that was found at a place; None to leave it."""

DEEPEST = 6
"""Layers in layers that are opened."""
_INFLATED = 16 * 2**20
"""Bytes of a compressed text in a string that are looked at."""
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}(?:[A-Za-z0-9._~*+!$'()-]|%[0-9A-Fa-f]{2})*")
_LITERAL_BEFORE = re.compile(r"[A-Za-z0-9._~*+!$'()-]*\Z")
_LONGEST_BEFORE = 512
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_BASE64 = re.compile(  # lines, or one word; that both begin with the same set lets the search skip all other signs
    r"[A-Za-z0-9+/_-](?:(?<![_-])[A-Za-z0-9+/]{59,75}\r?\n(?:[A-Za-z0-9+/]{60,76}\r?\n)*[A-Za-z0-9+/]+={0,2}"
    r"|[A-Za-z0-9+/_-]{11,}={0,2})"
)
_PART = re.compile(r"[^/\s]{12,}")
_PRINTED = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f\ufffd]*")


@dataclass(frozen=True)
class Walker:
    """Looks through texts and asks `swap` what to put for each secret."""

    finder: Finder
    swap: Swap
    packs: bool = True
    """Whether base64 with a secret in it is packed again; else what it says is put, which is comparable: how a word is
    padded, and which alphabet it shows, depends on the secret."""
    names: JsonNames = field(init=False)
    shortest: int = field(init=False)

    def __post_init__(self) -> None:
        """Take the names from the finder's rules."""
        object.__setattr__(self, "names", JsonNames(self.finder.rules))
        object.__setattr__(self, "shortest", self.finder.rules.shortest)

    def text(self, text: str, place: str, depth: int = 0) -> str:
        """The text with every secret that is to be replaced."""
        return applied(text, self.edits(text, place, depth))

    def edits(self, text: str, place: str, depth: int = 0) -> list[Edit]:
        """The changes to a text that may itself hold JSON, or be encoded."""
        if len(text) < self.shortest or depth > DEEPEST:
            return []
        if text.lstrip()[:1] in ("{", "[", '"'):
            inner = self.json(text, place, depth + 1)
            if inner is not None:
                return inner
        found: list[Edit] = []
        at = 0
        words = list(_encoded_words(text)) if "%" in text else []
        for span in self.finder.spans(text):
            if not span.quoted and any(_inside(span, start, end) for start, end in words):
                continue  # what an encoded word says is looked at when it is decoded
            found += self._layers(text, at, span.start, place, depth)
            found += self._swapped(span, place)
            at = span.end
        return found + self._layers(text, at, len(text), place, depth)

    def in_bytes(self, data: bytes, place: str) -> bytes:
        """Bytes with every spelling of a known secret replaced, whatever stands around it."""
        known = self.finder.known
        return known.raw(data, lambda value: self.swap(Span(0, 0, value, known.kinds[value]), place))

    def value(self, value: Any, place: str) -> Any:
        """Plain data, looked through as the JSON text that says it."""
        text = json.dumps(value)
        return json.loads(applied(text, self.json(text, place) or ()))

    def named(self, value: str, kind: str, place: str) -> str:
        """A value whose name says that it is a secret; a scheme before it (`Bearer`) stays."""
        stripped = value.strip()
        secret = stripped[len(scheme_of(stripped)) :]
        if not secret:
            return value
        self.learn_password(scheme_of(stripped), secret, place)
        new = self.swap(Span(0, len(secret), secret, kind), place)
        if new is None:
            return value
        start = value.rindex(secret)
        return value[:start] + new + value[start + len(secret) :]

    def learn_password(self, scheme: str, credential: str, place: str) -> None:
        """The password in `Basic dXNlcjpwYXNz` is a secret of its own, which a body may hold in clear."""
        password = basic_password(credential) if scheme.strip().lower() == "basic" else ""
        if password:
            self.swap(Span(0, len(password), password, "Basic password"), f"{place} password")

    def json(self, text: str, place: str, depth: int = 0) -> list[Edit] | None:
        """The changes to a JSON text; None where it is none."""
        leaves = string_leaves(text, keys=True)
        return None if leaves is None else self.leaves(text, leaves, place, depth)

    def leaves(self, text: str, leaves: Sequence[StringLeaf], place: str, depth: int = 0) -> list[Edit]:
        """The changes to these strings, and to the numbers, of a JSON text."""
        found = []
        titles = self.names.titles(leaves)
        for leaf in leaves:
            where = place + leaf.pointer
            if leaf.is_key:
                new = applied(leaf.value, self._keys(leaf.value, where))
            else:
                new = self._value(leaf.value, self.names.kind(leaf.pointer, leaf.value, titles), where, depth)
            if new != leaf.value:
                plain = not text[leaf.start : leaf.end].isascii()
                found.append(Edit(leaf.start, leaf.end, dumped(new, plain)))
        return found + list(self._numbers(text, place))

    def _value(self, value: str, kind: str, place: str, depth: int) -> str:
        if kind in COOKIES:
            found = secret_spans("cookie" if kind == "cookie" else "set-cookie", value)
            spans = [Span(one.start, one.end, value[one.start : one.end], one.kind) for one in found]
            return applied(value, [edit for span in spans for edit in self._swapped(span, place)])
        return self.named(value, kind, place) if kind else self.text(value, place, depth)

    def _numbers(self, text: str, place: str) -> Iterator[Edit]:
        for number in self.names.numbers(text):
            new = self.swap(number, place + "/" + number.kind.rpartition(" ")[2])
            if new is not None:
                yield Edit(number.start, number.end, new if new.isdigit() else json.dumps(new))

    def _keys(self, key: str, place: str) -> list[Edit]:
        if len(key) < self.shortest:
            return []
        return [edit for span in self.finder.plain_spans(key) for edit in self._swapped(span, place + " (key)")]

    def _swapped(self, span: Span, place: str) -> list[Edit]:
        new = self.swap(span, place)
        if new is None or new == span.value:
            return []
        return [Edit(span.start, span.end, quote(new, safe="") if span.quoted else new)]

    def _layers(self, text: str, start: int, end: int, place: str, depth: int) -> list[Edit]:
        """Encoded words in a part of a text in which nothing stands in clear."""
        found: list[Edit] = []
        part = text[start:end]
        if len(part) < SHORTEST or depth >= DEEPEST:
            return found
        if "%" in part:
            for begin, until in _encoded_words(part):
                found += self._unquoted(part[begin:until], begin, place, depth)
        taken = [(edit.start, edit.end) for edit in found]
        for word in _BASE64.finditer(part):
            if all(word.end() <= one or word.start() >= other for one, other in taken) and not SHAPED.match(word[0]):
                found += self._decoded(word[0], word.start(), place, depth)
        return shifted(found, start)

    def _unquoted(self, word: str, at: int, place: str, depth: int) -> list[Edit]:
        plain = unquote(word, errors="surrogateescape")
        clean = self.text(plain, place, depth + 1)
        if clean == plain:
            return []
        literal = "".join(set(_ESCAPED.sub("", word)))
        return [Edit(at, at + len(word), quote(clean, safe=literal, errors="surrogateescape"))]

    def _decoded(self, word: str, at: int, place: str, depth: int) -> list[Edit]:
        opened = _opened(word)
        if opened is None and "/" in word:  # a sign of base64, but of paths too
            parts = [part for part in _PART.finditer(word) if len(part[0]) < len(word)]
            return [edit for part in parts for edit in self._decoded(part[0], at + part.start(), place, depth)]
        if opened is None:
            return []
        clean = self.text(opened.text, place, depth + 1)
        if clean == opened.text:
            return []
        return [Edit(at, at + len(word), opened.packed(clean) if self.packs else quote(clean))]


def _inside(span: Span, start: int, end: int) -> bool:
    return start <= span.start and span.end <= end and (span.start, span.end) != (start, end)


def _encoded_words(text: str) -> Iterator[tuple[int, int]]:
    """Where words with percent-encoding stand, each with the plain signs before it."""
    for found in _ENCODED.finditer(text):
        before = _LITERAL_BEFORE.search(text, max(0, found.start() - _LONGEST_BEFORE), found.start())
        yield before.start() if before else found.start(), found.end()


@dataclass(frozen=True)
class _Opened:
    """What a word of base64 says, and how to say another thing in the same way."""

    text: str
    urlsafe: bool
    padded: bool
    zipped: bool

    def packed(self, text: str) -> str:
        data = text.encode("utf-8")
        if self.zipped:
            data = gzip.compress(data, mtime=0)
        word = (base64.urlsafe_b64encode if self.urlsafe else base64.b64encode)(data).decode()
        return word if self.padded else word.rstrip("=")


def _opened(word: str) -> _Opened | None:
    """What a word says where it is base64 of readable text, compressed or not."""
    body = re.sub(r"\s", "", word)
    bare = body.rstrip("=")
    if len(bare) % 4 == 1 or not _looks_encoded(bare):
        return None
    urlsafe = "-" in bare or "_" in bare
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if urlsafe else None, validate=True)
        zipped = data[:2] == b"\x1f\x8b"
        if zipped:
            data = zlib.decompressobj(31).decompress(data, _INFLATED)
        text = data.decode("utf-8")
    except (binascii.Error, ValueError, zlib.error):
        return None
    if not _PRINTED.fullmatch(text):
        return None
    return _Opened(text, urlsafe, body != bare or len(bare) % 4 == 0, zipped)


def _looks_encoded(word: str) -> bool:
    """Base64 of text has letters of both cases, or digits: a lower-case word is just a word."""
    return not (word.islower() and word.isalpha()) and not word.isdigit()


def dumped(value: str, plain: bool) -> str:
    """A string as JSON; `plain` keeps letters that are no ASCII."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be escaped
        plain = False
    return json.dumps(value, ensure_ascii=not plain)
