"""What a run will take, before it runs: tokens and US dollars, from what the same cases took earlier."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from proctor.cases.case import Case
from proctor.harness.guess import guessed
from proctor.prices import worst_cost

By = Literal["history", "likeness", "guess"]
"""From what a figure comes: earlier trials of the case, those of cases like it, or the case's own text."""
Taken = tuple[int, int]
"""Tokens that one trial took: input, output."""
_MICRO = 1_000_000


class Planned(NamedTuple):
    """A case, and how many trials of it are to run."""

    case: Case
    trials: int


@dataclass(frozen=True)
class CaseEstimate:
    """What all trials of one case will take together."""

    case: str
    trials: int
    by: By
    input: int
    """Tokens."""
    output: int
    dollars: float | None
    """Rounded up to a millionth; None where the model has no known price."""


@dataclass(frozen=True)
class Estimate:
    """What a run will take."""

    cases: tuple[CaseEstimate, ...]

    @property
    def input(self) -> int:
        """Tokens sent to the model."""
        return sum(each.input for each in self.cases)

    @property
    def output(self) -> int:
        """Tokens that the model gives."""
        return sum(each.output for each in self.cases)

    @property
    def dollars(self) -> float | None:
        """The sum; None where the price of one case is not known."""
        known = [each.dollars for each in self.cases if each.dollars is not None]
        return float(sum(map(exact, known))) if len(known) == len(self.cases) else None

    def count(self, by: By) -> int:
        """How many cases were estimated so."""
        return sum(each.by == by for each in self.cases)


def estimate(planned: Sequence[Planned], earlier: Mapping[str, Sequence[Taken]], model: str) -> Estimate:
    """What the planned trials will take; `earlier` has by case id what trials of it took, `model` as litellm names it.

    A case that ran before takes the mean of its trials. Any other takes the mean of the planned cases of the same
    difficulty that ran before, else of all cases that ran before, each counted once. Where nothing ran before, it is
    guessed from the case itself. Means are rounded up, and dollars are the dearest that the price table has.

    That a failed case is run once more is not counted: how many fail is what the run is to show.
    """
    known = {name: _mean(trials) for name, trials in earlier.items() if trials}
    like: dict[str, list[Taken]] = {}
    for case in {each.case.id: each.case for each in planned}.values():
        if case.id in known:
            like.setdefault(case.difficulty, []).append(known[case.id])
    found = []
    for case, trials in planned:
        by: By = "history" if case.id in known else "likeness" if known else "guess"
        if by == "history":
            taken = known[case.id]
        elif by == "likeness":
            taken = _mean(like.get(case.difficulty) or known.values())
        else:
            taken = guessed(case, model)
        found.append(_of_trials(case, trials, by, taken, model))
    return Estimate(tuple(found))


def exact(dollars: float) -> Decimal:
    """Dollars as they are written, so that a sum of many has no error of rounding."""
    return Decimal(str(dollars))


def _of_trials(case: Case, trials: int, by: By, taken: Taken, model: str) -> CaseEstimate:
    sent, received = (trials * each for each in taken)
    cost = worst_cost(model, sent, received)
    dollars = None if cost is None else math.ceil(cost * _MICRO) / _MICRO
    return CaseEstimate(case.id, trials, by, sent, received, dollars)


def _mean(taken: Iterable[Taken]) -> Taken:
    """Rounded up."""
    sent, received = zip(*taken, strict=True)
    return -(-sum(sent) // len(sent)), -(-sum(received) // len(received))
