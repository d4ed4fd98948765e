"""The code that worlds are made of, by its content: a result of other code must not be taken for one of this."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from importlib.machinery import all_suffixes
from importlib.metadata import distributions
from pathlib import Path

from proctor.errors import ConfigError
from proctor.harness.source_files import digest_of_files, files_of
from proctor.world.loading import world_file


def world_code(root: Path, references: Collection[str]) -> str:
    """A SHA-256 of what the worlds (`package.module:Class`) below `root` can be made of; empty without any.

    It is of every Python module below `root`, imported or not: which ones a world imports is not known before all of
    its tools have run. Beside them it is of every file in a world's own folder, for data that it reads there, unless
    that folder is `root` itself. Hidden folders and what is installed do not count (see `files_of`).

    Raises WorldError for a world that is not there, ConfigError for a file that cannot be read.
    """
    folders = {world_file(reference, root).parent.relative_to(root).as_posix() for reference in references} - {"."}
    found = {}
    for name in files_of("**", root) if references else ():
        if name.endswith(tuple(all_suffixes())) or any(name.startswith(f"{folder}/") for folder in folders):
            found[name] = _digest(root / name)
    return digest_of_files(found)


def installed() -> str:
    """A SHA-256 of the names and versions of all that is installed for this Python."""
    named = sorted({f"{each.name}=={each.version}" for each in distributions()})
    return hashlib.sha256("\n".join(named).encode()).hexdigest()


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        told = f"{path}, of which a world may be made, cannot be read: {error.strerror}"
        raise ConfigError("source_unreadable", told, "results depend on it: make it readable") from None
