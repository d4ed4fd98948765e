"""Which values of a JSON text are secret by the name above them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.json_spans import StringLeaf
from proctor.redaction.names import is_piece_of_text, names_secret_variable, normal, normal_header, words
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.strength import is_strong

_NUMBER = re.compile(r'"((?:[^"\\]|\\.){1,64})"\s*:\s*(\d+)(?=\s*[,}\]])')
_SHORTEST_NUMBER = 3
_TITLES = frozenset({"name", "key", "header", "variable", "field", "label"})
"""Beside a `value`, these say what the value is: `{"name": "Authorization", "value": "..."}`."""
COOKIES = frozenset({"cookie", "setcookie"})
"""Kinds of headers that stand in a body, with many secrets in one string."""
_COOKIE = re.compile(r"\s*[^=;\s\"]{1,128}=[^=;\s]")
_SAID_OF = words("$ref pattern description title format name secretname type kind scope scopes id domain path")
"""Fields of an object with a secret name that are no secret: of a schema, or what the secret is called."""


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
        title = titles.get(pointer.rpartition("/")[0], "") if last == "value" else ""
        header = normal(title or last)
        if header in COOKIES and _COOKIE.match(value):
            return header
        if last in self.rules.fields:
            none = self.rules.is_none(last, value, path) or (last == "token" and is_piece_of_text(path[:-1]))
            return "" if none else f"field {named[-1]}"
        if self._is_secret_title(title):
            return "" if self.rules.is_none(normal(title), value, path) else "named value"
        in_cookies = normal(named[-2]) == "cookies" if len(named) > 1 else False  # by name, or a list of `value`s
        above = in_cookies or any(normal(part) in self.rules.fields for part in named[:-1])
        below = above and last not in _SAID_OF and _is_strong_below(value) and not is_piece_of_text(path)
        return "below a secret field" if below else ""

    def numbers(self, text: str) -> Iterator[Span]:
        """The numbers under secret names; `kind` ends with the name."""
        for found in _NUMBER.finditer(text):
            name = _unescaped(found[1])
            low = normal(name)
            if low in self.rules.fields and len(found[2]) >= _SHORTEST_NUMBER and not self.rules.is_none(low, found[2]):
                yield Span(*found.span(2), found[2], f"field {name}")

    def _is_secret_title(self, title: str) -> bool:
        return bool(title) and (
            normal(title) in self.rules.fields
            or normal_header(title) in self.rules.headers
            or title.lower() == "cookie"
            or (title.isupper() and names_secret_variable(title))
        )


def _is_strong_below(value: str) -> bool:
    """Strong, with a digit, and no address or name of a kind."""
    return is_strong(value) and any(map(str.isdigit, value)) and "://" not in value and not value.startswith("urn:")


def _unescaped(name: str) -> str:
    return str(json.loads(f'"{name}"')) if "\\" in name else name
