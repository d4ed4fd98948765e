"""A project's own rules, beside those that always hold (`[redact]` in proctor.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import ConfigError
from proctor.json_spans import pointer_pattern
from proctor.redaction.innocent import Innocent
from proctor.redaction.names import FIELDS, HEADERS, QUERY, normal, normal_header
from proctor.redaction.own_function import OwnFunction, own_function
from proctor.redaction.strength import SHORTEST
from proctor.redaction.wording import is_wording


@dataclass(frozen=True)
class Rules:
    """What counts as a secret. The default is what always holds."""

    fields: frozenset[str] = FIELDS
    query: frozenset[str] = QUERY
    headers: frozenset[str] = FIELDS | HEADERS
    pointers: re.Pattern[str] | None = None
    patterns: tuple[re.Pattern[str], ...] = ()
    finder: OwnFunction | None = None
    pii: bool = False
    people: tuple[str, ...] = ()
    """Names of persons, replaced where `pii` is on."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Secret values of the environment, with the names of their variables."""
    wording: bool = True
    """Whether what is surely no secret is none even under a secret name."""
    innocent: Innocent = field(default_factory=Innocent, init=False, compare=False, repr=False)
    """Texts in which these rules found nothing."""

    @property
    def shortest(self) -> int:
        """Characters of the shortest text in which these rules find anything that no name says."""
        return 1 if self.patterns or self.finder or self.pii else SHORTEST

    def is_none(self, name: str, value: str, path: Sequence[str] = ()) -> bool:
        """Whether a value under a secret name (as the lists spell it) is none; `path` is where it stands."""
        return not value.strip() or (self.wording and is_wording(name, value, path))

    def own_pattern_spans(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Start, end and kind of what the project's own patterns and function find."""
        for number, pattern in enumerate(self.patterns, 1):
            for found in pattern.finditer(text):
                group = 1 if pattern.groups and found[1] is not None else 0
                if found[group]:
                    yield *found.span(group), f"own pattern {number}"
        for secret in self.finder(text) if self.finder else ():
            at = text.find(secret) if secret else -1
            while at >= 0:
                yield at, at + len(secret), "own function"
                at = text.find(secret, at + len(secret))


def rules_of(declared: Mapping[str, Any], root: Path, variables: Mapping[str, str] | None = None) -> Rules:
    """The rules of `[redact]` as plain data. Raises ConfigError where a function or a list cannot be loaded."""
    more = {normal(name) for name in declared.get("names", ())}
    more_headers = {normal_header(name) for name in declared.get("names", ())}
    kept = {normal(name) for name in declared.get("keep", ())}
    kept_headers = {normal_header(name) for name in declared.get("keep", ())}
    pointers = declared.get("pointers", ())
    function = declared.get("function", "")
    return Rules(
        fields=frozenset(FIELDS | more) - kept,
        query=frozenset(QUERY | more) - kept,
        headers=frozenset(FIELDS | HEADERS | more_headers) - kept_headers,
        pointers=pointer_pattern(pointers) if pointers else None,
        patterns=tuple(map(re.compile, declared.get("patterns", ()))),
        finder=own_function(function, root) if function else None,
        pii=bool(declared.get("pii", False)),
        people=(*declared.get("people", ()), *_listed(declared.get("people_file", ""), root)),
        variables=dict(variables or {}),
    )


def _listed(name: str, root: Path) -> tuple[str, ...]:
    """The lines of a list of names; empty ones and those that begin with "#" are none."""
    if not name:
        return ()
    try:
        lines = (root / name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = f'[redact] people_file = "{name}" cannot be read: {error}'
        raise ConfigError("redact_people", told, "one name a line, UTF-8, beside proctor.toml") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
