"""Evidence in the words of a run and in its arguments, masked; results are written as in `outcomes`."""

from __future__ import annotations

import json
from typing import Any

from proctor.check import Evidence
from proctor.checks.masking import quote
from proctor.tool_calls import Call


def at_words(step: int | None, text: str, start: int = 0, end: int | None = None, field: str = "text") -> Evidence:
    """A span of a text, the whole of it where no `end` is given; `step` None for the final answer."""
    whole = end is None
    return Evidence(step=step, field=field, start=None if whole else start, end=end, quote=quote(text, start, end))


def at_argument(call: Call, pointer: str, value: Any) -> Evidence:
    """One argument of a call, by JSON pointer below `arguments` (empty for all of them)."""
    field = f"tool_calls/{call.position}/arguments{quote(pointer)}"
    return Evidence(step=call.step, field=field, quote=quote(shown(value)))


def shown(value: Any) -> str:
    """A value as JSON on one line; texts as they are."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"a value that cannot be shown ({type(value).__name__})"
