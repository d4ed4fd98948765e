"""Which values of a JSON text are secret by the name above them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.json_spans import StringLeaf
from proctor.redaction.names import is_piece_of_text, names_secret_variable, normal, normal_header
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.strength import is_strong

_NUMBER = re.compile(r'"((?:[^"\\]|\\.){1,64})"\s*:\s*(\d+)(?=\s*[,}\]])')
_SHORTEST_NUMBER = 3
_TITLES = frozenset({"name", "key", "header", "variable", "field", "label"})
"""Beside a `value`, these say what the value is: `{"name": "Authorization", "value": "..."}`."""


@dataclass(frozen=True)
class JsonNames:
    """Judges by pointer. Numbers count as strings do, from three digits on."""

    rules: Rules

    def titles(self, leaves: Sequence[StringLeaf]) -> dict[str, str]:
        """By the pointer of an object: what its `name` says, where there is one."""
        found: dict[str, str] = {}
        for leaf in leaves:
            parent, _, last = leaf.pointer.rpartition("/")
            if not leaf.is_key and last in _TITLES:
                found.setdefault(parent, leaf.value)
        return found

    def kind(self, pointer: str, value: str, titles: Mapping[str, str]) -> str:
        """What sort of secret a string is by its place; empty for none."""
        if not value.strip():
            return ""
        if self.rules.pointers is not None and self.rules.pointers.fullmatch(pointer):
            return "own pointer"
        path = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        named = [part for part in path if not part.isdigit()]
        if not named:
            return ""
        last = normal(named[-1])
        if last in self.rules.fields:
            return "" if last == "token" and is_piece_of_text(path[:-1]) else f"field {named[-1]}"
        if last == "value" and self._is_secret_title(titles.get(pointer.rpartition("/")[0], "")):
            return "named value"
        above = any(normal(part) in self.rules.fields for part in named[:-1])
        return "below a secret field" if above and is_strong(value) and not is_piece_of_text(path) else ""

    def numbers(self, text: str) -> Iterator[Span]:
        """The numbers under secret names; `kind` ends with the name."""
        for found in _NUMBER.finditer(text):
            name = found[1]
            if normal(name) in self.rules.fields and len(found[2]) >= _SHORTEST_NUMBER:
                yield Span(*found.span(2), found[2], f"field {name}")

    def _is_secret_title(self, title: str) -> bool:
        return bool(title) and (
            normal(title) in self.rules.fields
            or normal_header(title) in self.rules.headers
            or title.lower() == "cookie"
            or (title.isupper() and names_secret_variable(title))
        )
