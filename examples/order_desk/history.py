"""What the stand-in model reads out of a chat history: who asks, what about, and what the tools answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ORDER_ID = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{4}(?!\d)")
CUSTOMER_ID = re.compile(r"(?<![A-Za-z0-9])C-\d{4}(?!\d)")
CJK = re.compile(r"[\u4e00-\u9fff]")

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One tool call and its answer. `body` is {} where the answer was not a JSON object."""

    tool: str
    arguments: dict[str, Any]
    status: int
    body: dict[str, Any]

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300 and bool(self.body) and "error" not in self.body

    def about(self, tool: str, **arguments: Any) -> bool:
        """Whether it is of that tool, with these arguments at least."""
        return self.tool == tool and all(self.arguments.get(key) == value for key, value in arguments.items())


@dataclass(frozen=True)
class History:
    """A conversation up to now; `turn` holds the outcomes since the user last spoke, `earlier` the others."""

    customer_id: str | None
    order_ids: tuple[str, ...]
    request: str
    earlier: tuple[Outcome, ...]
    turn: tuple[Outcome, ...]

    @property
    def chinese(self) -> bool:
        return CJK.search(self.request) is not None

    @property
    def has_token(self) -> bool:
        return any(o.tool == "get_token" and o.ok for o in self.earlier + self.turn)

    def latest(self, tool: str, **arguments: Any) -> Outcome | None:
        """This turn's last answer of a tool to a call with these arguments at least."""
        return next((o for o in reversed(self.turn) if o.about(tool, **arguments)), None)


def read_history(messages: Sequence[Message]) -> History:
    """Reads messages in OpenAI's form. The orders are those last named by the user."""
    spoken = [content_text(m) for m in messages if m["role"] in ("system", "developer", "user")]
    asked = [content_text(m) for m in messages if m["role"] == "user"]
    last_user = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
    customers = [found for text in spoken for found in CUSTOMER_ID.findall(text)]
    return History(
        customer_id=customers[-1] if customers else None,
        order_ids=_orders(asked),
        request=asked[-1] if asked else "",
        earlier=_outcomes(messages[: last_user + 1]),
        turn=_outcomes(messages[last_user + 1 :]),
    )


def rows(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a list of an answer; what is none is left out."""
    found = body.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def content_text(message: Message) -> str:
    """The text of a message whose content is a string, a list of parts, or absent."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _orders(asked: Sequence[str]) -> tuple[str, ...]:
    for text in reversed(asked):
        found = tuple(dict.fromkeys(ORDER_ID.findall(text)))
        if found:
            return found
    return ()


def _outcomes(messages: Sequence[Message]) -> tuple[Outcome, ...]:
    calls: dict[str, Mapping[str, Any]] = {}
    outcomes = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = call["function"]
        if message["role"] == "tool":
            outcomes.append(_outcome(calls[message["tool_call_id"]], content_text(message)))
    return tuple(outcomes)


def _outcome(function: Mapping[str, Any], raw: str) -> Outcome:
    """The agent wraps an answer that is not 2xx as {"status": 409, "body": {...}}."""
    body, status = _object(raw), 200
    if isinstance(body.get("status"), int):
        status, inner = body["status"], body.get("body")
        body = inner if isinstance(inner, dict) else {}
    return Outcome(function["name"], _object(function["arguments"]), status, body)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
