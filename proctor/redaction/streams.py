"""Streams of JSON texts (server-sent events, a line each): a value may be split over many of them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proctor.json_spans import StringLeaf, string_leaves
from proctor.redaction.edits import Edit, shifted, spread
from proctor.redaction.walker import Walker, dumped

_LINE = re.compile(r"^[ \t]*(?:data:[ \t]*)?([\[{].*?)\r?$", re.MULTILINE)
_GROWING = frozenset(
    {"content", "text", "delta", "partial_json", "arguments", "reasoning_content", "reasoning", "thinking", "refusal"}
    | {"input", "output_text", "transcript", "response", "code"}
)
"""Fields whose values, one event after the other, make one text."""
_WHICH = ("index", "output_index", "content_index", "item_id", "choice")
"""Fields that say to which of several texts a piece belongs."""


@dataclass(frozen=True)
class _Piece:
    """One string of one event; `start` and `end` count in the whole body."""

    leaf: StringLeaf
    start: int
    end: int


def stream_edits(walker: Walker, text: str, place: str) -> list[Edit] | None:
    """The changes to a stream; None where no line of it is JSON."""
    lines = [(match.start(1), match[1]) for match in _LINE.finditer(text)]
    groups: dict[tuple[str, ...], list[_Piece]] = defaultdict(list)
    found: list[Edit] = []
    known = False
    for number, (start, line) in enumerate(lines):
        leaves = string_leaves(line, keys=True)
        if leaves is None:
            continue
        known = True
        where = f"{place}#{number}"
        grown = [leaf for leaf in leaves if not leaf.is_key and _grows(leaf.pointer)]
        others = [leaf for leaf in leaves if leaf.is_key or not _grows(leaf.pointer)]
        found += shifted(walker.leaves(line, others, where), start)
        value = json.loads(line, parse_int=str, parse_float=str) if grown else None
        for leaf in grown:
            piece = _Piece(leaf, start + leaf.start, start + leaf.end)
            groups[_group(value, leaf.pointer)].append(piece)
    if not known:
        return None
    for group, pieces in groups.items():
        found += _joined(walker, text, pieces, f"{place}{group[0]}")
    return found


def _joined(walker: Walker, text: str, pieces: list[_Piece], place: str) -> Iterator[Edit]:
    """The changes to the pieces of one text, found in the whole of it, else in each piece for itself."""
    values = [piece.leaf.value for piece in pieces]
    changed = spread(values, walker.edits("".join(values), place))
    for piece, old, joined in zip(pieces, values, changed, strict=True):
        new = walker.text(joined, place)
        if new != old:
            plain = not text[piece.start : piece.end].isascii()
            yield Edit(piece.start, piece.end, dumped(new, plain))


def _grows(pointer: str) -> bool:
    return pointer.rpartition("/")[2] in _GROWING


def _group(value: Any, pointer: str) -> tuple[str, ...]:
    """Pieces with one key make one text: their pointer, and what the objects around say of which it is."""
    which = []
    for part in pointer.split("/")[1:]:
        if isinstance(value, dict):
            which += [f"{name}={value[name]}" for name in _WHICH if isinstance(value.get(name), str)]
            value = value.get(part.replace("~1", "/").replace("~0", "~"))
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
    return (pointer, *which)
