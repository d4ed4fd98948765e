"""OpenAI chat completions, as the stand-in model reads and writes them."""

from __future__ import annotations

import time
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
    openai_error,
    pieces,
)
from examples.order_desk.plans import Call, Move

error_body = openai_error


def read(request: Json) -> Asked:
    """What a request asks. Raises RejectedError for one that OpenAI would refuse."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RejectedError(400, "'messages' must be an array with at least one message.", param="messages")
    check_messages(messages)
    offered = frozenset(_function_name(tool, f"tools[{i}]") for i, tool in enumerate(list_of(request, "tools")))
    return Asked(
        messages,
        offered if request.get("tool_choice") != "none" else frozenset(),
        parallel=request.get("parallel_tool_calls") is not False,
    )


def whole(move: Move) -> Json:
    """A whole answer. No token count is made up: `usage` is null."""
    message: Json = {"role": "assistant", "content": move, "refusal": None}
    if not isinstance(move, str):
        message.update(content=None, tool_calls=[_tool_call(call) for call in move])
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(move)}
    return {**_head("chat.completion"), "choices": [choice], "usage": None}


def events(move: Move) -> Iterator[str]:
    """The same answer as a stream: unnamed events, then `[DONE]`."""
    yield from (f"data: {dumps(chunk)}\n\n" for chunk in _chunks(move))
    yield "data: [DONE]\n\n"


def _chunks(move: Move) -> Iterator[Json]:
    """Role, then text or each call's arguments piece by piece, then the finish reason."""
    head = _head("chat.completion.chunk")

    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]}

    if isinstance(move, str):
        yield chunk({"role": "assistant", "content": "", "refusal": None})
        for piece in pieces(move):
            yield chunk({"content": piece})
    else:
        opening: Json = {"role": "assistant", "content": None}
        for index, each in enumerate(move):
            call = _tool_call(each)
            arguments = call["function"]["arguments"]
            call["function"]["arguments"] = ""
            yield chunk({**opening, "tool_calls": [{"index": index, **call}]})
            opening = {}
            for piece in pieces(arguments):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(move))


def _function_name(tool: Any, at: str) -> str:
    return name_of(tool.get("function") if isinstance(tool, dict) else None, f"{at}.function")


def _head(kind: str) -> Json:
    """Ids and time as the real service has them: fresh on every answer."""
    return {"id": fresh_id("chatcmpl-"), "object": kind, "created": int(time.time()), "model": MODEL}


def _tool_call(call: Call) -> Json:
    return {
        "id": fresh_id("call_"),
        "type": "function",
        "function": {"name": call.tool, "arguments": dumps(call.arguments)},
    }


def _finish(move: Move) -> str:
    return "stop" if isinstance(move, str) else "tool_calls"
