"""A plain file's data as a pydantic model, or the first thing wrong in it, as a person would say it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from proctor.errors import ProctorError, nearest
from proctor.plain_yaml import FileKind, Lines, Place, line_of

ModelT = TypeVar("ModelT", bound=BaseModel)


Told = Callable[[ValidationError], ProctorError | None]


def fitted(
    data: Any, lines: Lines, name: str, model: type[ModelT], kind: FileKind, told: Told = lambda _: None
) -> ModelT:
    """The model that the data of a file is. Raises the kind's error with the line of what does not fit.

    `told` may tell an error that the model has of the whole at the place where it belongs.
    """
    if not isinstance(data, dict):
        raise kind.error(f"{kind.name}_shape", f"{name}: line 1: no mapping of keys", f"see {kind.page}")
    try:
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise told(error) or _shape_error(error, lines, name, model, kind) from None


def first_of(error: ValidationError) -> ErrorDetails:
    """What to tell: a key misspelt before the one that is missing for it."""
    return min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")


def _shape_error(
    error: ValidationError, lines: Lines, name: str, model: type[BaseModel], kind: FileKind
) -> ProctorError:
    """The kind's error, which tells of one thing only, and how to mend it."""
    first = first_of(error)
    place: Place = _place(first["loc"], lines)
    dotted = ".".join(map(str, place)) or "the file"
    where = f"{name}: line {line_of(lines, place)}"
    page = f"see {kind.page}"
    match first["type"]:
        case "extra_forbidden":
            fix = nearest(str(place[-1]), _known_keys(model, place)) or page
            return kind.error(f"{kind.name}_unknown_key", f'{where}: unknown key "{dotted}"', fix)
        case "missing":
            return kind.error(f"{kind.name}_missing_key", f'{where}: "{dotted}" is missing', page)
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(first.get("ctx", {}).get("expected", "")))
            told = f'{where}: {dotted} is "{first["input"]}", not one of {", ".join(allowed)}'
            return kind.error(f"{kind.name}_bad_value", told, nearest(str(first["input"]), allowed))
    said = first["msg"].removeprefix("Value error, ")
    fix = "put it in quotes" if first["type"] == "string_type" else page
    return kind.error(f"{kind.name}_bad_value", f"{where}: {dotted}: {said}", fix)


def _place(loc: tuple[str | int, ...], lines: Lines) -> Place:
    """The place in the file: pydantic names the members of a union in its own, which no file has."""
    place: Place = ()
    for at, part in enumerate(loc):
        last = at == len(loc) - 1
        if (*place, part) in lines or last:
            place = (*place, part)
    return place


def _known_keys(model: type[BaseModel], place: Place) -> list[str]:
    """The keys that a mapping at this place may have, as the model's schema tells them."""
    schema = TypeAdapter(model).json_schema()
    node: Any = schema
    for part in place[:-1]:
        node = _below(_followed(node, schema), part)
    return list(_followed(node, schema).get("properties", ()))


def _below(node: dict[str, Any], part: str | int) -> Any:
    if isinstance(part, int):
        return node.get("items", {})
    return node.get("properties", {}).get(part, node.get("additionalProperties", {}))


def _followed(node: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """A node's own keys: through a reference, or of the first alternative that has some."""
    while isinstance(node, dict) and "$ref" in node:
        node = schema.get("$defs", {}).get(node["$ref"].rpartition("/")[2], {})
    if not isinstance(node, dict):
        return {}
    for each in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        found = _followed(each, schema)
        if found.get("properties") or found.get("items"):
            return found
    return node
