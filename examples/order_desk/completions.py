"""The shapes of OpenAI's chat completions API that the stand-in model reads and writes."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

from examples.order_desk.plans import Call

MODEL = "stand-in-rules-1"
ROLES = ("system", "developer", "user", "assistant", "tool")
PIECE = 24  # characters of text or arguments in one streamed chunk

Json = dict[str, Any]


class RejectedError(Exception):
    """A request that OpenAI would refuse; `body` is its error shape."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        kind = "invalid_request_error"
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def check_request(request: Any) -> Json:
    """The request, once it is sure that planning cannot stumble over its form."""
    if not isinstance(request, dict):
        raise RejectedError(400, "The body must be a JSON object.")
    if not isinstance(request.get("model"), str):
        raise RejectedError(400, "You must provide a model parameter.", param="model")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RejectedError(400, "'messages' must be an array with at least one message.", param="messages")
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        waiting = _check_message(message, f"messages[{index}]", waiting)
    if waiting:
        raise _unanswered(f"messages[{len(messages) - 1}]", waiting)
    for index, tool in enumerate(_list(request, "tools", "")):
        _function_name(tool, f"tools[{index}]")
    if not isinstance(request.get("stream", False), bool | None):
        raise RejectedError(400, "'stream' must be a boolean.", param="stream")
    return request


def offered_tools(request: Json) -> frozenset[str]:
    """Names of the tools that may be called; none under `tool_choice: "none"`."""
    if request.get("tool_choice") == "none":
        return frozenset()
    return frozenset(tool["function"]["name"] for tool in request.get("tools") or ())


def completion(move: Call | str) -> Json:
    """A whole answer. No token count is made up: `usage` is null."""
    message: Json = {"role": "assistant", "content": move, "refusal": None}
    if isinstance(move, Call):
        message.update(content=None, tool_calls=[_tool_call(move)])
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(move)}
    return {**_head("chat.completion"), "choices": [choice], "usage": None}


def chunks(move: Call | str) -> Iterator[Json]:
    """The same answer as a stream: role, then text or arguments piece by piece, then the finish reason."""
    head = _head("chat.completion.chunk")

    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]}

    if isinstance(move, Call):
        call = _tool_call(move)
        arguments = call["function"]["arguments"]
        call["function"]["arguments"] = ""
        opening = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call}]}
        yield chunk(opening)
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    else:
        yield chunk({"role": "assistant", "content": "", "refusal": None})
        for piece in _pieces(move):
            yield chunk({"content": piece})
    yield chunk({}, _finish(move))


def _check_message(message: Any, at: str, waiting: set[str]) -> set[str]:
    """Checks one message; `waiting` are the tool calls still to be answered, before and (returned) after."""
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        raise RejectedError(400, f"'{at}.role' must be one of {', '.join(ROLES)}.", param=f"{at}.role")
    if not isinstance(message.get("content"), str | list | None):
        raise RejectedError(400, f"'{at}.content' must be a string or an array.", param=f"{at}.content")
    if message["role"] == "tool":
        answered = message.get("tool_call_id")
        if answered not in waiting:
            text = "Messages with role 'tool' must answer a tool call of a preceding message."
            raise RejectedError(400, text, param=f"{at}.tool_call_id")
        return waiting - {answered}
    if waiting:
        raise _unanswered(at, waiting)
    if message["role"] != "assistant":
        return set()
    ids = set()
    for index, call in enumerate(_list(message, "tool_calls", f"{at}.")):
        where = f"{at}.tool_calls[{index}]"
        _function_name(call, where)
        if not isinstance(call.get("id"), str) or not isinstance(call["function"].get("arguments"), str):
            raise RejectedError(400, f"'{where}' must have an 'id' and string 'arguments'.", param=where)
        ids.add(call["id"])
    return ids


def _unanswered(at: str, waiting: set[str]) -> RejectedError:
    ids = ", ".join(sorted(waiting))
    text = f"Tool calls must be followed by tool messages for each 'tool_call_id'. Missing: {ids}."
    return RejectedError(400, text, param=at)


def _list(holder: Json, name: str, at: str) -> list[Any]:
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RejectedError(400, f"'{at}{name}' must be an array.", param=f"{at}{name}")
    return value


def _function_name(holder: Any, at: str) -> None:
    function = holder.get("function") if isinstance(holder, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RejectedError(400, f"'{at}.function.name' must be a string.", param=f"{at}.function.name")


def _head(kind: str) -> Json:
    """Ids and time as the real service has them: fresh on every answer."""
    answer_id = f"chatcmpl-{secrets.token_hex(12)}"
    return {"id": answer_id, "object": kind, "created": int(time.time()), "model": MODEL}


def _tool_call(call: Call) -> Json:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": call.tool, "arguments": arguments},
    }


def _finish(move: Call | str) -> str:
    return "tool_calls" if isinstance(move, Call) else "stop"


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
