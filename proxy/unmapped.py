"""Values of the tape that staging has otherwise, and for which nothing is known to stand.

A number that names an order on the tape may name nobody's order in staging, or another's. So a call that carries one
shows: what was answered to it is no basis for a tape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from proctor.canonical import body_kind
from proctor.diff import ABSENT
from proctor.interaction import Headers, Request, header
from proctor.matchkey import key_headers_of
from proctor.trace import body_value

LEADING = frozenset({"location", "content-location", "link", "etag"})
"""Headers of answers that later requests may quote, in lower case."""
_WORD = re.compile(r"[^\W_][\w.-]*[^\W_]|[^\W_]")
_DIGIT = re.compile(r"\d")


@dataclass
class Unmapped:
    """What is known to differ so far: by value, where it was met."""

    _met: dict[bytes, str] = field(default_factory=dict, init=False)

    def note(self, old: Any, new: Any, where: str) -> None:
        """Take in a difference of two answers to one call; `where` tells it to a person."""
        others = set(_words(new))
        for word in _words(old):
            if word not in others:
                self._met.setdefault(_bytes(word), where)

    def note_headers(self, old: Headers, new: Headers, where: str) -> None:
        """Take in the headers of two such answers."""
        for name in sorted(LEADING):
            before, now = (header(side, name) for side in (old, new))
            if before is not None and before != now:
                self.note(f" {before} ", f" {now or ''} ", f"{where} {name}")

    def drop(self, values: Iterable[str]) -> None:
        """Forget values for which something stands."""
        for value in values:
            self._met.pop(_bytes(value), None)

    def carried(self, request: Request, key_headers: Iterable[str] = ()) -> tuple[str, str] | None:
        """The first such value that a request carries, and where it was met; None where it carries none.

        `request` is as the agent sent it. `key_headers` are the declared ones, in lower case.
        """
        if not self._met:
            return None
        pattern = re.compile(rb"(?<![\w.-])(?:" + b"|".join(map(re.escape, self._met)) + rb")(?![\w-]|\.\w)")
        for text in _texts(request, key_headers):
            found = pattern.search(text)
            if found:
                return found[0].decode("utf-8", "surrogateescape"), self._met[found[0]]
        return None


def _texts(request: Request, key_headers: Iterable[str]) -> Iterator[bytes]:
    """Every part of a request that may name something."""
    yield unquote_to_bytes(_bytes(request.target))
    value = body_value(request.headers, request.body)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield unquote_to_bytes(_bytes(text)) if _is_form(request) else _bytes(text)
    for _, each in key_headers_of(request.headers, (*key_headers, "cookie")):
        yield _bytes(each)


def _is_form(request: Request) -> bool:
    return body_kind(header(request.headers, "content-type") or "") == "form"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _words(value: Any) -> Iterator[str]:
    """The words of a value that may name something: the whole of it, and of a longer text those with a digit."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _words(each)
    elif isinstance(value, str):
        words = _WORD.findall(value)
        yield from words if words == [value] else filter(_DIGIT.search, words)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    else:
        assert value is None or value is ABSENT or isinstance(value, bool), value
