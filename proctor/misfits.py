"""What is wrong first with a value that is not of a form, in words, with the nearest name for one that is misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from proctor.errors import nearest


@dataclass(frozen=True)
class Misfit:
    """`kind` is pydantic's; `nearest` is for a field that is unknown. Nothing of the value is told but names."""

    kind: str
    message: str
    nearest: str = ""


def first_error(model: type[BaseModel], error: ValidationError, whole: str = "it") -> Misfit:
    """The first of all: a field that is misspelt comes before one that is missing for it. `whole` names the value."""
    first = min(error.errors(include_url=False), key=_weight)
    *outer, last = first["loc"] or (whole,)
    unknown = first["type"] == "extra_forbidden"
    place = [part for part in outer if not _is_validator(part)]
    if unknown or not _is_validator(last):
        place.append(last)
    where = ".".join(map(str, place)) or whole
    if unknown:
        return Misfit(first["type"], f'unknown field "{where}"', nearest(str(last), _fields(model, place)))
    return Misfit(first["type"], f"{where}: {first['msg'].removeprefix('Value error, ')}")


def _is_validator(part: int | str) -> bool:
    """It is pydantic's name of a function, and none that a user wrote."""
    return isinstance(part, str) and part.startswith("function-")


def _weight(error: Any) -> int:
    """A name that is an object instead was meant to be whole: what is wrong with that tells more."""
    if error["type"] == "extra_forbidden":
        return 0
    return 2 if error["type"] == "string_type" and isinstance(error["input"], dict) else 1


def _fields(model: type[BaseModel], place: Sequence[int | str]) -> set[str]:
    """The names that may stand at a place."""
    here = [model]
    for part in place[:-1]:
        if isinstance(part, str) and not any(each.__name__ == part for each in here):
            here = [
                inner
                for each in here
                if part in each.model_fields
                for inner in _models(each.model_fields[part].annotation)
            ]
    return {name for each in here for name in each.model_fields}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
