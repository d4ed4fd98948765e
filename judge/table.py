"""Two ratings of the same things, counted: which level the first gave, which the second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Scale = Literal["0-1", "0-2", "1-5"]
LEVELS: dict[Scale, tuple[int, ...]] = {"0-1": (0, 1), "0-2": (0, 1, 2), "1-5": (1, 2, 3, 4, 5)}
"""`0-1` is pass or fail. The highest level of a scale is its pass."""


@dataclass(frozen=True)
class Table:
    """Counts of (first, second). A level may lie halfway, where two people differed by one and were averaged."""

    counts: Mapping[tuple[float, float], int]
    scale: Scale

    @property
    def n(self) -> int:
        """How many things were rated by both."""
        return sum(self.counts.values())

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """Those of the scale, and those halfway that occur."""
        return tuple(sorted({*LEVELS[self.scale], *(level for pair in self.counts for level in pair)}))

    def first(self, level: float) -> int:
        """How often the first rater gave it."""
        return self._margins[0][level]

    def second(self, level: float) -> int:
        """How often the second rater gave it."""
        return self._margins[1][level]

    def within(self, distance: float) -> int:
        """How many differ by no more than that."""
        return sum(count for (one, other), count in self.counts.items() if abs(one - other) <= distance)

    @cached_property
    def _margins(self) -> tuple[Counter[float], Counter[float]]:
        first: Counter[float] = Counter()
        second: Counter[float] = Counter()
        for (one, other), count in self.counts.items():
            first[one] += count
            second[other] += count
        return first, second

    @property
    def passed(self) -> Table:
        """The same on `0-1`: the highest level against less."""
        top = LEVELS[self.scale][-1]
        folded: Counter[tuple[float, float]] = Counter()
        for (one, other), count in self.counts.items():
            folded[float(one >= top), float(other >= top)] += count
        return Table(folded, "0-1")


def table_of(pairs: Iterable[tuple[float, float]], scale: Scale) -> Table:
    """The table of these (first, second)."""
    return Table(Counter(pairs), scale)
