"""Streamed LLM answers put together: the body that the API would have given unstreamed. Never raises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def assembled(text: str) -> dict[str, Any] | None:
    """The whole answer of an event stream of a known API; None for any other text."""
    events = list(_events(text))
    kinds = {event.get("type") for event in events}
    if "message_start" in kinds:
        return _anthropic(events)
    if any(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return _responses(events)
    if any(isinstance(event.get("choices"), list) for event in events):
        return _chat(events)
    return None


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
        for choice in _dicts(event.get("choices")):
            if choice.get("index", 0) != 0:  # another sample of the same question
                continue
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                continue
            for key in ("content", "reasoning_content", "refusal"):
                if isinstance(delta.get(key), str):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in _dicts(delta.get("tool_calls")):
                _add_call(calls, piece)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**answer, "choices": [{"index": 0, "message": message}]}


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


def _responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    for event in reversed(events):
        if event.get("type") in {"response.completed", "response.incomplete", "response.failed"}:
            whole = event.get("response")
            if isinstance(whole, dict):
                return whole
    created = next((event.get("response") for event in events if event.get("type") == "response.created"), None)
    items = {event.get("output_index", 0): event.get("item") for event in events if _is_done(event)}
    known = created if isinstance(created, dict) else {}
    return {**known, "output": [items[index] for index in sorted(items, key=str)], "usage": None}


def _is_done(event: dict[str, Any]) -> bool:
    return event.get("type") == "response.output_item.done"


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[Any, dict[str, Any]] = {}
    partial: dict[Any, str] = {}
    for event in events:
        kind, index, delta = event.get("type"), event.get("index"), event.get("delta")
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
    return {**message, "type": "message", "content": [blocks[index] for index in sorted(blocks, key=str)]}


def _add_delta(block: dict[str, Any], partial: dict[Any, str], index: Any, delta: dict[str, Any]) -> None:
    for key in ("text", "thinking"):
        if isinstance(delta.get(key), str):
            block[key] = str(block.get(key) or "") + delta[key]
    if isinstance(delta.get("partial_json"), str):
        partial[index] = partial.get(index, "") + delta["partial_json"]


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
