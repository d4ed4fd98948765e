"""What one interaction says, without what differs between two recordings of the same: the form that a diff compares.

Not read at all: request headers that choose no answer, the response headers below, the reason phrase, times, the
order of headers, content codings, spaces and the order of keys in JSON, the order of names in a query or form, and
the boundary of multipart. `docs/diff.md` has this list for users.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from proctor.canonical import Part, canonical_body, canonical_json, multipart_parts
from proctor.credentials import credentials_of
from proctor.diff import fields, grouped
from proctor.encoding import decoded
from proctor.forgiving import LeftOut
from proctor.interaction import Headers, Interaction, header, readable
from proctor.matchkey import key_headers_of
from proctor.trace import TraceRow

UNREAD_HEADERS = frozenset(
    """
    date age server via connection keep-alive transfer-encoding content-length content-encoding alt-svc server-timing
    request-id x-request-id x-correlation-id x-trace-id traceparent tracestate
    x-amzn-trace-id x-amzn-requestid x-amz-request-id x-amz-id-2 x-ms-request-id apim-request-id
    x-runtime x-response-time x-served-by x-timer x-envoy-upstream-service-time openai-processing-ms cf-ray
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
"""Response headers that say when, by which machine or over which connection, and not what."""
UNREAD_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")
"""How response headers begin that count what an account has left."""
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d[ -][A-Z][a-z]{2}[ -]\d{4} \d\d:\d\d:\d\d GMT")


@dataclass(frozen=True, slots=True)
class Reading:
    """One interaction, or one row of a trace. `asked`, `answer` and `effect` are plain values, compared by pointer."""

    index: int
    service: str
    name: str
    """How a person calls the call: its tool, else method and path."""
    asked: dict[str, Any]
    """`method`, `path`, `query`, `header`, `credential`, `body`; what is absent from the request is absent here."""
    answer: dict[str, Any]
    """`status`, `header`, `body`, `broke off`, `stand-in`; or `refused` with a code, where a session gave none."""
    effect: str | None
    """`read`, `write (guessed)`, ...; None where it is not known."""
    started: float
    seconds: float
    beside: frozenset[int] | None
    """Earlier interactions that had no answer yet when this one began; None where only the times tell."""
    masked: tuple[LeftOut, ...] = ()
    """What is masked in `asked`, for it is declared to differ in each run."""


def reading(interaction: Interaction, key_headers: Iterable[str] = ()) -> Reading:
    """What an interaction of a tape says. `key_headers` are the declared ones, in lower case."""
    request, response = interaction.request, interaction.response
    path, _, query = request.target.partition("?")
    asked = {
        "method": request.method,
        "path": path,
        "query": fields(query),
        "header": grouped(key_headers_of(request.headers, key_headers)),
        "credential": {each.kind: each.value for each in credentials_of(request.headers)},
    }
    answer = {
        "status": response.status,
        "header": grouped(_read_headers(response.headers)),
        "broke off": None if response.complete else True,
        "stand-in": interaction.stand_in,
    }
    return Reading(
        index=interaction.index,
        service=request.service,
        name=interaction.tool or f"{request.method} {readable(path)}",
        asked=_known(asked) | _body(request.headers, request.body),
        answer=_known(answer) | _body(response.headers, response.body),
        effect=_effect(interaction.effect, interaction.effect_why),
        started=interaction.started,
        seconds=interaction.seconds,
        beside=frozenset(interaction.beside),
    )


def row_reading(row: TraceRow) -> Reading:
    """What a row of a trace says: a trace keeps no headers, and bodies as values."""
    path, _, query = row.target.partition("?")
    asked = {"method": row.method, "path": path, "query": fields(query), "body": exact(row.arguments)}
    answer = {"status": row.status, "body": exact(row.result), "broke off": row.cut or None, "stand-in": row.stand_in}
    if row.source == "refused":
        answer = {"refused": (row.error or {}).get("code", "unknown")}
    return Reading(
        index=row.index,
        service=row.service,
        name=row.tool or f"{row.method} {readable(path)}",
        asked=_known(asked),
        answer=_known(answer),
        effect=_effect(row.effect, row.effect_why) if row.effect and row.effect_why else None,
        started=row.started,
        seconds=row.seconds,
        beside=None,
    )


def exact(value: Any) -> Any:
    """A value from JSON, with the exact numbers that canonical JSON has."""
    if value is None:
        return None
    form = canonical_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return value if form is None else _loaded(form)


def body_reading(headers: Headers, body: bytes) -> Any:
    """What a body says: the value of JSON, the fields of a form, the parts of multipart, the events of a stream, text.

    Of other bytes, their length and digest.
    """
    kind, form = canonical_body(headers, body)
    if kind == "json":
        return _loaded(form)
    plain = decoded(body, header(headers, "content-encoding"))
    content_type = header(headers, "content-type") or ""
    if plain is None:
        return _digest(body)
    if kind == "form":
        return fields(plain.decode("utf-8", "surrogateescape"))
    if kind == "multipart":
        return [_part(part) for part in multipart_parts(content_type, plain) or ()]
    if content_type.partition(";")[0].strip().lower() == "text/event-stream":
        return _events(plain)
    return _text(plain)


def fingerprint(value: Any) -> str:
    """Equal for values that are equal."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _known(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value is not None}


def _body(headers: Headers, body: bytes) -> dict[str, Any]:
    return {"body": body_reading(headers, body)} if body else {}


def _effect(effect: str, why: str) -> str:
    return f"{effect} (guessed)" if why == "guessed" else effect


def _read_headers(headers: Headers) -> list[tuple[str, str]]:
    named = sorted(((name.lower(), value) for name, value in headers), key=lambda pair: pair[0])
    return [
        (name, _HTTP_DATE.sub("(a date)", value))
        for name, value in named
        if name not in UNREAD_HEADERS and not name.startswith(UNREAD_PREFIXES)
    ]


def _loaded(form: bytes) -> Any:
    return json.loads(form.decode("utf-8", "surrogatepass"))


def _part(part: Part) -> dict[str, Any]:
    return {"header": [f"{name}: {value}" for name, value in part.headers], "content": _text(part.content)}


def _events(plain: bytes) -> Any:
    """The events of a stream, without comments; of each the fields, and `data` as a value where it is JSON."""
    text = _text(plain)
    if not isinstance(text, str):
        return text
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return [event for event in map(_event, blocks) if event]


def _event(block: str) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        if name:
            found.setdefault(name, []).append(value.removeprefix(" "))
    told: dict[str, Any] = {name: "\n".join(values) for name, values in found.items()}
    form = canonical_json(told["data"].encode("utf-8", "surrogatepass")) if "data" in told else None
    return told if form is None else {**told, "data": _loaded(form)}


def _text(plain: bytes) -> Any:
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return _digest(plain)


def _digest(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "digest": blake2b(data, digest_size=8).hexdigest()}
