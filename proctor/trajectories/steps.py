"""Steps before they have a number, and the numbering that all builders share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from proctor.trajectory import Step, Tokens, ToolCall


def numbered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps as 0, 1, 2, ..., each in its turn: a turn begins with each run of the user's messages after others."""
    placed: list[Step] = []
    turn, spoken = 0, False
    for index, step in enumerate(steps):
        if step.role == "user" and spoken:
            turn, spoken = turn + 1, False
        spoken = spoken or step.role in {"assistant", "tool"}
        placed.append(step.model_copy(update={"index": index, "turn": turn}))
    return tuple(placed)


def said(role: str, text: str | None, **facts: Any) -> Step:
    """One step without a number. Raises ValueError (pydantic's) for a role that there is not."""
    return Step.model_validate({"index": 0, "role": role, "text": text, **facts})


def called(name: Any, call_id: Any, arguments: Any) -> ToolCall:
    """A tool call, its arguments parsed where they come as text."""
    raw = arguments if isinstance(arguments, str) else None
    return ToolCall(name=str(name or ""), id=str(call_id or ""), arguments=parsed(arguments), arguments_raw=raw)


def parsed(value: Any) -> Any:
    """JSON text as its value; None for text that is none; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def text_of(value: Any) -> str | None:
    """A result as text: text itself, any other value as JSON; None for none."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def canonical(value: Any) -> str:
    """A value in one spelling: the order of keys does not count, and true is not 1."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def final_answer(steps: Iterable[Step]) -> str | None:
    """The agent's last words, if it had the last word."""
    last: str | None = None
    for step in steps:
        if step.role == "assistant":
            last = step.text if step.text and not step.tool_calls else None
        elif step.role == "tool":
            last = None
    return last


def summed(counts: Iterable[Tokens | None]) -> Tokens | None:
    """Tokens of a whole run; None as soon as one part is not known."""
    known = list(counts)
    if not known or any(each is None for each in known):
        return None
    inputs, outputs = [each.input for each in known if each], [each.output for each in known if each]
    return Tokens(
        input=None if None in inputs else sum(each or 0 for each in inputs),
        output=None if None in outputs else sum(each or 0 for each in outputs),
    )
