"""Answers that are wrong in a planned way: empty, malformed, of a wrong type, cut. Pure; a draw decides where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from proctor.encoding import decoded, encoded
from proctor.interaction import Response, header
from proctor.redaction.digests import remeasured

Spoilt = Literal["empty", "malformed", "wrong_type", "truncated"]
SPOILT: frozenset[str] = frozenset({"empty", "malformed", "wrong_type", "truncated"})
"""Kinds of fault that are a whole answer made wrong."""
Draw = Callable[[int], int]
"""Gives a number below its argument."""

_EVENT_DATA = re.compile(rb"(?m)^data: ?(\{.*\})\r?$")
_TELLING = ("choices", "content", "output", "data")
"""Fields that an LLM's answer is in: a wrong type elsewhere would go unnoticed."""
_PIECE = "delta"
"""The field that a piece of the answer is in, in the events of a stream."""
_IN_PIECE = b'"delta"'
_NO_OBJECT = b'{"result": '


def spoilt(kind: Spoilt, whole: Response, draw: Draw) -> Response | None:
    """An answer made wrong; None for one that cannot be looked into, as its coding is unknown."""
    if kind == "truncated":
        return _truncated(whole, draw)
    coding = header(whole.headers, "content-encoding")
    plain = decoded(whole.body, coding)
    if plain is None:
        return None
    events = (header(whole.headers, "content-type") or "").startswith("text/event-stream")
    body = encoded(_in_events(kind, plain, draw) if events else _WRONG[kind](plain, draw), coding)
    headers = remeasured(whole.headers, whole.body, body)
    return replace(whole, headers=headers, body=body, pieces=None, complete=True)


def _truncated(whole: Response, draw: Draw) -> Response:
    """The second half of the body never comes, though the head announces it; of events, none is cut in its middle."""
    body = whole.body
    at = len(body) // 4 + draw(max(len(body) // 2, 1))
    if (header(whole.headers, "content-type") or "").startswith("text/event-stream"):
        at = body.rfind(b"\n\n", 0, at) + 2 if b"\n\n" in body[:at] else at
    return replace(whole, body=body[:at], pieces=None, complete=False)


def _in_events(kind: Spoilt, body: bytes, draw: Draw) -> bytes:
    """A stream of events with one of them made wrong; an empty one has none."""
    found = list(_EVENT_DATA.finditer(body))
    if kind == "empty" or not found:
        return b""
    if kind == "wrong_type":
        found = [event for event in found if _IN_PIECE in event[1]] or found
    chosen = found[draw(len(found))]
    data = _WRONG[kind](chosen[1], draw)
    return body[: chosen.start(1)] + data + body[chosen.end(1) :]


def _emptied(body: bytes, draw: Draw) -> bytes:
    """Each list of an object has nothing in it; an object without lists has no field, and a text no letter.

    What is empty already becomes emptier: a fault that fires is one.
    """
    value = _json(body)
    if not value or not isinstance(value, dict | list):
        return b""
    if isinstance(value, list):
        return b"[]"
    lists = [name for name, inner in value.items() if isinstance(inner, list) and inner]
    return _dumped({**value, **{name: [] for name in lists}}) if lists else b"{}"


def _malformed(body: bytes, draw: Draw) -> bytes:
    """JSON that ends too soon, with a length that says it is whole."""
    stripped = body.strip()
    if not stripped.startswith((b"{", b"[")):
        return _NO_OBJECT
    half = len(stripped) // 2
    return stripped[: half + draw(len(stripped) - half)] or _NO_OBJECT


def _wrong_type(body: bytes, draw: Draw) -> bytes:
    """JSON in which one field has a value of another type; what is no object is a value of another type itself."""
    value = _json(body)
    if not isinstance(value, dict) or not value:
        return _dumped(_other(value))
    telling = [name for name in _TELLING if isinstance(value.get(name), list)]
    telling = telling or [_PIECE] * (_PIECE in value)
    names = telling or [name for name, inner in value.items() if isinstance(inner, dict | list)] or list(value)
    name = names[draw(len(names))]
    return _dumped({**value, name: _other(value[name])})


def _other(value: Any) -> Any:
    """A value of another type that says as much."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return {str(place): inner for place, inner in enumerate(value)}
    if isinstance(value, str):
        return [value]
    return 0 if value is None else json.dumps(value)


_WRONG: dict[Spoilt, Callable[[bytes, Draw], bytes]] = {
    "empty": _emptied,
    "malformed": _malformed,
    "wrong_type": _wrong_type,
}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
