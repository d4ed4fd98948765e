"""OpenAI Responses, as the stand-in model reads and writes them. It keeps no state between two requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
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
    named_event,
    openai_error,
    pieces,
    tool_names,
)
from examples.order_desk.plans import Call, Move

error_body = openai_error


def read(request: Json) -> Asked:
    """What a request asks. Raises RejectedError for one that OpenAI would refuse, or that needs what is not kept."""
    if request.get("previous_response_id") or request.get("conversation"):
        text = "This stand-in keeps no responses: send the whole input."
        raise RejectedError(400, text, param="previous_response_id")
    messages = _messages(request.get("input"))
    if isinstance(request.get("instructions"), str):
        messages.insert(0, {"role": "system", "content": request["instructions"]})
    check_messages(messages, "input")
    functions = [tool for tool in list_of(request, "tools") if not _hosted(tool)]
    return Asked(
        messages,
        tool_names(functions) if request.get("tool_choice") != "none" else frozenset(),
        parallel=request.get("parallel_tool_calls") is not False,
    )


def whole(move: Move) -> Json:
    """A whole answer. No token count is made up: `usage` is null."""
    return _response("completed", _output(move))


def events(move: Move) -> Iterator[str]:
    """The same answer as named events, numbered in order, each item opened, filled and closed."""
    number = count()
    done = whole(move)
    opening = {**done, "status": "in_progress", "output": []}

    def event(kind: str, fields: Json) -> str:
        return named_event({"type": f"response.{kind}", "sequence_number": next(number), **fields})

    yield event("created", {"response": opening})
    yield event("in_progress", {"response": opening})
    for index, item in enumerate(done["output"]):
        fill = _text_events if item["type"] == "message" else _call_events
        yield event("output_item.added", {"output_index": index, "item": _opened(item)})
        for kind, fields in fill(item):
            yield event(kind, {"item_id": item["id"], "output_index": index, **fields})
        yield event("output_item.done", {"output_index": index, "item": item})
    yield event("completed", {"response": done})


def _messages(items: Any) -> list[Json]:
    """Input items as chat messages; calls that follow one another are one message's."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    if not isinstance(items, list) or not items:
        raise RejectedError(400, "'input' must be a string or an array with at least one item.", param="input")
    messages: list[Json] = []
    for index, item in enumerate(items):
        kind = item.get("type", "message") if isinstance(item, dict) else None
        if kind == "message":
            messages.append({"role": item.get("role"), "content": item.get("content")})
        elif kind == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            if not messages or "tool_calls" not in messages[-1]:
                messages.append({"role": "assistant", "content": None, "tool_calls": []})
            messages[-1]["tool_calls"].append({"id": item.get("call_id"), "function": function})
        elif kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
        else:
            raise RejectedError(400, f"This stand-in reads no input of type {kind}.", param=f"input[{index}].type")
    return messages


def _hosted(tool: Any) -> bool:
    """A tool of OpenAI's own, which this stand-in never calls."""
    return isinstance(tool, dict) and tool.get("type") not in (None, "function")


def _output(move: Move) -> list[Json]:
    if isinstance(move, str):
        part = {"type": "output_text", "text": move, "annotations": [], "logprobs": []}
        return [
            {
                "id": fresh_id("msg_"),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        ]
    return [_call_item(call) for call in move]


def _call_item(call: Call) -> Json:
    return {
        "id": fresh_id("fc_"),
        "type": "function_call",
        "status": "completed",
        "call_id": fresh_id("call_"),
        "name": call.tool,
        "arguments": dumps(call.arguments),
    }


def _opened(item: Json) -> Json:
    empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
    return {**item, "status": "in_progress", **empty}


def _text_events(item: Json) -> Iterator[tuple[str, Json]]:
    part = item["content"][0]
    yield "content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield "output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
    yield "output_text.done", {"content_index": 0, "text": part["text"], "logprobs": []}
    yield "content_part.done", {"content_index": 0, "part": part}


def _call_events(item: Json) -> Iterator[tuple[str, Json]]:
    for piece in pieces(item["arguments"]):
        yield "function_call_arguments.delta", {"delta": piece}
    yield "function_call_arguments.done", {"name": item["name"], "arguments": item["arguments"]}


def _response(status: str, output: list[Json]) -> Json:
    return {
        "id": fresh_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }
