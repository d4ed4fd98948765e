"""Where in one text secrets stand, as it reads: no encoding is opened here."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from proctor.credentials import secret_spans
from proctor.redaction.known import Known
from proctor.redaction.markup import has_markup, markup_spans
from proctor.redaction.names import is_oauth_code, normal
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.strength import is_likely, is_strong
from proctor.sensitive.finds import PERSONAL, plain_finds
from proctor.sensitive.shapes import has_key_sign, keys

_QUERY = re.compile(r"(?<=[?&;])([^=&;#?\s\"'<>\\]{1,64})=([^&;#\s\"'<>\\]+)")
_USERINFO = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://([^:/@\s\"'<>?#]{0,256}):([^/\s\"'<>?#]{1,256})@", re.IGNORECASE)
_TOKEN_USERINFO = re.compile(r"\bhttps?://([^:/@\s\"'<>?#]{8,256})@", re.IGNORECASE)
_SETTING = re.compile(
    r"(?i)(?:password|passwd|pwd|passphrase|secret|api[-_]?key|access[-_]?key|secret[-_]?key|account[-_]?key"
    r"|private[-_]?key|shared[-_]?access[-_]?key|token|authorization|密码|口令|密钥|令牌)[\"']?"
    r"\s{0,3}(?:=|:|：|是|为)\s{0,3}(?:(?:bearer|basic|token)\s+)?[\"']?(?P<value>(?:[^\s\"',;&<>，。；！？、：）`\\]|\\(?![nrtu\"'])){8,512})"
)
_SETTING_START = re.compile("pass|pwd|secret|api|access|account|private|shared|token|authorization|密码|口令|密钥|令牌")
"""How each such setting begins, in text without capitals: far quicker to look for."""
_LONG = 512
"""Characters. In what is longer it is worth it to look for the beginnings first."""
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*\Z")
_NAME = re.compile(r"[^\s\"'=:：是为]+")
_LONGEST_NAME = 64
_OF_PAGES = frozenset({"page", "next", "continuation", "sync", "cursor", "max", "prev", "previous"})
_CONNECTION = re.compile(r"(?i)(?:^|;)\s*(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*([^;\"'\s]+)")
_COOKIES = re.compile(r"(?i)\b(?:set-)?cookie:\s{0,3}([^\"'\r\n\\]{3,4096})")
_CODE = re.compile(r"[A-Za-z_$][\w$.-]*\([^()]*\)|[A-Za-z_$]+\d*(?:\.[A-Za-z_$]+\d*)+\Z|\$\{|\{\{")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_END = re.compile(r"[.:?]+\Z")


@dataclass(frozen=True)
class Finder:
    """Finds by shape, by name within a text, by the project's own rules, and what is known already."""

    rules: Rules
    known: Known = field(default_factory=Known)

    def spans(self, text: str) -> list[Span]:
        """Every secret in the text, in order; of finds that overlap the longest."""
        found = [*self.known.spans(text), *self._by_shape(text), *self._by_name(text), *self._own(text)]
        found = [span for span in found if span.start < span.end]
        if len(found) < 2:
            return found
        found.sort(key=lambda span: (span.start - span.end, span.start))
        starts: list[int] = []
        kept: list[Span] = []
        for span in found:
            place = bisect_left(starts, span.end)  # kept spans lie apart, so only the one before can reach into this
            if not place or kept[place - 1].end <= span.start:
                starts.insert(place, span.start)
                kept.insert(place, span)
        return kept

    def plain_spans(self, text: str) -> list[Span]:
        """As `spans`, for a JSON key: what is a secret wherever it stands."""
        return sorted([*self.known.spans(text), *self._by_shape(text), *self._own(text)])[:1]

    def _by_shape(self, text: str) -> Iterator[Span]:
        if self.rules.pii:
            for kind, start, end, _ in plain_finds(text):
                if kind in PERSONAL:
                    yield Span(start, end, text[start:end], kind)
            for person in self.rules.people:
                for found in re.finditer(re.escape(person), text):
                    yield Span(found.start(), found.end(), person, "person")
        if has_key_sign(text):
            yield from (Span(start, end, value, "key or token") for start, end, value in keys(text))

    def _by_name(self, text: str) -> Iterator[Span]:
        if "=" in text:
            yield from self._in_query(text)
        if "://" in text and "@" in text:
            yield from _userinfo(text)
        for found in _settings(text):
            value = _without_end(found["value"])
            if is_likely(value) and not _CODE.match(value) and self._is_named(text, found):
                yield Span(found.start("value"), found.start("value") + len(value), value, "named in text")
        if "ookie:" in text:
            yield from _cookies(text)
        if has_markup(text):
            yield from markup_spans(self.rules, text)

    def _in_query(self, text: str) -> Iterator[Span]:
        pairs = list(_QUERY.finditer(text))
        present = {normal(unquote(found[1])) for found in pairs}
        for found in pairs:
            low, value = normal(unquote(found[1])), unquote(found[2])
            named = low in self.rules.query and not self.rules.is_none(low, value)
            if named or is_oauth_code(low, value, present):
                yield Span(*found.span(2), value, f"parameter {unquote(found[1])}", quoted=True)
        if ";" in text:
            yield from (Span(*one.span(1), one[1], "connection string") for one in _CONNECTION.finditer(text))

    def _is_named(self, text: str, found: re.Match[str]) -> bool:
        """`ORDERS_API_KEY` is named by its last words; `next_page_token` and `max_tokens` are none."""
        start = max(0, found.start() - _LONGEST_NAME)
        before = _NAME_BEFORE.search(text, start, found.start())
        name = _NAME.match(text, before.start() if before else found.start())
        words = re.split(r"[-_.]", name[0]) if name else []
        if not _OF_PAGES.isdisjoint(map(str.lower, words)):
            return False
        return any(normal("".join(words[at:])) in self.rules.fields for at in range(len(words)))

    def _own(self, text: str) -> Iterator[Span]:
        for start, end, kind in self.rules.own_pattern_spans(text):
            yield Span(start, end, text[start:end], kind)


def _settings(text: str) -> Iterator[re.Match[str]]:
    """What `_SETTING.finditer` gives, found faster in a long text."""
    folded = text.lower().replace("ſ", "s").replace("ı", "i") if len(text) > _LONG else ""  # as IGNORECASE has it
    if len(folded) != len(text):  # a short one, or one in which a capital has another length
        yield from _SETTING.finditer(text)
        return
    end = 0
    for start in _SETTING_START.finditer(folded):
        found = _SETTING.match(text, start.start()) if start.start() >= end else None
        if found:
            end = found.end()
            yield found


def _userinfo(text: str) -> Iterator[Span]:
    for found in _USERINFO.finditer(text):
        yield Span(*found.span(2), unquote(found[2]), "URL password", quoted=True)
    for found in _TOKEN_USERINFO.finditer(text):
        if is_strong(unquote(found[1])):
            yield Span(*found.span(1), unquote(found[1]), "URL user", quoted=True)


def _cookies(text: str) -> Iterator[Span]:
    """`Cookie: sid=...`, as a command line or a log has it."""
    for found in _COOKIES.finditer(text):
        for one in secret_spans("cookie", found[1]):
            value = found[1][one.start : one.end]
            if is_likely(value):
                yield Span(found.start(1) + one.start, found.start(1) + one.end, value, one.kind)


def _without_end(value: str) -> str:
    """Without the full stop of a sentence, and brackets that the value does not open."""
    value = _END.sub("", value)
    while value and value[-1] in _BRACKETS and _BRACKETS[value[-1]] not in value:
        value = _END.sub("", value[:-1])
    return value
