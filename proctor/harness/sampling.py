"""Which cases run when all of them would cost too much: P0 first, then a sample that has every difficulty in it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from proctor.cases.case import Difficulty, Priority
from proctor.errors import UsageError
from proctor.harness.estimate import Estimate, Planned, exact

FIRST: Priority = "P0"
STRATA: tuple[Difficulty, ...] = get_args(Difficulty)
"""In the order in which they are given a turn."""


@dataclass(frozen=True)
class Sample:
    """What runs and what not, each in the suite's order."""

    chosen: tuple[Planned, ...]
    left_out: tuple[Planned, ...]
    dollars: float
    """That the chosen ones are estimated at."""


def sampled(planned: Sequence[Planned], estimate: Estimate, budget: float) -> Sample:
    """As many of the planned cases as fit in `budget` US dollars; `estimate` is that of exactly these.

    P0 cases come first, in the suite's order. Then the difficulties have turns, each of which takes one case: that of
    the highest priority, of several the first in the suite. A case is taken with all of its trials or not at all; one
    that does not fit is passed over, and a cheaper one may still fit.

    Raises UsageError where the price of the model is not known, or the budget is no amount of money.
    """
    if not math.isfinite(budget) or budget < 0:
        raise UsageError("budget_bad", f"{budget} is no amount of money", "say it in US dollars: --max-cost 2.50")
    filling = _Filling(_prices(estimate), exact(budget))
    first = [at for at, each in enumerate(planned) if each.case.priority == FIRST]
    for at in first:
        filling.take(at)
    filling.take_in_turn(_strata(planned, {*range(len(planned))} - {*first}))
    return Sample(
        chosen=tuple(each for at, each in enumerate(planned) if at in filling.taken),
        left_out=tuple(each for at, each in enumerate(planned) if at not in filling.taken),
        dollars=float(sum(filling.prices[at] for at in filling.taken)),
    )


def _prices(estimate: Estimate) -> list[Decimal]:
    prices = [exact(each.dollars) for each in estimate.cases if each.dollars is not None]
    if len(prices) < len(estimate.cases):
        told = "what the run costs is not known: the price table has no price for the agent's model"
        raise UsageError("price_unknown", told, "name it as litellm does ([agent] model), or leave out --max-cost")
    return prices


def _strata(planned: Sequence[Planned], places: Iterable[int]) -> list[deque[int]]:
    """The places by difficulty, the highest priority first."""
    ordered = sorted(places, key=lambda at: (planned[at].case.priority, at))
    return [deque(at for at in ordered if planned[at].case.difficulty == stratum) for stratum in STRATA]


class _Filling:
    """A budget as it is used up."""

    def __init__(self, prices: Sequence[Decimal], budget: Decimal) -> None:
        self.prices = prices
        self.taken: set[int] = set()
        self._left = budget

    def take(self, at: int) -> bool:
        """Take a case if it fits."""
        if self.prices[at] > self._left:
            return False
        self._left -= self.prices[at]
        self.taken.add(at)
        return True

    def take_in_turn(self, strata: Sequence[deque[int]]) -> None:
        """One case of each stratum that fits, over and over. One that does not fit never will: what is left shrinks."""
        while any(strata):
            for stratum in strata:
                while stratum and not self.take(stratum.popleft()):
                    pass
