"""Tapes of one folder that were made against different things: a suite that half tests staging, half something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from proctor.errors import CassetteError
from proctor.paths import Layout
from proctor.tape_yaml import EXTENSION, read

_LONG = (b"    sums:", b"    times:")
"""Lines of a tape's head that grow with it and are of no interest here."""
_NAMED = 5

Facets = Mapping[str, str]
"""What must not differ within a folder, by what it is called."""


def mixes(layout: Layout, names: Iterable[str]) -> list[str]:
    """A warning for each thing in which tapes of one folder differ, with the command that mends it.

    Only heads are read, so that a folder of hundreds costs little. A tape that cannot be read is left out: whatever
    plays it says so.
    """
    folders: defaultdict[str, dict[str, Facets]] = defaultdict(dict)
    for name in names:
        stamp = _stamp(layout, name)
        if stamp is not None:
            folders[str(PurePosixPath(name).parent)][name] = facets(stamp)
    return [warning for folder, tapes in sorted(folders.items()) for warning in differing(folder, tapes)]


def mixes_beside(layout: Layout, name: str) -> list[str]:
    """The warnings of one tape's folder."""
    folder = PurePosixPath(name).parent
    return mixes(layout, [each for each in layout.cassette_names() if PurePosixPath(each).parent == folder])


def facets(stamp: Mapping[str, Any]) -> Facets:
    """What a stamp says of the environment, of each service's host and of each tool's schema."""
    services, tools = (stamp.get(key) or {} for key in ("services", "tool_schemas"))
    return {
        "the environment": str(stamp.get("environment") or "not named"),
        **{f"the host of {name}": urlsplit(str(url)).hostname or str(url) for name, url in services.items()},
        **{f"the schema of the tool {name}": str(schema) for name, schema in tools.items()},
    }


def differing(folder: str, tapes: Mapping[str, Facets]) -> Iterator[str]:
    """The warnings of one folder: what most of its tapes have, and which have something else."""
    for what in dict.fromkeys(what for each in tapes.values() for what in each):
        by_value: defaultdict[str, list[str]] = defaultdict(list)
        for name, each in tapes.items():
            if what in each:
                by_value[each[what]].append(name)
        if len(by_value) > 1:
            usual, *others = sorted(by_value, key=lambda value: -len(by_value[value]))
            odd = [name for value in others for name in by_value[value]]
            values = ", ".join(f'"{value}" ({len(by_value[value])})' for value in (usual, *others)[:_NAMED])
            place = "cassettes/" if folder == "." else f"cassettes/{folder}/"
            yield f"{place} mixes {what}: {values}; record again: {_command(odd)}"


def _command(names: list[str]) -> str:
    more = f"   (and {len(names) - _NAMED} more)" if len(names) > _NAMED else ""
    return "proctor record " + " ".join(f"--again {name}" for name in names[:_NAMED]) + more


def _stamp(layout: Layout, name: str) -> dict[str, Any] | None:
    lines = []
    try:
        with layout.cassette(name).open("rb") as file:
            for line in file:
                if line.startswith(b"interactions:"):
                    break
                if not line.startswith(_LONG):
                    lines.append(line)
        metadata = read(b"".join([*lines, b"interactions: []\n"])).get("metadata")
    except (OSError, CassetteError):
        return None
    stamp = metadata.get(EXTENSION) if isinstance(metadata, dict) else None
    return stamp if isinstance(stamp, dict) else None
