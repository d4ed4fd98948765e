"""What differs between two requests, in words a person can act on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from proctor.canonical import Part, body_kind, canonical_body, multipart_parts, sorted_pairs
from proctor.encoding import decoded
from proctor.interaction import Request, header, readable
from proctor.matchkey import Identity, key_headers_of
from proctor.trace import body_value

ABSENT = object()
"""Stands for a value on the side that has none."""
_SHOWN = 80


class Difference(NamedTuple):
    """What differs: `body /date`, `query page`, `header range`, `part photo`, `path`. `ABSENT` stands for no value."""

    where: str
    recorded: Any
    asked: Any


def request_diff(
    recorded: Request,
    asked: Request,
    identities: tuple[Identity, Identity] = ((), ()),
    key_headers: Iterable[str] = (),
    limit: int = 20,
) -> list[str]:
    """One line a difference, `where: recorded ..., got ...`, at most `limit` of them.

    `key_headers` are the declared ones, in lower case.
    """
    found = list(islice(request_differences(recorded, asked, identities, key_headers), limit + 1))
    return told(found, limit)


def told(differences: Sequence[Difference], limit: int = 20) -> list[str]:
    """A line each, at most `limit` of them."""
    lines = [
        f"{where}: recorded {shown_value(old, new)}, got {shown_value(new, old)}"
        for where, old, new in differences[:limit]
    ]
    return [*lines, "... and more"] if len(differences) > limit else lines


def request_differences(
    recorded: Request, asked: Request, identities: tuple[Identity, Identity] = ((), ()), key_headers: Iterable[str] = ()
) -> Iterator[Difference]:
    """Each part in which two requests differ, as `request_diff` tells it."""
    return map(Difference._make, _differences(recorded, asked, identities, tuple(key_headers)))


def json_differences(old: Any, new: Any, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each leaf that differs, with its JSON pointer. 1, 1.0 and true are different leaves."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            escaped = str(key).replace("~", "~0").replace("/", "~1")
            yield from json_differences(old.get(key, ABSENT), new.get(key, ABSENT), f"{pointer}/{escaped}")
    elif isinstance(old, list) and isinstance(new, list):
        for index, (left, right) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from json_differences(left, right, f"{pointer}/{index}")
    elif type(old) is not type(new) or old != new:
        yield pointer or "/", old, new


def _differences(
    recorded: Request, asked: Request, identities: tuple[Identity, Identity], key_headers: tuple[str, ...]
) -> Iterator[tuple[str, Any, Any]]:
    if recorded.method != asked.method:
        yield "method", recorded.method, asked.method
    old_path, _, old_query = recorded.target.partition("?")
    new_path, _, new_query = asked.target.partition("?")
    if old_path != new_path:
        yield "path", old_path, new_path
    yield from _field_differences("query", fields(old_query), fields(new_query))
    old_headers, new_headers = (key_headers_of(each.headers, key_headers) for each in (recorded, asked))
    yield from _field_differences("header", grouped(old_headers), grouped(new_headers))
    if identities[0] != identities[1]:
        yield "credential", ", ".join(identities[0]) or ABSENT, ", ".join(identities[1]) or ABSENT
    yield from _body_differences(recorded, asked)


def _body_differences(recorded: Request, asked: Request) -> Iterator[tuple[str, Any, Any]]:
    if recorded.body == asked.body:
        return
    if body_kind(header(asked.headers, "content-type") or "") == "form":
        yield from _field_differences("form", fields(_text(recorded.body)), fields(_text(asked.body)))
        return
    parts = _parts(recorded), _parts(asked)
    if parts[0] is not None and parts[1] is not None:
        yield from _part_differences(parts[0], parts[1])
        return
    old, new = body_value(recorded.headers, recorded.body), body_value(asked.headers, asked.body)
    differences = [(f"body {where}", left, right) for where, left, right in json_differences(old, new)]
    if not differences and canonical_body(recorded.headers, recorded.body) == canonical_body(asked.headers, asked.body):
        return
    yield from differences or [("body", f"{len(recorded.body)} bytes", f"{len(asked.body)} other bytes")]


def _parts(request: Request) -> list[Part] | None:
    """The parts of a multipart body; None of any other."""
    content_type = header(request.headers, "content-type") or ""
    if body_kind(content_type) != "multipart":
        return None
    plain = decoded(request.body, header(request.headers, "content-encoding"))
    return None if plain is None else multipart_parts(content_type, plain)


def _part_differences(old: Sequence[Part], new: Sequence[Part]) -> Iterator[tuple[str, Any, Any]]:
    """Of two multipart bodies whatever differs in a part; the boundary is none of it."""
    for number, (left, right) in enumerate(zip_longest(old, new)):
        part = left or right
        name = (part.name if part else "") or str(number)
        if left is None or right is None:
            yield f"part {name}", _size(left), _size(right)
            continue
        yield from _field_differences(f"part {name}", grouped(left.headers), grouped(right.headers))
        if left.content != right.content:
            yield f"part {name}", *_contents(left.content, right.content)


def _size(part: Part | None) -> Any:
    return ABSENT if part is None else f"{len(part.content)} bytes"


def _contents(old: bytes, new: bytes) -> tuple[str, str]:
    """Two contents as texts, or their sizes where one is none."""
    try:
        return old.decode(), new.decode()
    except UnicodeDecodeError:
        return f"{len(old)} bytes", f"{len(new)} other bytes"


def _field_differences(kind: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys((*old, *new)):
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if left != right:
            yield f"{kind} {name}", left, right


def fields(query: str) -> dict[str, Any]:
    """The fields of a query or a form by name; of a name that is repeated, the list of its values."""
    pairs = sorted_pairs(query.encode("utf-8", "surrogateescape")) if query else ()
    return grouped((_exact_text(name), None if value is None else _exact_text(value)) for name, value in pairs)


def grouped(pairs: Iterable[tuple[str, str | None]]) -> dict[str, Any]:
    """Pairs by name; of a name that is repeated, the list of its values."""
    found: dict[str, list[str | None]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _exact_text(data: bytes) -> str:
    """Different for different bytes, those that are no UTF-8 included."""
    return data.decode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def shown_value(value: Any, other: Any = None) -> str:
    """A value in short. Of two long texts, the place where they part is shown."""
    if value is ABSENT:
        return "nothing"
    text = readable(json.dumps(value, ensure_ascii=False))
    if len(text) <= _SHOWN:
        return text
    start = 0
    if isinstance(value, str) and isinstance(other, str):
        shorter = min(len(value), len(other))  # where one goes on from the other, its end is the place
        same = next((at for at, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), shorter)
        start = max(0, same - _SHOWN // 4)
    cut = text[start : start + _SHOWN]
    return f"{'...' if start else ''}{cut}..."
