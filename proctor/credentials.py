"""Which parts of which headers are secret."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import NamedTuple

from proctor.interaction import Headers

TOKEN_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key"})
CREDENTIAL_HEADERS = TOKEN_HEADERS | {"cookie"}
"""Request headers that say who asks."""
_IDENTIFYING = CREDENTIAL_HEADERS - {"proxy-authorization"}
SECRET_HEADERS = CREDENTIAL_HEADERS | {"set-cookie"}

_SIGNATURE = "signature"
"""A secret that says nothing of who asks."""

_COOKIE = re.compile(r"(?P<name>[^=;\s]+)\s*=(?P<value>[^;]*)")
_AWS_SECRET = re.compile(r"(?P<kind>Credential|Signature)=(?P<value>[^/,\s]+)")
_DIGEST_SECRET = re.compile(r'\b(?P<kind>username|response|cnonce)="?(?P<value>[^",]+)')
_SIGNED_BY = re.compile(r"\s*(?:AWS|GOOG1|SharedKey|SharedKeyLite) (?P<id>[^:\s]+):(?P<signature>\S+)\s*")
"""`AWS KEYID:SIGNATURE`, as older S3 clients, Google's and Azure's storage have it."""


def basic_password(credential: str) -> str:
    """The password in `dXNlcjpwYXNz`, the credential of a `Basic` header; empty where there is none."""
    try:
        data = b64decode(credential + "=" * (-len(credential) % 4), validate=True)
    except ValueError:
        return ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.partition(":")[2]


class Credential(NamedTuple):
    """A secret in a header. `kind` is `token`, or `cookie NAME`: a credential of one kind never stands for another."""

    kind: str
    value: str


class Span(NamedTuple):
    """Where in a header value a secret stands."""

    start: int
    end: int
    kind: str


def secret_spans(name: str, value: str) -> list[Span]:
    """The secret parts of one header (lower-case `name`); empty ones are left out."""
    if name in TOKEN_HEADERS:
        return _token_span(value)
    if name == "cookie":
        found = _COOKIE.finditer(value)
    elif name == "set-cookie":
        first = _COOKIE.match(value.lstrip())
        offset = len(value) - len(value.lstrip())
        if first is None or not first["value"].strip():
            return []
        start, end = first.span("value")
        return [_trimmed(value, start + offset, end + offset, f"cookie {first['name']}")]
    else:
        return []
    return [
        _trimmed(value, *match.span("value"), f"cookie {match['name']}") for match in found if match["value"].strip()
    ]


def credentials_of(headers: Headers) -> tuple[Credential, ...]:
    """Who asks: every secret of the request's credential headers, sorted, each once."""
    found: set[Credential] = set()
    for name, value in headers:
        low = name.lower()
        if low in _IDENTIFYING:
            spans = (span for span in secret_spans(low, value) if span.kind != _SIGNATURE)
            found.update(Credential(span.kind, value[span.start : span.end]) for span in spans)
    return tuple(sorted(found))


def _token_span(value: str) -> list[Span]:
    """`Bearer X` and `Basic X` keep their scheme; a bare key is secret as a whole.

    Where a request is signed, the key id or user says who asks; the signature is another one for each request. One that
    names neither is read as any other: what it holds may be a token.
    """
    signed = _SIGNED_BY.fullmatch(value)
    if signed:
        return [Span(*signed.span("id"), "token"), Span(*signed.span("signature"), _SIGNATURE)]
    start = value.lstrip()[:7].lower()
    parts: list[Span] = []
    if start.startswith("aws4-"):
        parts = _kinds(_AWS_SECRET, value, {"Credential": "token", "Signature": _SIGNATURE})
    elif start == "digest ":
        parts = _kinds(_DIGEST_SECRET, value, {"username": "token", "response": _SIGNATURE, "cnonce": _SIGNATURE})
    if parts:
        return parts
    scheme, space, credential = value.strip().partition(" ")
    secret = credential.strip() if space else scheme
    if not secret:
        return []
    at = value.rindex(secret)
    return [Span(at, at + len(secret), "token")]


def _kinds(pattern: re.Pattern[str], value: str, kinds: dict[str, str]) -> list[Span]:
    return [Span(*match.span("value"), kinds[match["kind"]]) for match in pattern.finditer(value)]


def _trimmed(value: str, start: int, end: int, kind: str) -> Span:
    text = value[start:end]
    return Span(start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip()), kind)
