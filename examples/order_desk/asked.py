"""What a request of any of the stand-in's three APIs comes down to, and the checks that all of them share.

Chat messages are the common form: the readers of Responses and Anthropic messages turn theirs into these.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MODEL = "stand-in-rules-1"
ROLES = ("system", "developer", "user", "assistant", "tool")
PIECE = 24  # characters of text or arguments in one streamed event

Json = dict[str, Any]


class RejectedError(Exception):
    """A request that the real service would refuse; each API words it in its own shape."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code


@dataclass(frozen=True)
class Asked:
    """A request that was found sound. `offered` are the tools that may be called."""

    messages: Sequence[Json]
    offered: frozenset[str]
    parallel: bool


def openai_error(error: RejectedError) -> Json:
    """The shape in which OpenAI's APIs word an error."""
    kind = "invalid_request_error"
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}


def checked_object(request: Any) -> Json:
    """The body, once it is sure that it is an object with a model and a sound `stream`."""
    if not isinstance(request, dict):
        raise RejectedError(400, "The body must be a JSON object.")
    if not isinstance(request.get("model"), str):
        raise RejectedError(400, "You must provide a model parameter.", param="model")
    if not isinstance(request.get("stream", False), bool | None):
        raise RejectedError(400, "'stream' must be a boolean.", param="stream")
    return request


def list_of(holder: Json, name: str, at: str = "") -> list[Any]:
    """A field that is an array, or absent."""
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RejectedError(400, f"'{at}{name}' must be an array.", param=f"{at}{name}")
    return value


def tool_names(tools: Iterable[Any], at: str = "tools") -> frozenset[str]:
    """The names of tools that are declared as objects with a `name`."""
    return frozenset(name_of(tool, f"{at}[{index}]") for index, tool in enumerate(tools))


def name_of(holder: Any, at: str) -> str:
    """The string `name` of an object."""
    name = holder.get("name") if isinstance(holder, dict) else None
    if not isinstance(name, str):
        raise RejectedError(400, f"'{at}.name' must be a string.", param=f"{at}.name")
    return name


def check_messages(messages: Sequence[Any], name: str = "messages") -> None:
    """Refuses a history in which planning could stumble; `name` is the field that held it."""
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        waiting = _check_message(message, f"{name}[{index}]", waiting)
    if waiting:
        raise _unanswered(f"{name}[{len(messages) - 1}]", waiting)


def fresh_id(prefix: str) -> str:
    """An id as the real service mints it: another one in every answer."""
    return f"{prefix}{secrets.token_hex(12)}"


def pieces(text: str) -> Iterator[str]:
    """A text as it is streamed."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def dumps(value: Any) -> str:
    """Readable JSON."""
    return json.dumps(value, ensure_ascii=False)


def named_event(fields: Json) -> str:
    """A server-sent event that carries its type as its name too."""
    return f"event: {fields['type']}\ndata: {dumps(fields)}\n\n"


def _check_message(message: Any, at: str, waiting: set[str]) -> set[str]:
    """Checks one message; `waiting` are the tool calls still to be answered, before and (returned) after."""
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        raise RejectedError(400, f"'{at}.role' must be one of {', '.join(ROLES)}.", param=f"{at}.role")
    if not isinstance(message.get("content"), str | list | None):
        raise RejectedError(400, f"'{at}.content' must be a string or an array.", param=f"{at}.content")
    if message["role"] == "tool":
        answered = message.get("tool_call_id")
        if answered not in waiting:
            text = "A tool's result must answer a tool call of a preceding message."
            raise RejectedError(400, text, param=f"{at}.tool_call_id")
        return waiting - {answered}
    if waiting:
        raise _unanswered(at, waiting)
    if message["role"] != "assistant":
        return set()
    ids = set()
    for index, call in enumerate(list_of(message, "tool_calls", f"{at}.")):
        where = f"{at}.tool_calls[{index}]"
        function: Any = call.get("function") if isinstance(call, dict) else None
        name_of(function, f"{where}.function")
        if not isinstance(call.get("id"), str) or not isinstance(function.get("arguments"), str):
            raise RejectedError(400, f"'{where}' must have an 'id' and string 'arguments'.", param=where)
        ids.add(call["id"])
    return ids


def _unanswered(at: str, waiting: set[str]) -> RejectedError:
    ids = ", ".join(sorted(waiting))
    return RejectedError(400, f"Every tool call must be followed by its result. Missing: {ids}.", param=at)
