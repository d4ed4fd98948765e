"""One-to-one assignment: as many pairs as can be, none of either side used twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def assign(candidates: Sequence[Sequence[int]]) -> list[int | None]:
    """For each left one, its right one of a maximum matching, or None. `candidates[i]`: what left `i` may take.

    Augmenting paths, found breadth first: time left * edges. A left one takes its first free candidate, so equal
    ones are paired in order.
    """
    of_left: list[int | None] = [None] * len(candidates)
    of_right: dict[int, int] = {}
    for left in range(len(candidates)):
        _augment(left, candidates, of_left, of_right)
    return of_left


def _augment(
    start: int, candidates: Sequence[Sequence[int]], of_left: list[int | None], of_right: dict[int, int]
) -> None:
    """Give `start` a partner, moving others on along one path where that is needed."""
    reached_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        left = queue.popleft()
        for right in candidates[left]:
            if right in reached_from:
                continue
            reached_from[right] = left
            holder = of_right.get(right)
            if holder is None:
                _flip(right, reached_from, of_left, of_right)
                return
            queue.append(holder)


def _flip(right: int, reached_from: dict[int, int], of_left: list[int | None], of_right: dict[int, int]) -> None:
    end: int | None = right
    while end is not None:
        left = reached_from[end]
        before = of_left[left]
        of_left[left], of_right[end] = end, left
        end = before
