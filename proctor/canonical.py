"""Two requests that mean the same have the same canonical form; two that may differ never have.

JSON is compared as values (key order and white space do not count; 1, 1.0 and true differ; numbers are exact at any
length), forms and queries by field, multipart by its parts without the boundary. Whatever cannot be read without
doubt (duplicate keys, NaN, numbers past any float, lone surrogates, broken UTF-8) is compared as bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from email.message import Message
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from proctor.encoding import decoded
from proctor.interaction import Headers, header

Pairs = tuple[tuple[bytes, bytes | None], ...]

# Marks an exact decimal inside the canonical JSON. A lone surrogate cannot occur in a string that got this far.
_DECIMAL_MARK = "\ud800"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class InDoubt(ValueError):
    """A JSON text whose meaning is not the same for every reader."""


def canonical_body(headers: Headers, body: bytes) -> tuple[str, bytes]:
    """The kind of a body (`empty`, `json`, `form`, `multipart`, `raw`) and its canonical bytes."""
    if not body:
        return "empty", b""
    plain = decoded(body, header(headers, "content-encoding"))
    if plain is None:
        return "raw", body
    content_type = header(headers, "content-type") or ""
    kind = body_kind(content_type)
    form: bytes | None = None
    if kind == "json":
        form = canonical_json(plain)
    elif kind == "form":
        form = repr(sorted_pairs(plain)).encode()
    elif kind == "multipart":
        parts = multipart_parts(content_type, plain)
        form = repr(parts).encode() if parts is not None else None
    return (kind, form) if form is not None else ("raw", plain)


def body_kind(content_type: str) -> str:
    """How a body of this content type is compared. Without a type it is tried as JSON."""
    media = content_type.partition(";")[0].strip().lower()
    if not media or "json" in media:
        return "json"
    if media == "application/x-www-form-urlencoded":
        return "form"
    if media.startswith("multipart/"):
        return "multipart"
    return "raw"


def canonical_json(body: bytes) -> bytes | None:
    """Canonical bytes of a JSON text, or None where its meaning is in doubt."""
    try:
        return canonical_form(exact_json(body))
    except InDoubt:
        return None


def exact_json(body: bytes) -> Any:
    """The value of a JSON text; a number with a point or an exponent is a text that says it exactly. Raises InDoubt."""
    try:
        text = body.decode("utf-8")
        if _SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(text):
            raise InDoubt("a lone surrogate")
        return json.loads(
            text, object_pairs_hook=_unique_keys, parse_float=_exact_decimal, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise InDoubt(str(error)) from error


def canonical_form(value: Any) -> bytes:
    """The canonical bytes of what `exact_json` read. Raises InDoubt for a value that is nested past any use."""
    try:
        dumped = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise InDoubt(str(error)) from error
    return dumped.encode("utf-8", "surrogatepass")


def with_floats(value: Any) -> Any:
    """A value read from canonical JSON, with floats where that has exact decimals: for people to see."""
    return with_texts(value, _float)


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with something else for each of its texts; keys stay."""
    if isinstance(value, dict):
        return {key: with_texts(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [with_texts(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


def _float(text: str) -> Any:
    if not text.startswith(_DECIMAL_MARK):
        return text
    digits, _, exponent = text.removeprefix(_DECIMAL_MARK).partition("e")
    return float(f"{digits}e{exponent}") if digits.strip("-") else 0.0


def sorted_pairs(query: bytes) -> Pairs:
    """Fields of a query or form, decoded and sorted by name; the order within one name is kept.

    A field without `=` has the value None, which is not the empty value.
    """
    pairs: list[tuple[bytes, bytes | None]] = []
    for field in query.split(b"&"):
        name, equals, value = field.partition(b"=")
        pairs.append((_unquoted(name), _unquoted(value) if equals else None))
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


class Part(NamedTuple):
    """One part of a multipart body; `headers` are sorted, their names in lower case."""

    headers: Headers
    content: bytes

    @property
    def name(self) -> str:
        """The name of the form's field; empty for a part that has none."""
        message = Message()
        message["content-disposition"] = header(self.headers, "content-disposition") or ""
        name = message.get_param("name", "", "content-disposition")
        return name if isinstance(name, str) else ""


def multipart_parts(content_type: str, body: bytes) -> list[Part] | None:
    """Each part; None if the body is not as it announces."""
    boundary = _boundary(content_type)
    if not boundary:
        return None
    delimiter = b"--" + boundary
    preamble, *sections = (b"\r\n" + body).split(b"\r\n" + delimiter)
    if preamble.strip() or not sections or not sections[-1].startswith(b"--"):
        return None
    parts = []
    for section in sections[:-1]:
        head, blank, content = section.partition(b"\r\n\r\n")
        if not blank or not section.startswith(b"\r\n"):
            return None
        parts.append(Part(_part_headers(head), content))
    return parts


def _boundary(content_type: str) -> bytes:
    message = Message()
    message["content-type"] = content_type
    try:
        return (message.get_boundary() or "").encode("ascii")
    except (UnicodeEncodeError, ValueError):
        return b""


def _part_headers(head: bytes) -> Headers:
    lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    return tuple(sorted((name.strip().lower(), value.strip()) for name, _, value in pairs))


def _unquoted(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("duplicate key")
    return unique


def _exact_decimal(text: str) -> str:
    """`1.0`, `1.00` and `10e-1` are one number, and none of them is the integer 1."""
    number = Decimal(text)
    if number and number.adjusted() > 308:
        raise ValueError("beyond any float: receivers would disagree")
    sign, digits, exponent = number.as_tuple()
    stripped = "".join(map(str, digits)).rstrip("0")
    shift = len(digits) - len(stripped)
    return f"{_DECIMAL_MARK}{'-' if sign else ''}{stripped}e{int(exponent) + shift if stripped else 0}"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _has_lone_surrogate(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
