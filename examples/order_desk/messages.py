"""Anthropic messages, as the stand-in model reads and writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from examples.order_desk.asked import (
    MODEL,
    Asked,
    Json,
    RejectedError,
    check_messages,
    dumps,
    fresh_id,
    list_of,
    name_of,
    named_event,
    pieces,
    tool_names,
)
from examples.order_desk.plans import Call, Move

KINDS = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}
NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}
"""Clients of this API cannot do without numbers, and rules use no tokens."""


def read(request: Json) -> Asked:
    """What a request asks. Raises RejectedError for one that Anthropic would refuse."""
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise RejectedError(400, "max_tokens: must be a positive integer.", param="max_tokens")
    said = request.get("messages")
    if not isinstance(said, list) or not said:
        raise RejectedError(400, "messages: at least one message is required.", param="messages")
    system = {"role": "system", "content": request.get("system")}
    messages = [system, *(each for index, message in enumerate(said) for each in _messages(message, index))]
    check_messages(messages)
    choice = request.get("tool_choice")
    choice = choice if isinstance(choice, dict) else {}
    return Asked(
        messages,
        tool_names(list_of(request, "tools")) if choice.get("type") != "none" else frozenset(),
        parallel=choice.get("disable_parallel_tool_use") is not True,
    )


def whole(move: Move) -> Json:
    """A whole answer."""
    return {**_head(), "content": _blocks(move), "stop_reason": _stop(move)}


def events(move: Move) -> Iterator[str]:
    """The same answer as named events: each block opened, filled and closed."""
    yield named_event({"type": "message_start", "message": _head()})
    for index, block in enumerate(_blocks(move)):
        key, empty, kind, text = _streamed(block)
        yield named_event({"type": "content_block_start", "index": index, "content_block": {**block, key: empty}})
        for piece in pieces(text):
            delta = {"type": f"{kind}_delta", "partial_json" if kind == "input_json" else "text": piece}
            yield named_event({"type": "content_block_delta", "index": index, "delta": delta})
        yield named_event({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": _stop(move), "stop_sequence": None}
    yield named_event({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 0}})
    yield named_event({"type": "message_stop"})


def error_body(error: RejectedError) -> Json:
    """The shape in which Anthropic words an error."""
    kind = KINDS.get(error.status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}}


def _messages(message: Any, index: int) -> Iterator[Json]:
    """One message as chat messages: results of tools come before what the user says beside them."""
    at = f"messages[{index}]"
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise RejectedError(400, f"{at}.role: must be user or assistant.", param=f"{at}.role")
    content = message.get("content")
    if isinstance(content, str):
        yield {"role": message["role"], "content": content}
        return
    blocks = [block for block in list_of(message, "content", f"{at}.") if isinstance(block, dict)]
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": block.get("content")}
    text = [block for block in blocks if block.get("type") == "text"]
    calls = [_call(block, at) for block in blocks if block.get("type") == "tool_use"]
    if text or calls:
        yield {"role": message["role"], "content": text, "tool_calls": calls}


def _call(block: Json, at: str) -> Json:
    if not isinstance(block.get("input"), dict):
        raise RejectedError(400, f"{at}.content.tool_use.input: must be an object.", param=at)
    return {"id": block.get("id"), "function": {"name": name_of(block, at), "arguments": dumps(block["input"])}}


def _streamed(block: Json) -> tuple[str, Any, str, str]:
    """A block's field that is streamed, what that starts as, the kind of its deltas, and all their text."""
    if block["type"] == "text":
        return "text", "", "text", block["text"]
    return "input", {}, "input_json", dumps(block["input"])


def _blocks(move: Move) -> list[Json]:
    return [{"type": "text", "text": move}] if isinstance(move, str) else [_tool_use(call) for call in move]


def _tool_use(call: Call) -> Json:
    return {"type": "tool_use", "id": fresh_id("toolu_"), "name": call.tool, "input": call.arguments}


def _stop(move: Move) -> str:
    return "end_turn" if isinstance(move, str) else "tool_use"


def _head() -> Json:
    return {
        "id": fresh_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": NO_TOKENS,
    }
