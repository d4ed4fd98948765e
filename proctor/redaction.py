"""Replacing secrets by numbered placeholders: one secret, one placeholder, everywhere in a tape.

What counts as a secret here: the values of the headers in `proctor.credentials`. Those of eight characters and more
are also replaced wherever they stand in a URL, a header or a body (plain, JSON-escaped or percent-encoded, under gzip
and deflate too); a shorter one would tear ordinary words apart, so it is replaced in its header only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from proctor.credentials import PLACEHOLDER, placeholder, secret_spans
from proctor.encoding import decoded, encoded
from proctor.interaction import Headers, Interaction, Request, Response, header

MIN_SEARCHED = 8
_PLACEHOLDER = re.compile(PLACEHOLDER.pattern.encode())
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")


@dataclass
class Redactor:
    """Learns secrets, then replaces them. `known` maps each secret to its placeholder."""

    known: dict[str, str] = field(default_factory=dict)
    _last: int = field(default=0, init=False)
    """The highest placeholder number that is taken."""
    _pattern: re.Pattern[bytes] | None = field(default=None, init=False)
    _forms: dict[bytes, bytes] = field(default_factory=dict, init=False)

    @classmethod
    def over(cls, interactions: Iterable[Interaction]) -> Redactor:
        """A redactor that knows every secret seen in the headers of a recording, numbered by first appearance."""
        redactor, seen = cls(), list(interactions)
        for interaction in seen:
            redactor.reserve(interaction)
        for interaction in seen:
            redactor.learn(interaction.request.headers)
            redactor.learn(interaction.response.headers)
        return redactor

    def reserve(self, interaction: Interaction) -> None:
        """Never give the number of a placeholder that stands anywhere in this exchange to a secret."""
        request, response = interaction.request, interaction.response
        texts = [value for side in (request, response) for _, value in side.headers]
        parts = [text.encode("utf-8", "surrogateescape") for text in (request.target, *texts)]
        for side in (request, response):
            parts.append(decoded(side.body, header(side.headers, "content-encoding")) or side.body)
        for part in parts:
            for taken in _PLACEHOLDER.finditer(part):
                self._last = max(self._last, int(taken[1]))

    def learn(self, headers: Headers) -> None:
        """Give each new secret of these headers the next number. A placeholder is never a secret."""
        for secret in _secrets(headers):
            if secret not in self.known and not PLACEHOLDER.fullmatch(secret):
                self._last += 1
                self.learn_value(secret, placeholder(self._last))

    def learn_value(self, secret: str, stand_in: str) -> None:
        """Replace `secret` by `stand_in` from now on."""
        self.known[secret] = stand_in
        self._pattern = None

    def headers(self, headers: Headers) -> Headers:
        """The headers with every secret replaced, in place and wherever else a long one stands."""
        return tuple((name, self._header(name.lower(), value)) for name, value in headers)

    def text(self, text: str) -> str:
        """A URL or other short text with every long secret replaced."""
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def data(self, data: bytes) -> bytes:
        """Bytes with every long secret replaced; the very same object where there is none."""
        if not self.leaks(data):
            return data
        assert self._pattern is not None
        return self._pattern.sub(lambda match: self._stand_in(match.group()) or match.group(), data)

    def body(self, headers: Headers, body: bytes) -> bytes:
        """A body with every long secret replaced, looking through gzip and deflate."""
        coding = header(headers, "content-encoding")
        plain = decoded(body, coding)
        if plain is None:
            return self.data(body)
        clean = self.data(plain)
        return body if clean is plain or clean == plain else encoded(clean, coding)

    def request(self, request: Request) -> Request:
        """The request with placeholders, its Content-Length made true again."""
        body = self.body(request.headers, request.body)
        headers = remeasured(self.headers(request.headers), request.body, body)
        return replace(request, target=self.text(request.target), headers=headers, body=body)

    def response(self, response: Response) -> Response:
        """The response with placeholders, its Content-Length made true again."""
        body = self.body(response.headers, response.body)
        headers = remeasured(self.headers(response.headers), response.body, body)
        return replace(response, headers=headers, body=body)

    def interaction(self, interaction: Interaction) -> Interaction:
        """The interaction with placeholders; `redacted` names the parts that changed."""
        request, response = self.request(interaction.request), self.response(interaction.response)
        changed = tuple(
            f"{side}.{part}"
            for side, old, new in (
                ("request", interaction.request, request),
                ("response", interaction.response, response),
            )
            for part in ("target", "headers", "body")
            if getattr(old, part, None) != getattr(new, part, None)
        )
        url = self.text(interaction.url)
        return replace(interaction, request=request, response=response, url=url, redacted=changed)

    def leaks(self, data: bytes) -> bool:
        """Whether a long secret stands in `data`: the scan of what was written."""
        pattern = self._pattern or self._compile()
        return pattern is not None and any(self._stand_in(match.group()) for match in pattern.finditer(data))

    def _stand_in(self, found: bytes) -> bytes | None:
        """The placeholder of a form that was found; None for a placeholder, which stays."""
        return self._forms.get(found) or self._forms.get(_PERCENT.sub(lambda match: match.group().upper(), found))

    def _header(self, name: str, value: str) -> str:
        for span in reversed(secret_spans(name, value)):
            stand_in = self.known.get(value[span.start : span.end])
            if stand_in is not None:
                value = value[: span.start] + stand_in + value[span.end :]
        return self.text(value)

    def _compile(self) -> re.Pattern[bytes] | None:
        self._forms = {
            form: stand_in.encode()
            for secret, stand_in in self.known.items()
            if len(secret) >= MIN_SEARCHED
            for form in _forms_of(secret)
        }
        if self._forms:
            longest_first = map(_in_any_case, sorted(self._forms, key=len, reverse=True))
            # A placeholder is taken whole, so that a secret that is part of its text does not tear it.
            self._pattern = re.compile(b"|".join([PLACEHOLDER.pattern.encode(), *longest_first]))
        return self._pattern


def remeasured(headers: Headers, old: bytes, new: bytes) -> Headers:
    """Headers whose Content-Length counts `new`, where it counted `old`."""
    if len(old) == len(new):
        return headers
    return tuple(
        (name, str(len(new)) if name.lower() == "content-length" and value == str(len(old)) else value)
        for name, value in headers
    )


def short_secrets(known: Mapping[str, str]) -> int:
    """How many secrets were too short to be searched for in bodies."""
    return sum(len(secret) < MIN_SEARCHED for secret in known)


def _secrets(headers: Headers) -> Iterator[str]:
    for name, value in headers:
        for span in secret_spans(name.lower(), value):
            yield value[span.start : span.end]


def _forms_of(secret: str) -> set[bytes]:
    """The spellings in which a secret may stand in a body or URL."""
    raw = secret.encode("utf-8", "surrogateescape")
    quoted = {quote(raw, safe=""), quote(raw)}
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    slashed = {text.replace("/", "\\/") for text in escaped}
    return {raw, *(text.encode("utf-8", "surrogateescape") for text in quoted | escaped | slashed)}


def _in_any_case(form: bytes) -> bytes:
    """A pattern for a form: %2F may also be spelled %2f."""
    return _PERCENT.sub(lambda match: b"(?i:%b)" % match.group(), re.escape(form))
