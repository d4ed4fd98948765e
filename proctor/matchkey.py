"""The key by which a request finds its recording: exact first, then canonical.

Both keys hold service, method, path, query, body, key headers and identity. Keys are plain tuples: a dict finds them
in a microsecond and a miss report can name the part that differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from proctor.canonical import Pairs, canonical_body, sorted_pairs
from proctor.interaction import Headers, Request

Identity = tuple[str, ...]
"""Placeholders of the credentials a request carries, in a fixed order; empty for a request without any."""

KEY_HEADERS = frozenset({"x-amz-target", "soapaction", "range", "if-match"})
"""Headers that choose the answer whatever the service; `accept` counts where it names a version."""

_VERSIONED_ACCEPT = re.compile(r"vnd\.|version=|[./+-]v\d", re.IGNORECASE)


class ExactKey(NamedTuple):
    """Equal for requests that are equal byte for byte where it matters."""

    service: str
    method: str
    target: str
    key_headers: Headers
    identity: Identity
    body: bytes


class CanonicalKey(NamedTuple):
    """Equal for requests that mean the same. `query` is sorted by name."""

    service: str
    method: str
    path: str
    query: Pairs
    key_headers: Headers
    identity: Identity
    body_kind: str
    body: bytes


def is_key_header(name: str, value: str, declared: Iterable[str] = ()) -> bool:
    """Whether a header (lower-case `name`) is part of the key; `declared` names are in lower case too."""
    return name in KEY_HEADERS or name in declared or (name == "accept" and _names_version(value))


@lru_cache(maxsize=256)
def _names_version(accept: str) -> bool:
    return _VERSIONED_ACCEPT.search(accept) is not None


def key_headers_of(headers: Headers, declared: Iterable[str] = ()) -> Headers:
    """The key headers of a request: lower-case names, sorted, the order within one name kept."""
    names = KEY_HEADERS.union(declared)
    found = []
    for name, value in headers:
        low = name.lower()
        if low in names or (low == "accept" and _names_version(value)):
            found.append((low, value))
    found.sort(key=lambda pair: pair[0])
    return tuple(found)


def exact_key(request: Request, key_headers: Headers, identity: Identity) -> ExactKey:
    """The key of exact bytes."""
    return ExactKey(request.service, request.method, request.target, key_headers, identity, request.body)


def canonical_key(request: Request, key_headers: Headers, identity: Identity) -> CanonicalKey:
    """The key of meaning."""
    path, mark, query = request.target.partition("?")
    pairs = sorted_pairs(query.encode("utf-8", "surrogateescape")) if mark else ()
    kind, body = canonical_body(request.headers, request.body)
    return CanonicalKey(request.service, request.method, path, pairs, key_headers, identity, kind, body)
