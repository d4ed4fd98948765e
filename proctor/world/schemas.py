"""Looking through pydantic's core schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Each part of a core schema, itself first."""
    if isinstance(schema, dict):
        yield schema
        schema = schema.values()
    elif not isinstance(schema, list | tuple):
        return
    for part in schema:
        yield from nodes(part)


def holds_anything(schema: Any) -> bool:
    """Whether a value of it may be, or hold, anything that there is in JSON."""
    return any(node.get("type") == "any" for node in nodes(schema))
