"""Rubric files: found by a shipped name or a path, checked whole, refused before anything is spent on them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from proctor.canonical import canonical_form
from proctor.errors import RubricError, nearest
from proctor.rubric import Band, Cap, Criterion, Level, Rubric
from proctor.rubric_lint import Problem, errors_of, lint
from proctor.rubric_yaml import LARGEST, read_yaml

_SUFFIXES = (".yaml", ".yml")
_OF_LEVELS = re.compile(r"criterion (\w+): ")


@dataclass(frozen=True)
class RubricFile:
    """A rubric that could be read, fit to judge by or not: see `problems`."""

    name: str
    """As it was asked for: a shipped name or a path."""
    rubric: Rubric
    problems: tuple[Problem, ...]
    lines: dict[tuple[str | int, ...], int]

    def line(self, problem: Problem) -> int:
        """The line where a problem stands, or the nearest thing around it that has one."""
        return _line(self.lines, problem.place)


def shipped() -> tuple[str, ...]:
    """The names of the rubrics that come with Proctor."""
    folder = files("proctor") / "rubrics"
    names = [entry.name for entry in folder.iterdir()]
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


@cache
def shipped_rubric(name: str) -> Rubric:
    """The one of that name in `shipped()`. It is read once, since parsing and lint cost more than most verdicts."""
    return load_rubric(name)


def load_rubric(name_or_path: str) -> Rubric:
    """A rubric that is fit to judge by. Raises RubricError for one that is not there, unreadable or refused by lint.

    A text with a slash or the suffix `.yaml` or `.yml` is a path, any other a shipped name.
    """
    read = read_rubric(name_or_path)
    bad = errors_of(read.problems)
    if bad:
        first = bad[0]
        more = f" (and {len(bad) - 1} more: proctor judge lint {name_or_path})" if len(bad) > 1 else ""
        message = f"{read.name}: line {read.line(first)}: {first.code}: {first.message}{more}"
        raise RubricError("rubric_lint", message, first.fix)
    return read.rubric


def read_rubric(name_or_path: str) -> RubricFile:
    """A rubric with all that lint says of it. Raises RubricError where it cannot be read as one."""
    data, lines = read_yaml(_bytes(name_or_path), name_or_path)
    if not isinstance(data, dict):
        raise RubricError("rubric_shape", f"{name_or_path}: line 1: no mapping of keys", "see docs/rubrics.md")
    try:
        rubric = Rubric.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise _shape_error(name_or_path, error, data, lines) from None
    return RubricFile(name_or_path, rubric, lint(rubric), lines)


def digest_of(rubric: Rubric) -> str:
    """A digest (SHA-256, hexadecimal) of what a rubric says: layout, comments and written-out defaults do not count."""
    said = rubric.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(canonical_form(said)).hexdigest()


def _bytes(name_or_path: str) -> bytes:
    if "/" not in name_or_path and not name_or_path.endswith(_SUFFIXES):
        if name_or_path in shipped():
            return (files("proctor") / "rubrics" / f"{name_or_path}.yaml").read_bytes()
        fix = f"{nearest(name_or_path, shipped())}; a file of your own is named by its path: ./{name_or_path}.yaml"
        raise RubricError("rubric_unknown", f'no rubric "{name_or_path}" comes with Proctor', fix)
    try:
        with Path(name_or_path).open("rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError:
        fix = f"shipped rubrics are named without a path: {', '.join(shipped())}"
        raise RubricError("rubric_missing", f"{name_or_path} does not exist", fix) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise RubricError("rubric_unreadable", f"{name_or_path!r} cannot be read: {said}") from None


def _shape_error(name: str, error: ValidationError, data: Any, lines: dict[tuple[str | int, ...], int]) -> RubricError:
    """The first thing wrong, as a person would say it: a key misspelt before the one that is missing for it."""
    first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    place = first["loc"]
    dotted = ".".join(map(str, place)) or "the file"
    where = f"{name}: line {_line(lines, place)}"
    match first["type"]:
        case "extra_forbidden":
            fix = nearest(str(place[-1]), _known_keys(place))
            return RubricError("rubric_unknown_key", f'{where}: unknown key "{dotted}"', fix)
        case "missing":
            return RubricError("rubric_missing_key", f'{where}: "{dotted}" is missing', "see docs/rubrics.md")
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(first.get("ctx", {}).get("expected", "")))
            message = f'{where}: {dotted} is "{first["input"]}", not one of {", ".join(allowed)}'
            return RubricError("rubric_bad_value", message, nearest(str(first["input"]), allowed))
    said = first["msg"].removeprefix("Value error, ")
    if not place and (named := _OF_LEVELS.match(said)):
        at = next((i for i, each in enumerate(data["criteria"]) if each.get("id") == named[1]), 0)
        line = _line(lines, ("criteria", at, "levels"))
        return RubricError("rubric_levels", f"{name}: line {line}: {said}", "give each level of the scale one anchor")
    fix = "put it in quotes" if first["type"] == "string_type" else "see docs/rubrics.md"
    return RubricError("rubric_bad_value", f"{where}: {dotted}: {said}", fix)


def _known_keys(place: tuple[str | int, ...]) -> Iterable[str]:
    names = [part for part in place[:-1] if isinstance(part, str)]
    inner: dict[tuple[str, ...], type[BaseModel]] = {
        ("criteria",): Criterion,
        ("criteria", "levels"): Level,
        ("criteria", "caps"): Cap,
        ("bands",): Band,
    }
    return inner.get(tuple(names), Rubric).model_fields


def _line(lines: dict[tuple[str | int, ...], int], place: tuple[str | int, ...]) -> int:
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)
