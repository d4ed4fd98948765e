"""Files that a result depends on, by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from proctor.errors import ConfigError

_ANY = "**"
_NOT_OURS = frozenset({"__pycache__", "node_modules"})
"""Folders of what is made from other files, or installed by a lock file."""
_ENVIRONMENT = "pyvenv.cfg"
"""Stands in the folder of a virtual environment."""


def named_files(patterns: Iterable[str], root: Path) -> dict[str, str]:
    """By path from `root`: the SHA-256 of each file that a pattern of `[agent] sources` names (see `files_of`).

    Raises ConfigError for a pattern without a file, and for a file that lies, or that a link leads, out of `root`.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        told = f'[agent] sources: "{pattern}"'
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise _outside(told, root)
        digests = {name: file_digest(root, name, told) for name in files_of(pattern, root)}
        if not digests:
            fix = f'all files of a folder are "{pattern.rstrip("/")}/**"' if _is_folder(root, pattern) else ""
            raise ConfigError("source_missing", f"{told} is no file below {root}", fix or "mend it, or take it out")
        found |= digests
    return dict(sorted(found.items()))


def files_of(pattern: str, root: Path) -> Iterator[str]:
    """The files that a pattern names, as paths from `root`. `*` stands for any part of a name, `**` for any folders.

    A name that begins with a dot fits a part that does so only. Links are followed, but not in a circle. Virtual
    environments, `node_modules` and `__pycache__` are passed over. Raises ConfigError for a folder that cannot be read.
    """
    parts = Path(pattern).parts
    found = _files(root, parts, frozenset({root.resolve()})) if parts else ()
    yield from dict.fromkeys(path.relative_to(root).as_posix() for path in found)


def file_digest(root: Path, name: str, told: str) -> str:
    """The SHA-256 of a file's content. Raises ConfigError, which `told` begins, for one outside of `root` or gone."""
    path = root / name
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            raise _outside(f"{told}: {name}", root)
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, RuntimeError) as error:
        raise _unreadable(f"{told}: {path}", error) from None


def digest_of_files(files: Mapping[str, str]) -> str:
    """One SHA-256 for all of them: of their paths and contents. Empty without any."""
    lines = "".join(f"{digest} {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest() if lines else ""


def _files(folder: Path, parts: Sequence[str], above: frozenset[Path]) -> Iterator[Path]:
    """Those below `folder` that the parts of a pattern name; `above` are the real folders on the way to it."""
    part, rest = parts[0], parts[1:]
    if part == _ANY and rest:
        yield from _files(folder, rest, above)
    for path in _entries(folder, part):
        if path.is_dir():
            real = path.resolve()
            if real in above or path.name in _NOT_OURS or (path / _ENVIRONMENT).exists():
                continue
            if part == _ANY or rest:
                yield from _files(path, parts if part == _ANY else rest, above | {real})
        elif not rest and path.is_file():
            yield path


def _entries(folder: Path, part: str) -> list[Path]:
    wanted = "*" if part == _ANY else part
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise _unreadable(str(folder), error) from None
    return [
        each for each in found if fnmatchcase(each.name, wanted) and (wanted[0] == "." or not each.name.startswith("."))
    ]


def _is_folder(root: Path, pattern: str) -> bool:
    try:
        return (root / pattern).is_dir()
    except ValueError:  # a NUL in it
        return False


def _unreadable(told: str, error: Exception) -> ConfigError:
    said = getattr(error, "strerror", None) or error
    return ConfigError("source_unreadable", f"{told} cannot be read: {said}", "results depend on it: make it readable")


def _outside(told: str, root: Path) -> ConfigError:
    return ConfigError("source_outside", f"{told} leads out of {root}", "keep it in the project's folder")
