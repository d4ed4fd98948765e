"""What of a request a match forgives: declared places, the volatile parts of texts, ids that a model minted.

The essence of a request is its canonical key with all of that left out, and what was left out beside it, so that the
caller can tell each thing it forgave. Nothing is forgiven that is not declared, or minted by an LLM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from proctor.canonical import (
    InDoubt,
    Pairs,
    Part,
    body_kind,
    canonical_form,
    exact_json,
    multipart_parts,
    sorted_pairs,
)
from proctor.encoding import decoded
from proctor.interaction import Headers, Request, header
from proctor.json_spans import pointer_pattern
from proctor.matchkey import CanonicalKey, Identity, canonical_key
from proctor.service_config import ServiceConfig

_MARK = "\ud801"
"""Stands for what was left out. A lone surrogate occurs in no text that is compared as a value."""

Marks = Mapping[str, str]
"""What stands for each kind of thing that was left out."""
_MARKS = dict.fromkeys(("ignored", "volatile", "minted"), _MARK)
_GONE = object()

How = Literal["ignored", "volatile", "minted"]
Thread = Callable[[str, str], str]
"""Takes a place and a text there; gives the text with live values replaced by the recorded ones."""


class LeftOut(NamedTuple):
    """One thing that was left out. `rule` tells volatile groups apart: only values of one group are compared."""

    place: str
    how: How
    value: str
    rule: str = ""


class Essence(NamedTuple):
    """A request without what is forgiven, and that."""

    key: CanonicalKey
    left_out: tuple[LeftOut, ...]


class _Volatile(NamedTuple):
    at: re.Pattern[str]
    pattern: re.Pattern[str]
    rule: str


@dataclass(frozen=True)
class Forgiveness:
    """The rules of one service, compiled. Places are JSON pointers, `/name` in forms, `?name` in queries."""

    ignored: re.Pattern[str] | None
    volatile: tuple[_Volatile, ...]
    minted: re.Pattern[str] | None

    def forgives(self, place: str) -> bool:
        """Whether whatever stands at a place is forgiven as a whole."""
        return any(each is not None and each.fullmatch(place) is not None for each in (self.ignored, self.minted))

    def marked(self, value: Any, prefix: str, marks: Marks) -> tuple[Any, tuple[LeftOut, ...]]:
        """A body's value (`prefix` is empty), or a query's fields (`?`), with marks in place of what is left out."""
        reading = _Reading(self, lambda _, text: text, marks)
        return reading.value(value, prefix), tuple(reading.left_out)

    def essence(
        self, request: Request, key_headers: Headers, identity: Identity, thread: Thread | None = None
    ) -> Essence:
        """The essence of a request, after `thread` went over each of its texts."""
        reading = _Reading(self, thread or (lambda place, text: text))
        key = canonical_key(replace(request, body=b""), key_headers, identity)
        kind, body = reading.body(request)
        key = key._replace(
            path=reading.thread("path", key.path), query=reading.pairs(key.query, "?"), body_kind=kind, body=body
        )
        return Essence(key, tuple(reading.left_out))


def forgiveness_of(services: Mapping[str, ServiceConfig], name: str) -> Forgiveness | None:
    """What matches of a service forgive; None where that is nothing.

    A volatile value of one service may be threaded into the requests of any.
    """
    service = services.get(name)
    threads = any(each.volatile for each in services.values())
    if service is None:
        return Forgiveness(None, (), None) if threads else None
    facts = service.preset_facts
    if not service.ignore and not threads and facts is None:
        return None
    volatile = tuple(
        _Volatile(pointer_pattern([rule.at]), re.compile(rule.pattern), f'volatile "{rule.pattern}" at {rule.at}')
        for rule in service.volatile
    )
    return Forgiveness(_any(service.ignore), volatile, _any(facts.minted_ids if facts else ()))


def _any(places: Iterable[str]) -> re.Pattern[str] | None:
    places = tuple(places)
    return pointer_pattern(places) if places else None


@dataclass
class _Reading:
    """One request on its way to its essence."""

    rules: Forgiveness
    thread: Thread
    marks: Marks = field(default_factory=lambda: _MARKS)
    left_out: list[LeftOut] = field(default_factory=list)
    _minted: dict[str, int] = field(default_factory=dict)

    def body(self, request: Request) -> tuple[str, bytes]:
        """Kind and canonical bytes of a body, as `canonical_body` gives them, without what is forgiven."""
        content_type = header(request.headers, "content-type") or ""
        plain = decoded(request.body, header(request.headers, "content-encoding"))
        if plain and body_kind(content_type) == "json":
            try:
                return "json", canonical_form(self.value(exact_json(plain), ""))
            except (InDoubt, RecursionError):  # it is compared as bytes, so nothing of it is left out
                self.left_out.clear()
        elif plain and body_kind(content_type) == "form":
            return "form", repr(self.pairs(sorted_pairs(plain), "/")).encode("utf-8", "surrogatepass")
        elif plain and body_kind(content_type) == "multipart":
            parts = multipart_parts(content_type, plain)
            if parts is not None:
                return "multipart", repr(list(self._parts(parts))).encode("utf-8", "surrogatepass")
        key = canonical_key(request, (), ())
        return key.body_kind, key.body

    def pairs(self, pairs: Pairs, sign: str) -> Pairs:
        """The fields of a form (`sign` is `/`) or query (`?`)."""
        kept: list[tuple[bytes, bytes | None]] = []
        for name, value in pairs:
            place = f"{sign}{_text(name)}"
            if self._is(self.rules.ignored, place):
                self.left_out.append(LeftOut(_told(place), "ignored", _text(value or b"")))
            elif value is None:
                kept.append((name, value))
            else:
                kept.append((name, self._string(_text(value), place).encode("utf-8", "surrogatepass")))
        return tuple(kept)

    def _parts(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts of a multipart form. One without a name has no place, so nothing of it is forgiven."""
        for part in parts:
            place = f"/{_escaped(part.name)}"
            if not part.name:
                yield part
            elif self._is(self.rules.ignored, place):
                self.left_out.append(LeftOut(_told(place), "ignored", _text(part.content)))
            else:
                content = self._string(_text(part.content), place)
                yield part._replace(content=content.encode("utf-8", "surrogatepass"))

    def value(self, value: Any, place: str) -> Any:
        """A JSON value, or the fields of a query (`place` is `?`), without what is forgiven."""
        found = self._value(value, place)
        return self.marks["ignored"] if found is _GONE else found

    def _value(self, value: Any, place: str) -> Any:
        if self._is(self.rules.ignored, place):
            self.left_out.append(LeftOut(_told(place), "ignored", _text(canonical_form(value))))
            return _GONE
        if isinstance(value, str):
            return self._string(value, place)
        if isinstance(value, list):
            return [self.value(each, f"{place}/{index}") for index, each in enumerate(value)]
        if isinstance(value, dict):  # in the order of keys, for minted ids are numbered as they come
            below = place if place == "?" else f"{place}/"
            fields = {key: self._value(value[key], f"{below}{_escaped(key)}") for key in sorted(value)}
            return {key: field for key, field in fields.items() if field is not _GONE}
        return value

    def _string(self, text: str, place: str) -> str:
        if self._is(self.rules.minted, place):
            self.left_out.append(LeftOut(_told(place), "minted", text))
            return f"{self.marks['minted']}{self._minted.setdefault(text, len(self._minted))}"
        text = self.thread(_told(place), text)
        for rule in self.rules.volatile:
            if rule.at.fullmatch(place):
                text = self._without_groups(rule, text, place)
        return text

    def _without_groups(self, rule: _Volatile, text: str, place: str) -> str:
        pieces, at = [], 0
        for match in rule.pattern.finditer(text):
            for group in range(1, rule.pattern.groups + 1):
                start, end = match.span(group)
                if start >= at and end > start:  # not inside the group before it, and not one that took no part
                    pieces.append(text[at:start])
                    self.left_out.append(LeftOut(_told(place), "volatile", text[start:end], f"{rule.rule} ({group})"))
                    at = end
        return self.marks["volatile"].join([*pieces, text[at:]]) if pieces else text

    @staticmethod
    def _is(pattern: re.Pattern[str] | None, place: str) -> bool:
        return pattern is not None and pattern.fullmatch(place) is not None


def _told(place: str) -> str:
    return f"query {place[1:]}" if place.startswith("?") else f"body {place}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
