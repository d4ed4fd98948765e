"""Rubric files: found by a shipped name or a path, checked whole, refused before anything is spent on them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.canonical import canonical_form
from proctor.errors import RubricError, nearest
from proctor.plain_shape import first_of, fitted
from proctor.plain_yaml import FileKind, Lines, line_of, read_yaml
from proctor.rubric import Rubric
from proctor.rubric_lint import Problem, errors_of, lint

RUBRIC = FileKind("rubric", RubricError, "docs/rubrics.md", largest=256 * 1024, deepest=12)
_SUFFIXES = (".yaml", ".yml")
_OF_LEVELS = re.compile(r"criterion (\w+): ")


@dataclass(frozen=True)
class RubricFile:
    """A rubric that could be read, fit to judge by or not: see `problems`."""

    name: str
    """As it was asked for: a shipped name or a path."""
    rubric: Rubric
    problems: tuple[Problem, ...]
    lines: Lines

    def line(self, problem: Problem) -> int:
        """The line where a problem stands, or the nearest thing around it that has one."""
        return line_of(self.lines, problem.place)


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
    data, lines = read_yaml(_bytes(name_or_path), name_or_path, RUBRIC)
    rubric = fitted(
        data, lines, name_or_path, Rubric, RUBRIC, lambda error: _of_levels(name_or_path, error, data, lines)
    )
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
            return file.read(RUBRIC.largest + 1)
    except FileNotFoundError:
        fix = f"shipped rubrics are named without a path: {', '.join(shipped())}"
        raise RubricError("rubric_missing", f"{name_or_path} does not exist", fix) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise RubricError("rubric_unreadable", f"{name_or_path!r} cannot be read: {said}") from None


def _of_levels(name: str, error: ValidationError, data: Any, lines: Lines) -> RubricError | None:
    """A criterion whose levels are not those of the scale, told at its levels: pydantic tells it of the whole file."""
    first = first_of(error)
    said = first["msg"].removeprefix("Value error, ")
    if first["loc"] or not (named := _OF_LEVELS.match(said)):
        return None
    at = next((i for i, each in enumerate(data["criteria"]) if each.get("id") == named[1]), 0)
    line = line_of(lines, ("criteria", at, "levels"))
    return RubricError("rubric_levels", f"{name}: line {line}: {said}", "give each level of the scale one anchor")
