"""YAML that people write: plain data only, small, without aliases, each value with its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from proctor.errors import ProctorError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libYAML
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

Place = tuple[str | int, ...]
"""Keys and indexes that lead to a value."""
Lines = dict[Place, int]

_QUOTES = 'put a text that holds ": " or begins with a sign in quotes, or write it after ">-" on lines of its own'
_PLAIN = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null"))


@dataclass(frozen=True)
class FileKind:
    """A kind of file, as its errors speak of it."""

    name: str
    """With which the codes begin: `rubric` in `rubric_not_yaml`."""
    error: type[ProctorError]
    page: str
    """Where the format is explained."""
    largest: int
    """Bytes; more is another file, or an attack."""
    deepest: int
    """Lists and mappings within each other."""


def read_yaml(data: bytes, name: str, kind: FileKind) -> tuple[Any, Lines]:
    """The document, and the line (from 1) of each key and list item by its place. Raises the error of the kind."""
    reading = _Reading(name, kind)
    return reading.document(data), reading.lines


def line_of(lines: Lines, place: Place) -> int:
    """The line of a place, or of the nearest thing around it that has one."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


@dataclass
class _Reading:
    name: str
    kind: FileKind
    lines: Lines = field(default_factory=lambda: {(): 1})

    def document(self, data: bytes) -> Any:
        if len(data) > self.kind.largest:
            told = f"{self.name} has more than {self.kind.largest:,} bytes"
            raise self.kind.error(f"{self.kind.name}_too_large", told, "make several of it")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._error("not_utf8", f"line {line} is not UTF-8", "save it as UTF-8") from None
        try:
            self._refuse_aliases(text)
            root = yaml.compose(text, Loader=_Loader)
            return None if root is None else self._value(root, ())
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark else ""
            problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
            fix = (
                'put a text that holds ": " or begins with a sign in quotes, or write it after ">-" on lines of its own'
            )
            raise self._error("not_yaml", f"{where}not YAML: {problem}", fix) from None

    def _refuse_aliases(self, text: str) -> None:
        """Before anything is built: an alias lets a small file say a huge thing, and depth breaks the reader."""
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise self._error("alias", f"line {line}: an anchor or alias", "write the value out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > self.kind.deepest:
                raise self._error("too_deep", f"line {line}: nested too deep", f"see {self.kind.page}")

    def _value(self, node: yaml.Node, place: Place) -> Any:
        if isinstance(node, yaml.SequenceNode):
            for at, item in enumerate(node.value):
                self.lines[*place, at] = item.start_mark.line + 1
            return [self._value(item, (*place, at)) for at, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        line = node.start_mark.line + 1
        if node.tag not in _PLAIN:
            what = node.tag.rpartition(":")[2] or node.tag
            told = f"line {line}: a {what}, where texts, numbers, true and false are all that there can be"
            raise self._error("not_plain", told, "put it in quotes")
        try:
            return yaml.constructor.SafeConstructor().construct_object(node)
        except ValueError as error:
            raise self._error("not_plain", f"line {line}: {error}", "put it in quotes") from None

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if key_node.tag != _PLAIN[0]:
                raise self._error("not_plain", f"line {line}: a key that is no text", "put it in quotes")
            if key in found:
                told = f'line {line}: "{key}" stands already on line {self.lines[*place, key]}'
                raise self._error("repeated_key", told, "keep one of the two")
            self.lines[*place, key] = line
            found[key] = self._value(value_node, (*place, key))
        return found

    def _error(self, code: str, told: str, fix: str) -> ProctorError:
        return self.kind.error(f"{self.kind.name}_{code}", f"{self.name}: {told}", fix)
