"""The arguments of a call: from a JSON body to what the tool's method takes, or a refusal that says what to change."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from proctor.errors import nearest
from proctor.world.refusal import BusinessError

STATUS = 422
"""Of a call with a wrong argument."""
_BODY_STATUS = 400
_RANGES = (
    "greater_than",
    "less_than",
    "too_long",
    "too_short",
    "string_too_",
    "bytes_too_",
    "multiple_of",
    "finite_number",
    "decimal_max",
    "decimal_whole",
    "int_parsing_size",
)
_TYPES = ("_type", "_from_float")
_DEEPEST = 100
"""Objects and lists within each other: what is deeper could be stored, but not be read again as part of a state."""
_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|([\[{])|[\]}]')
_JSON = TypeAdapter[dict[str, Any]](dict[str, Any], config=ConfigDict(ser_json_inf_nan="constants"))


def read_arguments(adapter: TypeAdapter[dict[str, Any]], body: bytes, defaults: Collection[str]) -> dict[str, Any]:
    """The arguments by name. Null for one of `defaults` stands for the default, as strict schemas must say it.

    Raises BusinessError: `arguments_not_json`, `arguments_not_object` (400); `argument_missing`,
    `argument_unknown`, `argument_type`, `argument_range`, `argument_value` (422), with the argument and what to change.
    """
    body = body or b"{}"
    try:
        arguments: dict[str, Any] = adapter.validator.validate_json(body)
        if body.count(b"[") + body.count(b"{") > _DEEPEST:
            _check_depth(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    else:
        return arguments
    first = problems[0]
    if not first["loc"]:
        raise _no_object(first)
    if any(each["loc"][0] in defaults for each in problems):
        given = from_json(body)
        kept = {name: value for name, value in given.items() if value is not None or name not in defaults}
        if len(kept) < len(given):
            return read_arguments(adapter, _JSON.dump_json(kept), ())
    raise _wrong(problems, _known(adapter))


def check_finite(arguments: Mapping[str, Any]) -> None:
    """Raise BusinessError (`argument_range`) for a number that no JSON can say, where the types let anything pass."""
    for name, value in arguments.items():
        if not _finite(value):
            told = f"{name}: Input should be a finite number"
            raise BusinessError("argument_range", told, f"change {name}", name, STATUS)


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_finite, value))


def _check_depth(body: bytes) -> None:
    """Raise BusinessError for JSON that is too deep."""
    depth = 0
    for match in _BRACKET.finditer(body):
        depth += 1 if match[1] else -1 if match[0] in b"]}" else 0
        if depth > _DEEPEST:
            told = f"the arguments go deeper than {_DEEPEST} objects and lists within each other"
            raise BusinessError("arguments_not_json", told, "send flatter ones", status=_BODY_STATUS)


def _known(adapter: TypeAdapter[dict[str, Any]]) -> list[str]:
    return list(adapter.json_schema().get("properties", {}))


def _no_object(problem: ErrorDetails) -> BusinessError:
    if problem["type"] == "json_invalid":
        told = f"the arguments are no JSON: {problem['msg'].removeprefix('Invalid JSON: ')}"
        return BusinessError("arguments_not_json", told, "send one JSON object", status=_BODY_STATUS)
    return BusinessError(
        "arguments_not_object", "the arguments are no JSON object", "send one JSON object", status=_BODY_STATUS
    )


def _wrong(problems: list[ErrorDetails], known: Collection[str]) -> BusinessError:
    """Of the first problem; but a misspelt name comes before the one that is missing for it."""
    problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    argument = str(problem["loc"][0])
    where = ".".join(map(str, problem["loc"]))
    field = {"field": where} if where != argument else {}
    kind, said = problem["type"], problem["msg"]
    if kind == "extra_forbidden":
        hint = nearest(where.rpartition(".")[2], known) if where == argument else ""
        told, hint = f"there is no argument {where}", f"leave out {where}" + (f"; {hint}" if hint else "")
        return BusinessError("argument_unknown", told, hint, argument, STATUS, **field)
    if kind == "missing":
        return BusinessError("argument_missing", f"{where} is missing", f"give {where}", argument, STATUS, **field)
    code = "argument_value"
    if kind.startswith(_RANGES):
        code = "argument_range"
    elif kind.endswith(_TYPES):
        code = "argument_type"
    return BusinessError(code, f"{where}: {said}", f"change {where}", argument, STATUS, **field)
