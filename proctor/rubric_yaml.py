"""The YAML of a rubric: plain data only, small, without aliases, each value with its line."""

from __future__ import annotations

from typing import Any

import yaml

from proctor.errors import RubricError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libYAML
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

Path = tuple[str | int, ...]
LARGEST = 256 * 1024
"""Bytes of a file. A rubric is a few pages; more is another file, or an attack."""

_DEEPEST = 12
_PLAIN = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null"))


def read_yaml(data: bytes, name: str) -> tuple[Any, dict[Path, int]]:
    """The document, and the line (from 1) of each key and list item by its path. Raises RubricError."""
    if len(data) > LARGEST:
        raise RubricError("rubric_too_large", f"{name} has more than {LARGEST:,} bytes", "a rubric is a few pages")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RubricError("rubric_not_utf8", f"{name}: line {line} is not UTF-8", "save it as UTF-8") from None
    lines: dict[Path, int] = {(): 1}
    try:
        _refuse_aliases(text, name)
        root = yaml.compose(text, Loader=_Loader)
        return (None if root is None else _value(root, (), lines, name)), lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        fix = 'put a text that holds ": " or begins with a sign in quotes, or write it after ">-" on lines of its own'
        raise RubricError("rubric_not_yaml", f"{name}: {where}not YAML: {problem}", fix) from None


def _refuse_aliases(text: str, name: str) -> None:
    """Before anything is built: an alias lets a small file say a huge thing, and depth breaks the reader."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise RubricError("rubric_alias", f"{name}: line {line}: an anchor or alias", "write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise RubricError("rubric_too_deep", f"{name}: line {line}: nested too deep", "see docs/rubrics.md")


def _value(node: yaml.Node, path: Path, lines: dict[Path, int], name: str) -> Any:
    if isinstance(node, yaml.SequenceNode):
        for at, item in enumerate(node.value):
            lines[*path, at] = item.start_mark.line + 1
        return [_value(item, (*path, at), lines, name) for at, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines, name)
    line = node.start_mark.line + 1
    if node.tag not in _PLAIN:
        what = node.tag.rpartition(":")[2] or node.tag
        message = f"{name}: line {line}: a {what}, where texts, numbers, true and false are all that there can be"
        raise RubricError("rubric_not_plain", message, "put it in quotes")
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except ValueError as error:
        raise RubricError("rubric_not_plain", f"{name}: line {line}: {error}", "put it in quotes") from None


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value
        if key_node.tag != _PLAIN[0]:
            raise RubricError("rubric_not_plain", f"{name}: line {line}: a key that is no text", "put it in quotes")
        if key in found:
            first = lines[*path, key]
            message = f'{name}: line {line}: "{key}" stands already on line {first}'
            raise RubricError("rubric_repeated_key", message, "keep one of the two")
        lines[*path, key] = line
        found[key] = _value(value_node, (*path, key), lines, name)
    return found
