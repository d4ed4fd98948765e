"""The resource `_events` of a session: what no wire shows, told by the agent itself.

    POST /s/SESSION/_events  one event or a list of them (see `proctor.events`)  -> EventsAnswer

All of a body is taken or nothing. What is taken stands in the journal or the trace before the answer goes out. It is no
exchange: it is on no tape, and a session that told something has asked nothing by it. Errors are ErrorAnswers: 400
`bad_json`, `unknown_kind`, `unknown_field`, `bad_request`, `body_cut`; 404 `unknown_route`; 405 `method_not_allowed`;
409 `too_many_events`; 410 `session_closed`; 413 `body_too_large`, `event_too_large`. Each means that something which
the agent told was dropped: a check that reads events could then be green for want of one, so the session fails.
"""

from __future__ import annotations

import json
import time
from typing import Any

from aiohttp import web

from proctor.errors import SessionError, UsageError, nearest
from proctor.events import AGENT, KINDS, Told
from proctor.http_server import formed
from proctor.proxy import answers
from proctor.proxy.session import Session, session_closed
from proctor.trajectories.file import json_of
from proctor.wire import ErrorAnswer, EventsAnswer

EVENT_BYTES = 64 * 1024
"""Of one event, as the trace has it."""
BODY_BYTES = 1024 * 1024
SESSION_EVENTS = 1000
_STATUSES = {
    "unknown_route": 404,
    "method_not_allowed": 405,
    "too_many_events": 409,
    "body_too_large": 413,
    "event_too_large": 413,
}
"""Of errors by code; any other is 400."""
_SHAPE = '{"kind": "note", "data": ...}, or a list of such; the kinds are in docs/trajectory.md'


def answer(session: Session, method: str, path: str, body: bytes | UsageError) -> web.Response:
    """See the module."""
    if session.settled:
        return _refused(410, session_closed(session.id))
    count = 1
    try:
        _check_address(method, path)
        values = _values_of(body)
        count = max(1, len(values))
        _check_room(session, len(values))
        told = [_told(value, f"event {place}: " if count > 1 else "") for place, value in enumerate(values)]
    except UsageError as error:
        if method not in ("GET", "HEAD", "OPTIONS"):
            session.dropped(error, count)
        return _refused(_STATUSES.get(error.code, 400), error)
    for each in told:
        session.told(_row(session, each))
    session.written()
    return answers.of_model(EventsAnswer(taken=len(told), left=SESSION_EVENTS - session.tally.events))


def _check_address(method: str, path: str) -> None:
    if path not in ("", "/"):
        raise UsageError("unknown_route", f"a session has no _events{path}", "POST to .../_events")
    if method != "POST":
        raise UsageError("method_not_allowed", f"_events takes POST, not {method}", "POST to .../_events")


def _check_room(session: Session, count: int) -> None:
    if session.tally.events + count > SESSION_EVENTS:
        why = f"a session takes {SESSION_EVENTS} events, has {session.tally.events}, and {count} more came"
        raise UsageError("too_many_events", why, "tell what a check or a person will read, not every step")


def _values_of(body: bytes | UsageError) -> list[Any]:
    """The events of a body, as plain data."""
    if isinstance(body, UsageError):
        raise body
    try:
        value = json_of(body)
    except ValueError as error:
        raise UsageError("bad_json", f"the body is no JSON that can be kept: {error}", f"send {_SHAPE}") from None
    return value if isinstance(value, list) else [value]


def _told(value: Any, where: str) -> Told:
    """One event. The error says which of several it is."""
    try:
        if not isinstance(value, dict):
            raise UsageError("bad_request", "an event is a JSON object", f"send {_SHAPE}")
        kind = value.get("kind")
        if not isinstance(kind, str):
            raise UsageError("bad_request", "kind: a text is needed", nearest("", KINDS))
        if kind not in KINDS:
            raise UsageError("unknown_kind", f'kind: there is no "{kind[:80]}"', nearest(kind[:80], KINDS))
        _check_size(value)
        return formed(KINDS[kind], value)
    except UsageError as error:
        error.message = where + error.message
        raise


def _check_size(value: Any) -> None:
    size = len(json.dumps(value, ensure_ascii=False).encode())
    if size > EVENT_BYTES:
        raise UsageError("event_too_large", f"an event has at most {EVENT_BYTES} bytes, this one {size}", "tell less")


def _row(session: Session, told: Told) -> dict[str, Any]:
    return {
        "index": session.next_index(),
        "session": session.id,
        "source": AGENT,
        "started": round(time.perf_counter() - session.began, 6),
        **told.model_dump(exclude_unset=True),
    }


def _refused(status: int, error: UsageError | SessionError) -> web.Response:
    headers = {"Allow": "POST"} if status == 405 else None
    return answers.of_error(status, ErrorAnswer(code=error.code, message=error.message, fix=error.fix), headers)
