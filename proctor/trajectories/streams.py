"""Streamed LLM answers put together: the body that the API would have given unstreamed. Never raises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from proctor.trajectories.response_streams import response_body


class Assembled(NamedTuple):
    """An answer, whether its stream came to its end, and the error that it told instead."""

    body: dict[str, Any]
    whole: bool
    error: Any = None


def assembled(text: str) -> Assembled | None:
    """The answer of an event stream of a known API, or as much of it as came; None for any other text.

    A stream that tells nothing but an error could be anybody's: its body is empty.
    """
    events = list(_events(text))
    kinds = {event.get("type") for event in events if isinstance(event.get("type"), str)}
    error = next((event.get("error") or event for event in events if _tells_error(event)), None)
    if "message_start" in kinds:
        return Assembled(_anthropic(events), "message_stop" in kinds, error)
    if any(str(kind).startswith("response.") for kind in kinds):
        ended = not kinds.isdisjoint({"response.completed", "response.incomplete", "response.failed"})
        return Assembled(response_body(events), ended, error)
    if any(isinstance(event.get("choices"), list) for event in events):
        return Assembled(_chat(events), _chat_ended(text, events), error)
    return Assembled({}, False, error) if error else None


def _tells_error(event: dict[str, Any]) -> bool:
    return bool(event.get("error")) or event.get("type") == "error"


def _events(text: str) -> Iterator[dict[str, Any]]:
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        try:
            event = json.loads("\n".join(lines)) if lines else None
        except (ValueError, RecursionError):  # [DONE], or the last piece of a cut stream
            continue
        if isinstance(event, dict):
            yield event


def _chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    answer: dict[str, Any] = {"object": "chat.completion", "usage": None}
    for event in events:
        answer.update({key: event[key] for key in ("id", "model", "usage") if event.get(key)})
        for choice in _first_choices(event):
            delta = _dict(choice.get("delta"))
            for key in ("content", "reasoning_content", "refusal"):
                if isinstance(delta.get(key), str):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in _dicts(delta.get("tool_calls")):
                _add_call(calls, piece)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**answer, "choices": [{"index": 0, "message": message}]}


def _chat_ended(text: str, events: list[dict[str, Any]]) -> bool:
    """By its last line, which some gateways leave out, or by the reason why the model stopped."""
    return "data: [DONE]" in text or any(
        choice.get("finish_reason") for event in events for choice in _first_choices(event)
    )


def _first_choices(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Without the other samples of the same question."""
    yield from (choice for choice in _dicts(event.get("choices")) if choice.get("index", 0) == 0)


def _add_call(calls: dict[int, dict[str, Any]], piece: dict[str, Any]) -> None:
    index = piece.get("index")
    call = calls.setdefault(
        index if isinstance(index, int) else len(calls), {"id": "", "function": {"name": "", "arguments": ""}}
    )
    call["id"] = piece.get("id") or call["id"]
    function = piece.get("function")
    for key in ("name", "arguments"):
        if isinstance(function, dict) and isinstance(function.get(key), str):
            call["function"][key] += function[key]


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    partial: dict[int, str] = {}
    for event in events:
        kind, index, delta = event.get("type"), event.get("index"), event.get("delta")
        index = index if isinstance(index, int) else 0
        if kind == "message_start" and isinstance(event.get("message"), dict):
            message = {**event["message"]}
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[index] = {**event["content_block"]}
        elif kind == "content_block_delta" and isinstance(delta, dict) and index in blocks:
            _add_delta(blocks[index], partial, index, delta)
        elif kind == "message_delta":
            usage = {**_dict(message.get("usage")), **_dict(event.get("usage"))}
            message = {**message, **_dict(delta), "usage": usage or None}
    for index, text in partial.items():
        blocks[index]["input"] = text
    return {**message, "type": "message", "content": [blocks[index] for index in sorted(blocks)]}


def _add_delta(block: dict[str, Any], partial: dict[int, str], index: int, delta: dict[str, Any]) -> None:
    for key in ("text", "thinking"):
        if isinstance(delta.get(key), str):
            block[key] = str(block.get(key) or "") + delta[key]
    if isinstance(delta.get("partial_json"), str):
        partial[index] = partial.get(index, "") + delta["partial_json"]


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
