"""Changes to a text, by place, so that every other character stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Puts `new` for what stands from `start` to `end`."""

    start: int
    end: int
    new: str


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits, which must not overlap; the very same object where there is none."""
    pieces, at = [], 0
    for edit in sorted(edits):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]]) if pieces else text


def shifted(edits: Iterable[Edit], by: int) -> list[Edit]:
    """The edits of a part of a text, as edits of the whole."""
    return [Edit(edit.start + by, edit.end + by, edit.new) for edit in edits]


def spread(parts: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The parts of a text, with edits of the whole: what reaches over a border is put into the first part it touches.

    Gives as many parts as it got.
    """
    changed = [""] * len(parts)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    ordered = sorted(edits)
    for index, part in enumerate(parts):
        start, end = starts[index], starts[index + 1]
        at, pieces = start, []
        for edit in ordered:
            if edit.end <= start or edit.start >= end:
                continue
            pieces.append(part[at - start : max(edit.start, at) - start])
            if edit.start >= start:
                pieces.append(edit.new)
            at = min(edit.end, end)
        changed[index] = "".join([*pieces, part[at - start :]])
    return changed
