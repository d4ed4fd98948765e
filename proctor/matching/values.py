"""JSON values compared strictly (1, 1.0 and true differ), and shown in a message. No value makes these raise."""

from __future__ import annotations

import json
from typing import Any

LONGEST = 120
DEEPEST = 64
"""Levels of nesting that are compared; what is nested deeper differs from everything."""


def same(wanted: Any, got: Any, depth: int = 0) -> bool:
    """Equal as JSON, the order of an object's keys aside."""
    if type(wanted) is not type(got) or depth > DEEPEST:
        return False
    if isinstance(wanted, dict):
        return wanted.keys() == got.keys() and all(same(value, got[key], depth + 1) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(same(a, b, depth + 1) for a, b in zip(wanted, got, strict=True))
    return bool(wanted == got)


def canonical(value: Any, depth: int = 0) -> Any:
    """A hashable form: two values have equal forms exactly where they are `same`; too deep a value equals none."""
    if depth > DEEPEST:
        return object()
    if isinstance(value, dict):
        return ("object", frozenset((key, canonical(inner, depth + 1)) for key, inner in value.items()))
    if isinstance(value, list):
        return ("array", tuple(canonical(inner, depth + 1) for inner in value))
    if value is None or isinstance(value, bool | int | float | str):
        return (type(value).__name__, value)
    return object()


def shown(value: Any, longest: int = LONGEST) -> str:
    """The value as JSON on one line, cut to `longest` characters; lone surrogates are escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return f"a value that cannot be shown ({type(value).__name__})"
    return cut(text, longest)


def cut(text: str, longest: int = LONGEST) -> str:
    """The text with its middle left out where it is longer than that; lone surrogates are escaped."""
    if len(text) > longest:
        half = (longest - 3) // 2
        text = f"{text[:half]}...{text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def kind(value: Any) -> str:
    """The name of a JSON value's type."""
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def pointer(at: str, key: str | int) -> str:
    """A JSON pointer one level down (RFC 6901)."""
    return f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"
