"""What kind of change a miss comes from: the prompt, an argument, a value that changes by itself. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from proctor.diff import Difference
from proctor.interaction import Request
from proctor.proposing import Proposal, proposals, rule_place, signed_proposals
from proctor.service_config import ServiceConfig
from proctor.trace import body_value

Kind = Literal["volatile", "prompt", "conversation", "tools", "setting", "argument", "credential", "call"]

_PROMPT = re.compile(r"body /(?:system|instructions)(?:/.*)?")
_MESSAGE = re.compile(r"body /(?:messages|input)(?:/(\d+)(?:/.*)?)?")
_SAID_BY = {"system": "the prompt", "developer": "the prompt", "user": "what the user says"}


class Cause(NamedTuple):
    """What changed, in words, and the rules that would forgive it where that is right."""

    kind: Kind
    text: str
    rules: tuple[Proposal, ...] = ()


def cause_of(service: ServiceConfig | None, asked: Request, differences: Sequence[Difference]) -> Cause:
    """The cause of a miss, from all that differs from the nearest recording."""
    rules = _volatile(differences)
    if rules:
        named = dict.fromkeys(rule.looks_like for rule in rules)
        return Cause("volatile", f"{' and '.join(named)} that changes by itself", rules)
    wheres = [difference.where for difference in differences]
    if any(where in ("method", "path") for where in wheres):
        return Cause("call", "a call that was not recorded")
    if service is not None and service.preset is not None:
        return _of_llm(asked, wheres)
    if wheres == ["credential"]:
        return Cause("credential", "somebody else asks")
    named = dict.fromkeys(where for where in wheres if where != "credential")
    if len(named) == 1:
        return Cause("argument", "an argument changed")
    return Cause("argument", f"arguments changed ({', '.join(list(named)[:3])})")


def _of_llm(asked: Request, wheres: Sequence[str]) -> Cause:
    """The first of what an LLM is told that changed: all that comes after it follows from it."""
    if any(_PROMPT.fullmatch(where) for where in wheres):
        return Cause("prompt", "the prompt changed")
    messages = [match for where in wheres if (match := _MESSAGE.fullmatch(where))]
    tools = any(where.startswith("body /tools") for where in wheres)
    numbers = [int(match[1]) for match in messages if match[1] is not None]
    role = _role(asked, min(numbers)) if numbers else ""
    if _SAID_BY.get(role) == "the prompt":
        return Cause("prompt", "the prompt changed")
    if tools:
        return Cause("tools", "the tools offered to the model changed")
    if messages:
        who = _SAID_BY.get(role) or ("a tool's result" if role == "tool" else "the conversation")
        at = f" (message {min(numbers)})" if numbers else ""
        return Cause("conversation", f"{who} changed{at}")
    return Cause("setting", f"a setting of the model changed ({', '.join(list(dict.fromkeys(wheres))[:3])})")


def _role(asked: Request, index: int) -> str:
    body = body_value(asked.headers, asked.body)
    messages = (body.get("messages") or body.get("input")) if isinstance(body, dict) else None
    message = messages[index] if isinstance(messages, list) and index < len(messages) else None
    if not isinstance(message, dict):
        return ""
    content = message.get("content")
    if isinstance(content, list) and any(isinstance(part, dict) and "tool_use_id" in part for part in content):
        return "tool"  # Anthropic's tool results come in the user's name
    kind = message.get("type")
    return "tool" if kind == "function_call_output" else str(message.get("role", ""))


def _volatile(differences: Sequence[Difference]) -> tuple[Proposal, ...]:
    """The rules that forgive every difference; none where one is more than a date, a random id or a signature."""
    places = [rule_place(difference.where) for difference in differences]
    if not all(places):
        return ()
    signed = signed_proposals(places)
    if signed:
        return tuple(signed)
    found: dict[Proposal, None] = {}
    for at, (_, recorded, asked) in zip(places, differences, strict=True):
        ways = proposals(at, _text(recorded), _text(asked))
        if not ways:
            return ()
        found.update(dict.fromkeys(ways))
    return tuple(found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else ""
