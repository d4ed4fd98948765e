"""What a tool's docstring says: of the tool, and of each argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_SECTION = re.compile(r"(?:Args|Arguments):\s*")
_OTHER_SECTION = re.compile(r"(?:Returns|Raises|Yields|Example|Examples|Note|Notes):\s*")
_ARGUMENT = re.compile(r"    (\w+)(?: \([^)]*\))?: *(.*)")


class Told(NamedTuple):
    """The description of a tool, and those of its arguments by name."""

    description: str
    arguments: dict[str, str]


def read_docstring(function: Callable[..., Any]) -> Told:
    """The text before `Args:` as one paragraph, and `name: text` lines below it; longer texts go on, further in."""
    prose: list[str] = []
    arguments: dict[str, str] = {}
    section, current = "prose", ""
    for line in (inspect.getdoc(function) or "").splitlines():
        if _SECTION.fullmatch(line):
            section = "arguments"
        elif _OTHER_SECTION.fullmatch(line):
            section = "other"
        elif section == "prose":
            prose.append(line.strip())
        elif section == "arguments":
            named = _ARGUMENT.fullmatch(line)
            if named:
                current = named[1]
                arguments[current] = named[2].strip()
            elif current and line.startswith("     "):
                arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return Told(" ".join(filter(None, prose)), arguments)
