"""The YAML of a tape: written in one way, read as plain data only, every fault with its line."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import yaml

from proctor.errors import CassetteUndecodable

EXTENSION = "x-proctor"
RERECORD = "restore it from version control, or record it again"

BINARY = "!!binary"
BODY_FILE = "!proctor/body"
"""The tag of a body kept beside the tape. vcrpy refuses it, where it would play any plain stand-in as the body."""

_TEXT, _LIST, _MAPPING = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))

_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_CONFLICT = re.compile(rb"^(<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))(#.*)", re.MULTILINE)

try:
    from yaml import CSafeDumper as _BaseDumper
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML without libYAML: slower, the same bytes
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]


class Flow(dict[str, Any]):
    """A mapping written on one line."""


class FlowList(list[Any]):
    """A list written on one line."""


class Block(str):
    """Text of several lines, written as a literal block where YAML can hold it so."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BodyFile:
    """A body that is kept beside the tape: the name of its file, and its length in bytes."""

    name: str
    size: int


class _Loader(_BaseLoader):
    """Reads plain data only: a tape can never make an object."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """As the base class does, but text, lists and mappings by text at once: its generators take most of its time.

        What holds others is known before it is filled: two aliases give one object, and it may hold itself.
        """
        kind, tag = type(node), node.tag
        if kind is yaml.ScalarNode and tag == _TEXT:
            return node.value
        made = self.constructed_objects
        if node in made:
            return made[node]
        if kind is yaml.SequenceNode and tag == _LIST:
            items = made[node] = []
            items.extend([self.construct_object(each, deep) for each in node.value])
            return items
        if kind is yaml.MappingNode and tag == _MAPPING and all(map(_has_text_key, node.value)):
            pairs = made[node] = {}
            pairs.update([(key.value, self.construct_object(value, deep)) for key, value in node.value])
            return pairs
        return super().construct_object(node, deep)


def _has_text_key(pair: tuple[yaml.Node, yaml.Node]) -> bool:
    key = pair[0]
    return key.tag == _TEXT and type(key) is yaml.ScalarNode


def _body_file(loader: Any, node: yaml.Node) -> BodyFile:
    value = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else {}
    name, size = value.get("file"), value.get("bytes")
    if not isinstance(name, str) or not isinstance(size, int) or len(value) != 2:
        raise yaml.constructor.ConstructorError(
            None, None, f"{BODY_FILE} wants a file and its length in bytes", node.start_mark
        )
    return BodyFile(name, size)


class _Dumper(_BaseDumper):
    """Readable Unicode, keys in the order given, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Loader.add_constructor(BODY_FILE, _body_file)
_Dumper.add_representer(Flow, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", v.items(), flow_style=True))
_Dumper.add_representer(FlowList, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True))
_Dumper.add_representer(Block, lambda d, v: d.represent_scalar("tag:yaml.org,2002:str", str(v), style="|"))
_Dumper.add_representer(
    BodyFile, lambda d, v: d.represent_mapping(BODY_FILE, {"file": v.name, "bytes": v.size}, flow_style=True)
)


def dump(value: Any) -> str:
    """YAML text of one document."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**31 - 1, default_flow_style=False
    )
    return text


def read(data: bytes) -> dict[str, Any]:
    """The document in a tape's bytes. Raises CassetteUndecodable, with the line, for what is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CassetteUndecodable("cassette_not_utf8", f"line {line} is not UTF-8", RERECORD) from None
    conflict = _CONFLICT.search(data) if any(mark in data for mark in _MARKS) else None
    if conflict:
        line = data.count(b"\n", 0, conflict.start()) + 1
        raise CassetteUndecodable(
            "cassette_conflict",
            f"line {line}: an unresolved merge conflict ({conflict[1].decode()})",
            "take one side whole: git checkout --ours FILE, or --theirs; a tape cannot be merged by lines",
        )
    document = _parsed(data)
    if not isinstance(document, dict) or "interactions" not in document:
        raise CassetteUndecodable("cassette_shape", "line 1: no cassette: it has no `interactions`", RERECORD)
    if not isinstance(document["interactions"], list):
        line = _line_of(data, b"interactions")
        raise CassetteUndecodable("cassette_shape", f"line {line}: `interactions` is no list", RERECORD)
    return document


def item_lines(data: bytes) -> list[int]:
    """The line on which each interaction begins; slow, so for errors only. Empty where that cannot be told."""
    try:
        root = yaml.compose(data.decode("utf-8"), Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    found = [value for key, value in pairs if key.value == "interactions" and isinstance(value, yaml.SequenceNode)]
    return [item.start_mark.line + 1 for item in found[-1].value] if found else []


def comments(data: bytes) -> list[tuple[int, str]]:
    """Line and text of each comment in the bytes of a document that `read` takes; slow where a "#" stands anywhere."""
    text = data.decode("utf-8")
    marks = list(_COMMENT.finditer(text))
    if not marks:
        return []
    tokens = yaml.scan(text, Loader=_Loader)
    spans = [(one.start_mark.index, one.end_mark.index) for one in tokens if isinstance(one, yaml.ScalarToken)]
    found = []
    for mark in marks:
        place = bisect_right(spans, (mark.start(1), len(text)))
        if not place or spans[place - 1][1] <= mark.start(1):
            found.append((text.count("\n", 0, mark.start(1)) + 1, mark[1]))
    return found


def seal_line(data: bytes) -> int:
    """The line of the seal, or where it should be."""
    return _line_of(data, EXTENSION.encode())


def _line_of(data: bytes, key: bytes) -> int:
    return data.count(b"\n", 0, max(data.find(key), 0)) + 1


def _parsed(data: bytes) -> Any:
    """From bytes that are UTF-8: given text, libYAML's reader would need a tenth longer."""
    try:
        return yaml.load(data, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise CassetteUndecodable("cassette_not_yaml", f"{where}not YAML: {problem}", RERECORD) from None
    except (ValueError, RecursionError) as error:
        raise CassetteUndecodable("cassette_not_yaml", f"not YAML: {error}", RERECORD) from None
