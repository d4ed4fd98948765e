"""Which rule decides a place: told to people who try rules of their own on a tape that is there already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.json_spans import pointer_pattern
from proctor.redaction.environment import secret_variables
from proctor.redaction.names import FIELDS, HEADERS, QUERY, normal, normal_header
from proctor.redaction.rules import Rules, rules_of
from proctor.sensitive.finds import PERSONAL

_NAMED = re.compile(r"(?:field|parameter|header|variable) (.+)", re.DOTALL)
_BUILT_IN = FIELDS | QUERY | HEADERS
_BODY = re.compile(r"(?:request|response)\.body(?:#\d+)?(/.*)", re.DOTALL)
_BY_KIND = {
    "key or token": "shape: it looks like a key",
    "named in text": "name before it in the text",
    "named element": "name of its element",
    "named value": "name beside it",
    "below a secret field": "name above it",
    "connection string": "connection string",
    "URL password": "password in a URL",
    "URL user": "token in a URL",
    "own function": "own function",
    "person": "people",
}


@dataclass(frozen=True)
class ProjectRules:
    """The rules of `[redact]` as recording would use them now, and how each is told."""

    declared: Mapping[str, Any]
    now: Rules
    without_keep: Rules | None
    """The same without `keep`; None where nothing is kept."""

    def told(self, kind: str, place: str) -> str:
        """The rule by which something of this kind was found at a place."""
        named = _NAMED.fullmatch(kind)
        if named and kind.startswith("variable "):
            return f"environment: the value of {named[1]}"
        if named:
            own = _first(named[1], self.declared.get("names", ()))
            return f'names: "{own}"' if own and not _built_in(named[1]) else f'built-in name "{named[1]}"'
        if kind == "own pointer":
            return f'pointers: "{self._pointer(place)}"'
        if kind.startswith("own pattern "):
            return f'patterns: "{self.declared["patterns"][int(kind.rpartition(" ")[2]) - 1]}"'
        if kind == "own function":
            return f'function: "{self.declared["function"]}"'
        return "pii" if kind in PERSONAL else _BY_KIND.get(kind, "header that holds credentials")

    def kept(self, kind: str) -> str:
        """The entry of `keep` by which something of this kind is left as it is."""
        named = _NAMED.fullmatch(kind)
        name = _first(named[1], self.declared.get("keep", ())) if named else ""
        return f'keep: "{name}"' if name else "keep"

    def own(self) -> list[str]:
        """Every rule of the project's own, as `told` and `kept` tell it."""
        several = [f'{key}: "{each}"' for key in ("names", "pointers", "patterns", "keep") for each in self._all(key)]
        function = [f'function: "{self.declared["function"]}"'] if self.declared.get("function") else []
        people = ["people"] if self.now.people else []
        return [*several, *function, *people, *(["pii"] if self.now.pii else [])]

    def _all(self, key: str) -> Iterable[str]:
        return tuple(self.declared.get(key, ()))

    def _pointer(self, place: str) -> str:
        found = _BODY.fullmatch(place)
        at = found[1] if found else place
        return next((each for each in self._all("pointers") if pointer_pattern((each,)).fullmatch(at)), at)


def project_rules(declared: Mapping[str, Any], root: Path, environ: Mapping[str, str]) -> ProjectRules:
    """What `[redact]` says, as plain data, with the secrets of this environment. Raises ConfigError as `rules_of`."""
    keep = declared.get("keep", ())
    now = rules_of(declared, root, secret_variables(environ, keep))
    if not keep:
        return ProjectRules(declared, now, None)
    return ProjectRules(declared, now, rules_of({**declared, "keep": ()}, root, secret_variables(environ)))


def _first(name: str, among: Iterable[str]) -> str:
    """The declared spelling of a name; empty where it is not declared."""
    return next(
        (each for each in among if normal(each) == normal(name) or normal_header(each) == normal_header(name)), ""
    )


def _built_in(name: str) -> bool:
    return normal(name) in _BUILT_IN or normal_header(name) in _BUILT_IN
