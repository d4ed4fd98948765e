"""Agreement of two raters beyond chance: Cohen's kappa, and Gwet's AC1 and AC2 for skewed classes.

Sources: Cohen 1960 and 1968 (kappa, weighted kappa); Gwet 2008 (AC1); Gwet, Handbook of Inter-Rater Reliability, 4th
edition 2014, chapter 5 (AC2). Weights are linear: ratings a step apart agree by 1 - step / widest step.
"""

from __future__ import annotations

from collections.abc import Callable

from proctor.judge.table import Table

Weight = Callable[[float, float], float]


def kappa(table: Table, *, weighted: bool = False) -> float | None:
    """Cohen's; None where nothing was rated, or chance alone explains everything (both gave one level only)."""
    if not table.n:
        return None
    weight, levels = _weight(table, weighted), table.levels
    first = [(level, table.first(level) / table.n) for level in levels if table.first(level)]
    second = [(level, table.second(level) / table.n) for level in levels if table.second(level)]
    chance = sum(weight(a, b) * one * other for a, one in first for b, other in second)
    return _beyond(_seen(table, weight), chance)


def gwet(table: Table, *, weighted: bool = False) -> float | None:
    """AC1, or AC2 with linear weights; None where nothing was rated."""
    if not table.n:
        return None
    weight, levels = _weight(table, weighted), table.levels
    share = [(table.first(level) + table.second(level)) / (2 * table.n) for level in levels]
    total = sum(weight(a, b) for a in levels for b in levels)
    chance = total / (len(levels) * (len(levels) - 1)) * sum(each * (1 - each) for each in share)
    return _beyond(_seen(table, weight), chance)


def _seen(table: Table, weight: Weight) -> float:
    return sum(weight(a, b) * count for (a, b), count in table.counts.items()) / table.n


def _weight(table: Table, weighted: bool) -> Weight:
    if not weighted:
        return lambda a, b: float(a == b)
    widest = table.levels[-1] - table.levels[0]
    return lambda a, b: 1 - abs(a - b) / widest


def _beyond(seen: float, chance: float) -> float | None:
    return None if chance >= 1 - 1e-12 else (seen - chance) / (1 - chance)
