"""Arguments against the schema of their tool: the parts of JSON Schema that tool definitions use, bounded in depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEEPEST = 32
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def faults(value: Any, schema: Any, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Where a value breaks its schema: a JSON pointer, and what is wrong there in words."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    types = schema.get("type")
    wanted = [types] if isinstance(types, str) else [one for one in types or () if isinstance(one, str)]
    known = [one for one in wanted if one in _TYPES]
    if known and not any(_is(value, one) for one in known) and not (value is None and schema.get("nullable") is True):
        yield pointer, f"is {_name(value)}, and the schema wants {' or '.join(known)}"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_same(value, choice) for choice in choices):
        yield pointer, "is none of the values that the schema lists"
    yield from _alternatives(value, schema, pointer, depth)
    if isinstance(value, dict):
        yield from _in_object(value, schema, pointer, depth)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for place, inner in enumerate(value):
            yield from faults(inner, schema["items"], f"{pointer}/{place}", depth + 1)


def _alternatives(value: Any, schema: dict[str, Any], pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if not isinstance(options, list) or not options:
            continue
        if not any(next(faults(value, option, pointer, depth + 1), None) is None for option in options):
            yield pointer, f"fits none of the {len(options)} forms that the schema allows"
    for option in schema["allOf"] if isinstance(schema.get("allOf"), list) else ():
        yield from faults(value, option, pointer, depth + 1)


def _in_object(value: dict[Any, Any], schema: dict[str, Any], pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    fields = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in value:
            yield pointer, f"lacks {name}, which the schema requires"
    for name, inner in value.items():
        at = f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"
        if fields and name in fields:
            yield from faults(inner, fields[name], at, depth + 1)
        elif schema.get("additionalProperties") is False:
            yield at, "is no argument of the schema"


def _is(value: Any, name: str) -> bool:
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
