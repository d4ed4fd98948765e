"""Names of tools: the same name, a prefix (`query_*`), or another name that a table declares for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal

Aliases = Mapping[str, Sequence[str]]
"""A name as the suite writes it, and the other names that agents have for the same tool."""

NameMatch = Literal["exact", "prefix", "alias"]


def name_match(wanted: str, made: str, aliases: Aliases | None = None) -> NameMatch | None:
    """How the tool that was called is the one wanted, or None. A `*` at the end of `wanted` makes it a prefix."""
    if _is(wanted, made):
        return "prefix" if wanted.endswith("*") and wanted != made else "exact"
    for name, others in (aliases or {}).items():
        if wanted == name and any(_is(other, made) for other in others):
            return "alias"
    return None


def named(wanted: Iterable[str], made: str, aliases: Aliases | None = None) -> bool:
    """The tool that was called is one of those wanted."""
    return any(name_match(name, made, aliases) for name in wanted)


def nearest_name(wanted: str, made: Iterable[str]) -> str | None:
    """Of the tools that were called, the one most like the name wanted, for a message."""
    close = get_close_matches(wanted.rstrip("*"), sorted(set(made)), n=1)
    return close[0] if close else None


def _is(wanted: str, made: str) -> bool:
    return made.startswith(wanted[:-1]) if wanted.endswith("*") else made == wanted
