"""Suites on disk: one file, with the files that it includes; each case knows where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from proctor.cases.case import Case
from proctor.cases.suite import CaseFile, Suite, Template
from proctor.cases.templates import chosen, made, unused
from proctor.errors import SuiteError, nearest
from proctor.plain_shape import fitted
from proctor.plain_yaml import FileKind, Lines, Place, line_of, read_yaml

SUITE = FileKind("suite", SuiteError, "docs/cases.md", largest=4 * 1024 * 1024, deepest=40)
FOLDER = "suites"
_SUFFIXES = (".yaml", ".yml")
_Held = TypeVar("_Held", Suite, CaseFile)


@dataclass(frozen=True)
class Placed:
    """A case, and where it is written."""

    case: Case
    path: Path
    line: int
    template: bool = False

    @property
    def where(self) -> str:
        """`suites/orders.yaml:12`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class SuiteRead:
    """A suite with every case of it: those that templates make come after the written ones of their file."""

    path: Path
    suite: Suite
    cases: tuple[Placed, ...]


def find_suite(root: Path, name: str) -> Path:
    """The file of a suite: `suites/NAME.yaml`, or the path that `name` is. Raises SuiteError."""
    if name.endswith(_SUFFIXES):
        return Path(name)
    for suffix in _SUFFIXES:
        path = root / FOLDER / f"{name}{suffix}"
        if "/" not in name and path.is_file():
            return path
    told = f'there is no suite "{name}" in {root / FOLDER}'
    raise SuiteError("suite_missing", told, nearest(name, suite_names(root)) or f"write {FOLDER}/{name}.yaml")


def suite_names(root: Path) -> list[str]:
    """The suites of a project."""
    found = (path for suffix in _SUFFIXES for path in (root / FOLDER).glob(f"*{suffix}"))
    return sorted(path.stem for path in found)


def read_suite(path: Path, seed: int = 0) -> SuiteRead:
    """The suite of a file; `seed` chooses among what templates can make. Raises SuiteError with file and line."""
    suite, lines = _read(path, Suite)
    cases = list(_cases(path, suite, lines, seed))
    for other in _included(path, suite, lines):
        more, more_lines = _read(other, CaseFile)
        cases += _cases(other, more, more_lines, seed)
    _refuse_doubles(cases)
    if not cases:
        raise SuiteError("suite_empty", f"{path} has no case", f"see {SUITE.page}")
    return SuiteRead(path, suite, tuple(cases))


def _read(path: Path, model: type[_Held]) -> tuple[_Held, Lines]:
    try:
        with path.open("rb") as file:
            data = file.read(SUITE.largest + 1)
    except FileNotFoundError:
        raise SuiteError("suite_missing", f"{path} does not exist", f"see {SUITE.page}") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise SuiteError("suite_unreadable", f"{path} cannot be read: {said}") from None
    value, lines = read_yaml(data, str(path), SUITE)
    return fitted(value, lines, str(path), model, SUITE), lines


def _cases(path: Path, held: Suite | CaseFile, lines: Lines, seed: int) -> Iterator[Placed]:
    for at, case in enumerate(held.cases):
        yield Placed(case, path, line_of(lines, ("cases", at)))
    for at, template in enumerate(held.templates):
        place: Place = ("templates", at, "case")
        line = line_of(lines, place)
        if names := unused(template):
            told = f"{path}: line {line}: {{{names[0]}}} stands nowhere in the template"
            raise SuiteError("suite_value_unused", told, f"use {{{names[0]}}} in a text, or leave its values out")
        for number in chosen(template, seed):
            yield Placed(_made(path, template, number, _below(lines, place)), path, line, template=True)


def _made(path: Path, template: Template, number: int, lines: Lines) -> Case:
    data: dict[str, Any] = made(template, number)
    return fitted(data, lines, str(path), Case, SUITE)


def _below(lines: Lines, place: Place) -> Lines:
    """The lines of what is in a place, as if that were the whole file."""
    return {at[len(place) :]: line for at, line in lines.items() if at[: len(place)] == place}


def _included(path: Path, suite: Suite, lines: Lines) -> Iterator[Path]:
    """The files that a suite includes, each once. Raises SuiteError for one outside of its folder, and for none."""
    folder = path.parent
    seen = {path.resolve()}
    for at, pattern in enumerate(suite.include):
        where = f"{path}: line {line_of(lines, ('include', at))}: {pattern}"
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise SuiteError("suite_outside", f"{where} leads out of the suite's folder", f"keep it below {folder}")
        found = sorted(each for each in folder.glob(pattern) if each.is_file())
        if not found:
            raise SuiteError("suite_missing", f"{where} is no file", f"it is looked for below {folder}")
        for each in found:
            if not each.resolve().is_relative_to(folder.resolve()):
                raise SuiteError("suite_outside", f"{where}: {each} leads out of the suite's folder")
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _refuse_doubles(cases: list[Placed]) -> None:
    seen: dict[str, Placed] = {}
    for placed in cases:
        first = seen.setdefault(placed.case.id, placed)
        if first is not placed:
            told = f'{placed.where}: the case "{placed.case.id}" stands already at {first.where}'
            raise SuiteError("suite_double", told, "give one of them another id")
