"""Searching for the secrets that are known by now, in a text and in raw bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from proctor.placeholders import SHAPED, may_hold_stand_ins
from proctor.redaction.span import Span
from proctor.redaction.strength import Reach

_PLACEHOLDER = "placeholder"
_LONG = 512
"""Characters or bytes. In what is longer a plain search for each secret is faster than one pattern for all."""
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")
_SHAPED = re.compile(SHAPED.pattern.encode())


@dataclass
class Known:
    """Secrets by value, each with how far it is searched for. `add` may be called at any time."""

    reach: dict[str, Reach] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    _text: re.Pattern[str] = field(default=SHAPED, init=False)
    _bytes: re.Pattern[bytes] | None = field(default=None, init=False)
    _escaped: dict[str, str] = field(default_factory=dict, init=False)
    """Secrets by how a piece of JSON in a text spells them."""
    _forms: dict[bytes, str] = field(default_factory=dict, init=False)
    _stale: bool = field(default=False, init=False)

    def add(self, value: str, reach: Reach, kind: str) -> None:
        """Search for this value from now on."""
        self.reach[value] = reach
        self.kinds.setdefault(value, kind)
        self._stale = True

    def spans(self, text: str) -> Iterator[Span]:
        """Where known secrets and placeholders stand in a decoded text; a placeholder is taken whole."""
        if self._stale:
            self._compile()
        if len(text) > _LONG and not self._may_be_in(text):
            return
        for found in self._text.finditer(text):
            value = self._escaped.get(found[0], found[0])
            yield Span(found.start(), found.end(), value, self.kinds.get(value, _PLACEHOLDER))

    def raw(self, data: bytes, put: Callable[[str], str | None]) -> bytes:
        """Bytes with every spelling of a known secret replaced; the very same object where there is none."""
        if self._stale:
            self._compile()
        if len(data) > _LONG and not self._may_be_in_bytes(data):
            return data
        pieces, at = [], 0
        for match in self._bytes.finditer(data) if self._bytes else ():
            value = self._value(match.group())
            new = None if value is None else put(value)
            if new is not None:
                pieces += [data[at : match.start()], new.encode("utf-8", "surrogateescape")]
                at = match.end()
        return b"".join([*pieces, data[at:]]) if pieces else data

    def _may_be_in(self, text: str) -> bool:
        return may_hold_stand_ins(text) or any(word in text for word in (*self._escaped, *self._escaped.values()))

    def _may_be_in_bytes(self, data: bytes) -> bool:
        low = data.lower() if self._forms else data
        return any(form.lower() in low for form in self._forms)

    def _value(self, found: bytes) -> str | None:
        """The secret of a form that was found; None for a placeholder."""
        if _SHAPED.fullmatch(found):
            return None
        value = self._forms.get(found)
        return value or self._forms.get(_PERCENT.sub(lambda match: match.group().upper(), found))

    def _compile(self) -> None:
        self._stale = False
        searched = [value for value, reach in self.reach.items() if reach is not Reach.PLACE]
        searched.sort(key=len, reverse=True)
        self._text, self._bytes = SHAPED, None
        self._forms = {form: value for value in searched for form in _forms_of(value)}
        self._escaped = {}
        if not searched:
            return
        self._escaped = {json.dumps(value)[1:-1]: value for value in searched}
        texts = sorted({*searched, *self._escaped}, key=len, reverse=True)
        plain = [_bounded(re.escape(text), self.reach[self._escaped.get(text, text)]) for text in texts]
        self._text = re.compile("|".join((SHAPED.pattern, *plain)))
        forms = sorted(self._forms, key=len, reverse=True)
        raw = [_bounded(_in_any_case(form).decode("latin-1"), self.reach[self._forms[form]]) for form in forms]
        self._bytes = re.compile(b"|".join((_SHAPED.pattern, *(text.encode("latin-1") for text in raw))))


def _bounded(pattern: str, reach: Reach) -> str:
    return f"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])" if reach is Reach.WORDS else pattern


def _forms_of(secret: str) -> set[bytes]:
    """The spellings in which a secret may stand in a body or URL."""
    raw = secret.encode("utf-8", "surrogateescape")
    quoted = {quote(raw, safe=""), quote(raw)}
    quoted |= {quote(text, safe="") for text in quoted}
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    escaped |= {json.dumps(text)[1:-1] for text in escaped}
    slashed = {text.replace("/", "\\/") for text in escaped}
    return {raw, *(text.encode("utf-8", "surrogateescape") for text in quoted | escaped | slashed)}


def _in_any_case(form: bytes) -> bytes:
    """A pattern for a form: %2F may also be spelled %2f."""
    return _PERCENT.sub(lambda match: b"(?i:%b)" % match.group(), re.escape(form))
