"""Which of the paths given are tapes, and which are passed over, each with the reason."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import CassetteError, ProctorError, UsageError

_ENDINGS = frozenset({"", ".yaml", ".yml", ".json"})
"""Of files that vcrpy or Proctor may have written."""
_PASSED = frozenset(
    {".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".proctor", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
    | {".hypothesis", "__pycache__", "node_modules"}
)
_BODIES = ".bodies"
_FIRST_BYTES = 4096
_BEGINS = re.compile(rb"\A(?:#[^\n]*\n|---[^\n]*\n|\s)*\{?\s*[\"']?(?:version|interactions|metadata)[\"']?\s*:")
_INTERACTIONS = re.compile(rb"(?:^|[{,\s])[\"']?interactions[\"']?\s*:", re.MULTILINE)


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was not looked at. `named` is one that was given itself, not found in a folder."""

    path: Path
    why: str
    named: bool = False


@dataclass
class Chosen:
    """What there is to look at."""

    tapes: dict[Path, bytes] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[tuple[Path, ProctorError]] = field(default_factory=list)


def chosen(paths: Iterable[Path]) -> Chosen:
    """The tapes among these files and in these folders. What is wrong is noted, and the rest goes on."""
    found = Chosen()
    for path in paths:
        if path.is_dir() and path.suffix != _BODIES:
            found.folders.append(path)
            before = len(found.tapes), len(found.errors)
            _walk(path, found)
            if before == (len(found.tapes), len(found.errors)):
                found.errors.append((path, _no_tape_in(path)))
        elif path.exists():
            _take(path, found, named=True)
        else:
            missing = UsageError("scan_missing", f"{path} does not exist", "name a tape, a file or a folder")
            found.errors.append((path, missing))
    return found


def _no_tape_in(folder: Path) -> UsageError:
    return UsageError("scan_no_tape", f"{folder} holds no tape, so nothing was looked at", "name the tapes' folder")


def _walk(folder: Path, found: Chosen) -> None:
    for name, folders, files in os.walk(folder, onerror=lambda error: _unlistable(error, found)):
        here = Path(name)
        for each in sorted(folders):
            why = _why_passed(here / each)
            if why:
                found.skipped.append(Skipped(here / each, why))
                folders.remove(each)
        for each in sorted(each for each in folders if each.endswith(_BODIES)):
            _take(here / each, found, named=False)
            folders.remove(each)
        folders.sort()
        for each in sorted(files):
            _take(here / each, found, named=False)


def _unlistable(error: OSError, found: Chosen) -> None:
    path = Path(error.filename)
    found.errors.append((path, _unreadable(path, error)))


def _unreadable(path: Path, error: OSError) -> CassetteError:
    told = f"{path} cannot be read: {error.strerror}"
    return CassetteError("scan_unreadable", told, "mend the file, its rights, or the bodies that lie there without it")


def _why_passed(folder: Path) -> str:
    if folder.name in _PASSED or (folder / "pyvenv.cfg").is_file():
        return "tools keep their own files there"
    return "a link to a folder" if folder.is_symlink() else ""


def _take(path: Path, found: Chosen, *, named: bool) -> None:
    owner = _owner(path)
    if owner is not None:
        path = owner
    if path in found.tapes:
        return
    try:
        if path.suffix not in _ENDINGS and not _begins_like_a_tape(path):
            found.skipped.append(Skipped(path, "no tape: other files end so", named))
            return
        data = path.read_bytes()
    except OSError as error:
        found.errors.append((path, _unreadable(path, error)))
        return
    if _INTERACTIONS.search(data) or (path.suffix in {".yaml", ".yml"} and not _is_utf8(data)):
        found.tapes[path] = data
    else:
        found.skipped.append(Skipped(path, "no tape: it has no `interactions`", named))


def _owner(path: Path) -> Path | None:
    """The tape beside which a body lies."""
    folder = path if path.is_dir() else path.parent
    return folder.with_suffix(".yaml") if folder.suffix == _BODIES else None


def _begins_like_a_tape(path: Path) -> bool:
    with path.open("rb") as file:
        return _BEGINS.match(file.read(_FIRST_BYTES)) is not None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
