"""Krippendorff's alpha for ordered levels: any number of raters, and gaps.

Source: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from proctor.judge.table import Table

Coincidences = defaultdict[tuple[float, float], float]


def alpha(units: Iterable[Sequence[float | None]]) -> float | None:
    """Of units, each with what its raters gave (None is a gap). A unit that one rater saw says nothing.

    None where no unit has two ratings, or all ratings are one level: there is nothing to tell apart.
    """
    pairs: Coincidences = defaultdict(float)
    for unit in units:
        given = Counter(value for value in unit if value is not None)
        raters = given.total()
        if raters < 2:
            continue
        for a, many in given.items():
            for b, others in given.items():
                pairs[a, b] += many * (others - (a == b)) / (raters - 1)
    return _alpha(pairs)


def alpha_of(table: Table) -> float | None:
    """The same of two raters without gaps."""
    pairs: Coincidences = defaultdict(float)
    for (a, b), count in table.counts.items():
        pairs[a, b] += count
        pairs[b, a] += count
    return _alpha(pairs)


def _alpha(pairs: Coincidences) -> float | None:
    levels = sorted({a for a, _ in pairs})
    total = {level: sum(pairs[level, other] for other in levels) for level in levels}
    n = sum(total.values())
    distance = _ordinal(levels, [total[level] for level in levels])
    expected = sum(total[a] * total[b] * distance(a, b) for a in levels for b in levels)
    if not expected:
        return None
    seen = sum(weight * distance(a, b) for (a, b), weight in pairs.items())
    return 1 - (n - 1) * seen / expected


def _ordinal(levels: Sequence[float], total: Sequence[float]) -> Callable[[float, float], float]:
    """Squared: how many ratings lie between two levels, half of each end included."""
    place = {level: ends - own / 2 for level, own, ends in zip(levels, total, accumulate(total), strict=True)}
    return lambda a, b: (place[a] - place[b]) ** 2
