"""In which pieces a body came that was streamed, and when: kept beside it, so that a replay can send it likewise."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise


@dataclass(frozen=True, slots=True)
class Pieces:
    """The table of a streamed body. `lengths` are bytes of each piece, in order; their sum is the body's length."""

    lengths: tuple[int, ...]
    at: tuple[int, ...]
    """When each came: milliseconds since the request arrived. As many as there are lengths."""
    anew: bool = False
    """The lengths are not those in which the pieces came: the body was changed, and they were fitted to it."""

    def fit(self, body: bytes) -> bool:
        """Whether this is a table of that body."""
        rising = all(one <= following for one, following in pairwise(self.at))
        whole = sum(self.lengths) == len(body) and all(length > 0 for length in self.lengths)
        return len(self.lengths) == len(self.at) and whole and rising

    def of(self, body: bytes) -> Iterator[bytes]:
        """The pieces of a body that they fit."""
        start = 0
        for length in self.lengths:
            yield body[start : start + length]
            start += length


def table(lengths: Sequence[int], at: Sequence[float]) -> Pieces | None:
    """The table of pieces that came so many seconds after the request; None where the body came in one."""
    if len(lengths) < 2:
        return None
    return Pieces(tuple(lengths), tuple([round(seconds * 1000) for seconds in at]))


def fitted(pieces: Pieces | None, old: bytes, new: bytes) -> Pieces | None:
    """The table after `old`, which it fits, became `new`: each piece ends where the same text ends now.

    Where a changed stretch spans several pieces, the first of them holds all that it became. A body whose lines cannot
    be told any more (it is compressed, or has fewer of them now) is divided in the same proportions.
    """
    if pieces is None or old == new:
        return pieces
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    ends = list(accumulate(pieces.lengths))
    if len(old_lines) != len(new_lines):
        return resized(pieces, len(new))
    *inner, _ = _moved(ends, old_lines, new_lines)
    return _cut_at(pieces, [*inner, len(new)])  # what was put at the very end is the last piece's


def resized(pieces: Pieces, length: int) -> Pieces | None:
    """The table for a body of another length, of which nothing else is known: the same proportions."""
    whole = sum(pieces.lengths) or 1
    return _cut_at(pieces, [end * length // whole for end in accumulate(pieces.lengths)])


def _moved(ends: Sequence[int], old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """Where each end stands now, line by line; one within a changed stretch stands at the end of it."""
    moved: list[int] = []
    waiting = deque(ends)
    old_start = new_start = 0
    for before, after in zip(old, new, strict=True):
        same = behind = len(before)
        if before != after and waiting and waiting[0] <= old_start + len(before):
            same = _alike(before, after)
            behind = _alike(before[same:][::-1], after[same:][::-1])
        while waiting and waiting[0] <= old_start + len(before):
            column = waiting.popleft() - old_start
            moved.append(new_start + (column if column <= same else len(after) - min(len(before) - column, behind)))
        old_start += len(before) + 1
        new_start += len(after) + 1
    return moved


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), 1, key=lambda size: one[:size] != other[:size])


def _cut_at(pieces: Pieces, ends: Sequence[int]) -> Pieces | None:
    """The table with these ends; a piece of which nothing is left is none."""
    kept = [(end - start, at) for (start, end), at in zip(pairwise([0, *ends]), pieces.at, strict=True) if end > start]
    if len(kept) < 2:
        return None
    return replace(pieces, lengths=tuple(length for length, _ in kept), at=tuple(at for _, at in kept), anew=True)
