"""Values of the tape and what the real services have in their place, so that a request of the one reaches the other.

A token that the tape's answer handed out is a placeholder; staging handed out another one when the same call was made
again. Later requests get staging's value for the tape's, and staging's answers the tape's for its own.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from proctor.diff import json_differences, shown_value
from proctor.encoding import decoded, encoded
from proctor.interaction import Headers, Request, Response, header
from proctor.placeholders import is_placeholder
from proctor.proxy.unmapped import Unmapped
from proctor.redaction.digests import remeasured
from proctor.redaction.messages import clean_response
from proctor.redaction.redactor import Redactor
from proctor.redaction.span import Span
from proctor.redaction.strength import SHORTEST
from proctor.redaction.walker import Walker
from proctor.trace import body_value

_SHORTEST = 4
"""Characters. A shorter value is in other places too by chance."""
_NO_NAME = re.compile(r".*\s.*|[-+]?[0-9]+[.,][0-9.,]*|\D*", re.DOTALL)
"""Texts that name nothing: prose, amounts, and words, which differ because something else happened."""


@dataclass
class BothWorlds:
    """What stands for what in one session. `redactor` knows the secrets among them, so that none is ever shown."""

    redactor: Redactor
    unmapped: Unmapped = field(default_factory=Unmapped, init=False)
    """What differs and stands for nothing."""
    _live: dict[str, str] = field(default_factory=dict, init=False)
    """By value of the tape; the last one that was met."""
    _recorded: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list), init=False)
    """By value of staging."""
    _to_live: _Words | None = field(default=None, init=False)
    _to_tape: _Words | None = field(default=None, init=False)

    def learn(self, recorded: Response, live: Response, call: str = "") -> list[str]:
        """Take over what differs in two answers to one `call`; gives, a text each, what stands for nothing."""
        before, now = self._secrets(recorded), self._secrets(live)
        for place, placeholders in before.items():
            for placeholder, secret in zip(placeholders, now.get(place, ()), strict=False):
                if self._is_placeholder(placeholder) and not self._is_placeholder(secret):
                    self._pair(placeholder, secret)
                    self.redactor.learn_value(secret, placeholder)
        told = []
        values = (body_value(side.headers, side.body) for side in (recorded, live))
        for pointer, old, new in json_differences(*values):
            if isinstance(old, str) and isinstance(new, str) and (old in self._live or self._are_names(old, new)):
                if self._live.get(old) != new:
                    self._pair(old, new)
                if self._is_placeholder(old):
                    self.redactor.learn_value(new, old)
            else:
                told.append(f"{pointer}: recorded {shown_value(old, new)}, now {shown_value(new, old)}")
                self.unmapped.note(old, new, f"{pointer} of {call}")
        self.unmapped.note_headers(recorded.headers, live.headers, call)
        self.unmapped.drop(self._live)
        return told

    def request(self, request: Request) -> Request:
        """A request as staging understands it."""
        words = self._to_live = self._to_live or _Words(self._live)
        target = words.text(request.target)
        body, headers = words.body(request.headers, request.body)
        return replace(request, target=target, headers=headers, body=body)

    def response(self, response: Response) -> Response:
        """An answer of staging's as the tape would have it.

        A value that stands for several of the tape's stays, unless it is a secret.
        """
        if self._to_tape is None:
            secret = self.redactor.known
            one = {live: found[0] for live, found in self._recorded.items() if len(found) == 1 or live in secret}
            self._to_tape = _Words(one)
        body, headers = self._to_tape.body(response.headers, response.body)
        return response.rewritten(headers, body)

    def secrets_in(self, response: Response) -> set[str]:
        """The secrets of an answer that were never met before."""
        found = {value for values in self._secrets(response).values() for value in values}
        return {value for value in found - self.redactor.known.keys() if not self._is_placeholder(value)}

    def _pair(self, recorded: str, live: str) -> None:
        self._live[recorded] = live
        if recorded not in self._recorded[live]:
            self._recorded[live].append(recorded)
        self._to_live = self._to_tape = None

    def _is_placeholder(self, value: str) -> bool:
        return is_placeholder(value, self.redactor.placeholders)

    def _are_names(self, old: str, new: str) -> bool:
        """Whether two values are such as a service mints: ids, tokens, times. A secret may look like a word."""
        if self._is_placeholder(old) and len(new) >= SHORTEST and not self._is_placeholder(new):
            return not any(map(str.isspace, new))
        return all(len(text) >= _SHORTEST for text in (old, new)) and not any(map(_NO_NAME.fullmatch, (old, new)))

    def _secrets(self, response: Response) -> Mapping[str, list[str]]:
        """Secrets and placeholders by the places in which they stand, each once a place."""
        found: defaultdict[str, list[str]] = defaultdict(list)

        def note(span: Span, place: str) -> None:
            if span.value not in found[place]:
                found[place].append(span.value)

        clean_response(Walker(self.redactor.finder, note), response)
        return found


class _Words:
    """Replaces whole words, in every spelling that a URL or a JSON text may have for them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values: dict[bytes, bytes] = {}
        for old, new in values.items():
            for before, after in zip(_spellings(old), _spellings(new), strict=True):
                self._values.setdefault(before, after)
        longest_first = sorted(self._values, key=len, reverse=True)
        words = b"|".join(map(re.escape, longest_first))
        begin, end = rb"(?:(?<![0-9A-Za-z_])|(?<=%[0-9A-Fa-f]{2}))", rb"(?![0-9A-Za-z_])"
        self._pattern = re.compile(begin + b"(?:" + words + b")" + end) if words else None

    def data(self, data: bytes) -> bytes:
        return self._pattern.sub(lambda found: self._values[found[0]], data) if self._pattern else data

    def text(self, text: str) -> str:
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def body(self, headers: Headers, body: bytes) -> tuple[bytes, Headers]:
        """The body, and the headers with what is replaced in them, their lengths made true."""
        coding = header(headers, "content-encoding")
        plain = decoded(body, coding)
        changed = None if plain is None else self.data(plain)
        new = body if changed is None or changed == plain else encoded(changed, coding)
        return new, remeasured(tuple([(name, self.text(value)) for name, value in headers]), body, new)


_JSON: tuple[Callable[[Any], str], ...] = (
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
)


def _spellings(value: str) -> Iterator[bytes]:
    """The spellings in which a value may stand, always in the same order."""
    raw = value.encode("utf-8", "surrogateescape")
    texts = [value, quote(raw, safe=""), quote(raw)]
    texts += [spell(value) for spell in _JSON]
    texts += [spell(value).replace("/", "\\/") for spell in _JSON]
    for text in texts:
        yield text.encode("utf-8", "surrogateescape")
