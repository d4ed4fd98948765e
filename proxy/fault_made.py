"""Answers made from nothing: errors as each API words them, and plain ones to be spoilt. Pure, always the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from proctor.fault_plan import Fault
from proctor.interaction import Request, Response
from proctor.wire import FAULT_HEADER

_JSON = "application/json"
_TEXT = "I have looked that up for you."
_MODEL = "model"

_OPENAI_TYPES = {401: ("invalid_request_error", "invalid_api_key"), 429: ("requests", "rate_limit_exceeded")}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_SAID = {
    401: "The access token has expired.",
    429: "Rate limit reached. Please try again later.",
    500: "The server had an error while processing your request.",
    503: "The service is overloaded. Please try again later.",
    529: "Overloaded",
}


def error_answer(shape: str, fault: Fault) -> Response:
    """The answer of the kinds that are an error: `error`, `rate_limited`, `expired_token`; as the API words it."""
    more: list[tuple[str, str]] = []
    status = fault.answer_status
    if fault.kind == "rate_limited":
        status = 429
        more = [("Retry-After", str(fault.wait))]
    elif fault.kind == "expired_token":
        status = 401
        challenge = 'Bearer error="invalid_token", error_description="The access token expired"'
        more = [("WWW-Authenticate", challenge)]
    body: Any = fault.body if fault.body is not None else _worded(shape, status, fault.kind == "expired_token")
    if isinstance(body, str):
        return _answer(status, body.encode("utf-8", "surrogatepass"), "text/plain; charset=utf-8", more)
    return _answer(status, _dumped(body), _JSON, more)


def whole_answer(shape: str, request: Request) -> Response:
    """A plain answer that is right: a short text of a model's, in a stream where it asks for one; else of a tool."""
    asked = _object(request.body)
    path = request.target.partition("?")[0]
    events: list[tuple[str, Mapping[str, Any]]]
    if shape == "openai" and path.endswith("/responses"):
        body, events = _openai_response()
    elif shape == "openai":
        body, events = _openai_chat()
    elif shape == "anthropic":
        body, events = _anthropic_message()
    else:
        body, events = {"status": "ok", "result": {"id": 1, "items": [1, 2, 3]}}, []
    if events and asked.get("stream") is True:
        named = shape == "anthropic" or path.endswith("/responses")
        text = "".join(
            f"event: {name}\ndata: {json.dumps(data)}\n\n" if named else _data(data) for name, data in events
        )
        return _answer(200, (text if named else f"{text}data: [DONE]\n\n").encode(), "text/event-stream", ())
    return _answer(200, _dumped(body), _JSON, ())


def with_mark(response: Response, kind: str) -> Response:
    """The answer with the header by which a person sees that it is a fault."""
    kept = tuple(pair for pair in response.headers if pair[0].lower() != FAULT_HEADER)
    return Response(
        response.status, response.reason, (*kept, (FAULT_HEADER, kind)), response.body, response.complete, None
    )


def _worded(shape: str, status: int, expired: bool) -> dict[str, Any]:
    message = _SAID.get(status, HTTPStatus(status).phrase if status in set(HTTPStatus) else f"error {status}")
    if shape == "openai":
        server = ("server_error", None) if status >= 500 else ("invalid_request_error", None)
        kind, code = _OPENAI_TYPES.get(status, server)
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}
    if shape == "anthropic":
        kind = _ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fault"}
    code = (
        HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_") if status in set(HTTPStatus) else "error"
    )
    return {"error": "token_expired" if expired else code, "message": message}


_Made = tuple[dict[str, Any], list[tuple[str, Mapping[str, Any]]]]
"""A body, and the events that come in its stead in a stream."""


def _openai_chat() -> _Made:
    head = {"id": "chatcmpl-fault", "object": "chat.completion", "created": 0, "model": _MODEL}
    message = {"role": "assistant", "content": _TEXT}
    usage = {"prompt_tokens": 1, "completion_tokens": 8, "total_tokens": 9}
    body = {**head, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    chunk = {**head, "object": "chat.completion.chunk"}
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": word}, None) for word in _words()]
    deltas.append(({}, "stop"))
    events = [("", {**chunk, "choices": [{"index": 0, "delta": d, "finish_reason": f}]}) for d, f in deltas]
    return body, [*events]


def _openai_response() -> _Made:
    part = {"type": "output_text", "text": _TEXT, "annotations": []}
    item = {"id": "msg_fault", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    head: dict[str, Any] = {
        "id": "resp_fault", "object": "response", "created_at": 0, "model": _MODEL, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "status": "completed",
    }  # fmt: skip
    body = {**head, "output": [item]}
    begun = {
        "type": "response.created",
        "sequence_number": 0,
        "response": {**head, "status": "in_progress", "output": []},
    }
    place = {"item_id": "msg_fault", "output_index": 0, "content_index": 0, "logprobs": []}
    deltas = [
        {"type": "response.output_text.delta", "sequence_number": number, **place, "delta": word}
        for number, word in enumerate(_words(), 1)
    ]
    end = {"type": "response.completed", "sequence_number": len(deltas) + 1, "response": body}
    return body, [(str(event["type"]), event) for event in (begun, *deltas, end)]


def _anthropic_message() -> _Made:
    head: dict[str, Any] = {
        "id": "msg_fault", "type": "message", "role": "assistant", "model": _MODEL, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 8},
    }  # fmt: skip
    body = {**head, "content": [{"type": "text", "text": _TEXT}], "stop_reason": "end_turn"}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
            for word in _words()
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 8},
        },
        {"type": "message_stop"},
    ]
    return body, [(str(event["type"]), event) for event in events]


def _words() -> list[str]:
    first, *rest = _TEXT.split(" ")
    return [first, *(f" {word}" for word in rest)]


def _data(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _answer(status: int, body: bytes, content_type: str, more: Iterable[tuple[str, str]]) -> Response:
    reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    length = () if content_type == "text/event-stream" else (("Content-Length", str(len(body))),)
    return Response(status, reason, (("Content-Type", content_type), *length, *more), body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
