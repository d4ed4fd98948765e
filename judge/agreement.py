"""How far a judge agrees with people: every figure of one set of pairs, each with its interval and its n.

One number misleads: raw agreement is high where one level is common, kappa low where it is; a judge may be lenient, or
blind for the rare level that matters. So they are told together, beside what a judge that always gives one level gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

from pydantic import BaseModel, ConfigDict

from proctor.judge.alpha import alpha_of
from proctor.judge.intervals import Figure, Interval, Rate, bootstrap, exact_rate, wilson_rate
from proctor.judge.kappa import gwet, kappa
from proctor.judge.pairs import Pair, by_trajectory
from proctor.judge.table import LEVELS, Scale, Table, table_of


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LevelAgreement(_Value):
    """One level: of those that people gave it, the share that the judge gave it (recall), and the other way round.

    The intervals are exact: a level that matters most is often rare.
    """

    level: float
    recall: Rate
    precision: Rate


class Cell(_Value):
    """A cell of the table: how often people gave the one and the judge the other."""

    human: float
    judge: float
    count: int


class Constant(_Value):
    """The level that is right most often without looking, and how often."""

    level: float
    rate: Rate


class Agreement(_Value):
    """See the module. Intervals of rates are Wilson's, of figures the bootstrap's over trajectories."""

    scale: Scale
    n: int
    """Pairs with a level of people's and a score of the judge's."""
    trajectories: int
    coverage: Rate
    """Pairs that the judge scored, of those that people labelled."""
    exact: Rate
    """Raw agreement."""
    exact_by_trajectory: Interval | None
    """The interval of raw agreement where rows of one trajectory depend on each other: wider, if they do."""
    within_one: Rate
    passed: Rate
    """Both the highest level, or both less."""
    kappa: Figure
    """Cohen's, unweighted."""
    weighted_kappa: Figure
    """Cohen's, linear weights."""
    alpha: Figure
    """Krippendorff's, ordinal."""
    ac1: Figure
    ac2: Figure
    """Gwet's; AC2 has linear weights."""
    bias: Figure
    """Mean of judge minus human, in levels: above 0 is lenient."""
    constant: Constant | None
    sensitivity: Rate
    """Passed by the judge, of those that people passed (TPR)."""
    specificity: Rate
    """Failed by the judge, of those that people failed (TNR)."""
    levels: tuple[LevelAgreement, ...]
    table: tuple[Cell, ...]

    @property
    def lowest(self) -> LevelAgreement:
        """The lowest level's: for a safety criterion, whether violations are found."""
        return self.levels[0]


def agreement(pairs: Sequence[Pair], scale: Scale) -> Agreement:
    """The figures of these pairs. Nothing scored makes every rate and figure not assessable."""
    scored = [(pair.human, pair.judge) for pair in pairs if pair.judge is not None]
    table = table_of(scored, scale)
    passed = table.passed
    exact, figures = _with_intervals(pairs, table)
    return Agreement(
        scale=scale,
        n=table.n,
        trajectories=len({pair.trajectory for pair in pairs if pair.judge is not None}),
        coverage=wilson_rate(table.n, len(pairs)),
        exact=wilson_rate(table.within(0), table.n),
        exact_by_trajectory=exact.interval,
        within_one=wilson_rate(table.within(1), table.n),
        passed=wilson_rate(passed.within(0), passed.n),
        **dict(zip(_FIGURES, figures, strict=True)),
        constant=_constant(table),
        sensitivity=exact_rate(passed.counts.get((1, 1), 0), passed.first(1)),
        specificity=exact_rate(passed.counts.get((0, 0), 0), passed.first(0)),
        levels=tuple(_level(table, level) for level in table.levels),
        table=tuple(
            Cell(human=a, judge=b, count=table.counts.get((a, b), 0))
            for a, b in product(table.levels, LEVELS[scale])
            if a in LEVELS[scale] or table.first(a)
        ),
    )


_FIGURES = ("kappa", "weighted_kappa", "alpha", "ac1", "ac2", "bias")


def _figures(table: Table) -> list[float | None]:
    if not table.n:
        return [None] * (1 + len(_FIGURES))
    bias = sum((judge - human) * count for (human, judge), count in table.counts.items()) / table.n
    two_levels = table.scale == "0-1"  # where weights change nothing
    plain, chance = kappa(table), gwet(table)
    return [
        table.within(0) / table.n,
        plain,
        plain if two_levels else kappa(table, weighted=True),
        alpha_of(table),
        chance,
        chance if two_levels else gwet(table, weighted=True),
        bias,
    ]


def _with_intervals(pairs: Sequence[Pair], table: Table) -> tuple[Figure, list[Figure]]:
    """Raw agreement and the figures. A trajectory is its counts of each cell, and a draw the sum of such rows."""
    cells = sorted(table.counts)
    rows = [
        tuple(counts.counts.get(cell, 0) for cell in cells)
        for counts in (
            table_of(((pair.human, pair.judge) for pair in own if pair.judge is not None), table.scale)
            for own in by_trajectory(pairs).values()
        )
        if counts.n
    ]

    @cache  # few pairs make few different sums
    def summed(totals: tuple[int, ...]) -> list[float | None]:
        return _figures(Table({cell: total for cell, total in zip(cells, totals, strict=True) if total}, table.scale))

    def drawn(some: Sequence[tuple[int, ...]]) -> list[float | None]:
        return summed(tuple(map(sum, zip(*some, strict=True))))

    values = _figures(table)
    intervals = bootstrap(rows, drawn) if rows else [None] * len(values)
    first, *rest = (
        Figure(value=value, interval=interval if value is not None else None)
        for value, interval in zip(values, intervals, strict=True)
    )
    return first, rest


def _constant(table: Table) -> Constant | None:
    if not table.n:
        return None
    level = max(LEVELS[table.scale], key=table.first)
    return Constant(level=level, rate=wilson_rate(table.first(level), table.n))


def _level(table: Table, level: float) -> LevelAgreement:
    both = table.counts.get((level, level), 0)
    return LevelAgreement(
        level=level,
        recall=exact_rate(both, table.first(level)),
        precision=exact_rate(both, table.second(level)),
    )
