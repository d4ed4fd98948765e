"""The list of a world's tools, as models are given it."""

from __future__ import annotations

from typing import Any

from proctor.world.kind import WorldKind
from proctor.world.near_misses import near_misses
from proctor.world.toolkit import Tool

_DROPPED = frozenset({"title", "default", "minLength", "maxLength", "uniqueItems"})
"""What strict schemas must not have; a call is checked against it all the same."""


def openai_tools(kind: WorldKind, distractors: int = 0) -> list[dict[str, Any]]:
    """The tools as OpenAI's APIs take them, with strict schemas; up to so many `distractors` stand among them.

    A strict schema requires every argument: null stands for the default of one that may be left out. One that takes
    objects with any keys cannot be strict.
    """
    listed = [_listed(tool.name, tool.description, tool) for tool in kind.tools.values()]
    for at, miss in enumerate(near_misses(kind)[:distractors]):
        like = kind.tools[miss.like]
        listed.insert(min(2 * at + 1, len(listed)), _listed(miss.name, miss.description, like))
    return listed


def _listed(name: str, description: str, tool: Tool) -> dict[str, Any]:
    schema = tool.arguments.json_schema()
    strict, parameters = _strict(schema, tool.defaults)
    function = {"name": name, "description": description, "parameters": parameters, "strict": strict}
    return {"type": "function", "function": function}


def _strict(schema: dict[str, Any], defaults: frozenset[str]) -> tuple[bool, dict[str, Any]]:
    whole = True

    def strict(node: Any) -> Any:
        nonlocal whole
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        kept = {key: _named(key, value, strict) for key, value in node.items() if key not in _DROPPED}
        if node.get("type") == "object":
            if node.get("additionalProperties") not in (None, False) or "properties" not in node:
                whole = False
            else:
                kept |= {"additionalProperties": False, "required": list(node["properties"])}
        return kept

    parameters = strict({"properties": {}, **schema})
    for name in defaults:
        parameters["properties"][name] = _nullable(parameters["properties"][name])
    if not whole:
        return False, {"properties": {}, **schema}
    return True, {"type": "object", **parameters}


def _named(key: str, value: Any, strict: Any) -> Any:
    """Below these keys stand names, which may be `title` as well."""
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: strict(item) for name, item in value.items()}
    return value if key in ("enum", "const", "required") else strict(value)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind == "null" or {"type": "null"} in schema.get("anyOf", ()):
        return schema
    told = {"description": schema["description"]} if "description" in schema else {}
    plain = {key: value for key, value in schema.items() if key != "description"}
    if "anyOf" in plain and len(plain) == 1:
        return {"anyOf": [*plain["anyOf"], {"type": "null"}], **told}
    return {"anyOf": [plain, {"type": "null"}], **told}
