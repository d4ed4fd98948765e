"""Rates with their counts, and how far each can be believed.

Wilson's interval is for plain rates, the exact one for rare events (a recall of violations), the bootstrap over
trajectories for whatever else is computed from pairs: rows of one trajectory are no independent trials.
All are two-sided at 95 %.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

Z = NormalDist().inv_cdf(0.975)
RESAMPLES = 2000
SEED = 20
_HALVINGS = 60
_UNDEFINED_AT_MOST = 0.05

Cluster = TypeVar("Cluster")


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Interval(_Value):
    """95 %, both ends included."""

    low: float
    high: float


class Rate(_Value):
    """`right` of `of`. Without a denominator it is not assessable: `value` is None, never 0 and never 1."""

    right: int = Field(ge=0)
    of: int = Field(ge=0)
    value: float | None
    interval: Interval | None

    def __str__(self) -> str:
        return "not assessable (0/0)" if self.value is None else f"{percent(self.value)} ({self.right}/{self.of})"


class Figure(_Value):
    """A number that is no rate. None where nothing can be said, or (the interval) where too little was seen."""

    value: float | None
    interval: Interval | None = None


def percent(value: float) -> str:
    """A share for a person, one decimal: `89.6 %`."""
    return f"{value * 100:.1f} %"


def wilson_rate(right: int, of: int) -> Rate:
    """A rate with Wilson's interval."""
    return Rate(right=right, of=of, value=right / of if of else None, interval=wilson(right, of))


def exact_rate(right: int, of: int) -> Rate:
    """A rate with the exact interval."""
    return Rate(right=right, of=of, value=right / of if of else None, interval=clopper_pearson(right, of))


def wilson(right: int, of: int) -> Interval | None:
    """Wilson's score interval; None without a denominator."""
    if not of:
        return None
    share, room = right / of, Z * Z / of
    middle = share + room / 2
    half = Z * math.sqrt((share * (1 - share) + room / 4) / of)
    return Interval(low=max(0.0, (middle - half) / (1 + room)), high=min(1.0, (middle + half) / (1 + room)))


def clopper_pearson(right: int, of: int) -> Interval | None:
    """The exact interval (Clopper and Pearson, 1934); None without a denominator."""
    if not of:
        return None
    low = 0.0 if right == 0 else _where(lambda p: at_least(right, of, p), 0.025)
    high = 1.0 if right == of else _where(lambda p: 1 - at_least(right + 1, of, p), 0.025, falling=True)
    return Interval(low=low, high=high)


def at_most_share(of: int) -> float | None:
    """The largest true share that seeing none in `of` still allows, at 95 %, one-sided; None for none looked at."""
    return 1 - 0.05 ** (1 / of) if of else None


def at_least(count: int, of: int, share: float) -> float:
    """The chance of `count` or more in `of` independent trials that each succeed with `share`."""
    if count <= 0:
        return 1.0
    if share <= 0 or share >= 1:
        return float(share >= 1 and count <= of)
    odds, rest = math.log(share), math.log1p(-share)
    whole = math.lgamma(of + 1)
    terms = (
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * odds + (of - k) * rest)
        for k in range(count, of + 1)
    )
    return min(1.0, math.fsum(terms))


def bootstrap(
    clusters: Sequence[Cluster], figures: Callable[[Sequence[Cluster]], Sequence[float | None]]
) -> list[Interval | None]:
    """The interval of each of `figures`, by drawing whole clusters again: seeded, so equal input gives equal intervals.

    None for a figure that more than one draw in twenty leaves undefined, and for all where there is one cluster only.
    """
    if len(clusters) < 2:
        return [None for _ in figures(clusters)]
    draw = random.Random(SEED)  # noqa: S311 (statistics, no secret)
    drawn = [figures(draw.choices(clusters, k=len(clusters))) for _ in range(RESAMPLES)]
    return [_middle([value for value in column if value is not None]) for column in zip(*drawn, strict=True)]


def _middle(values: list[float]) -> Interval | None:
    if len(values) < RESAMPLES * (1 - _UNDEFINED_AT_MOST):
        return None
    values.sort()
    cut = int(len(values) * 0.025)
    return Interval(low=values[cut], high=values[-1 - cut])


def _where(chance: Callable[[float], float], wanted: float, *, falling: bool = False) -> float:
    """The share at which a chance that rises (or falls) with it is `wanted`, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if (chance(middle) < wanted) != falling:
            low = middle
        else:
            high = middle
    return (low + high) / 2
