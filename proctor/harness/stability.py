"""Whether the trials of one case end alike: how many pass, and how far they spread. Only a live model says so."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proctor.trajectory import Llm

PASS = "pass"  # noqa: S105 - an outcome
LEFT_OUT = frozenset({"error", "invalid", "off_tape", "not_assessable"})
"""Outcomes that say nothing of the agent. Any other but `pass` is a failure of it."""
LEAST = 2
"""Live trials, so that one is a repeat of another."""
_WHY: dict[Llm, str] = {
    "stand-in": "the model was a stand-in",
    "replayed": "the model's answers were replayed",
    "none": "no model was asked that Proctor saw",
    "": "no model was asked that Proctor saw",
}


class TrialSeen(Protocol):
    """A trial that has ended."""

    @property
    def outcome(self) -> str:
        """`pass`, `fail`, one of `LEFT_OUT`, or how the agent failed."""

    @property
    def llm(self) -> Llm:
        """Who answered for the model."""


@dataclass(frozen=True)
class Stability:
    """What the live trials of a case say."""

    passes: int
    trials: int
    """Live ones that passed or failed; 2 or more."""
    not_live: int
    """Further ones that passed or failed, which show nothing here."""
    left_out: Mapping[str, int]
    """By outcome: trials that neither passed nor failed."""

    @property
    def flaky(self) -> bool:
        """Some pass and some fail."""
        return 0 < self.passes < self.trials

    @property
    def mean(self) -> float:
        """The share that passes, 0 to 1."""
        return self.passes / self.trials

    @property
    def deviation(self) -> float:
        """The standard deviation of a sample, with a pass as 1 and a failure as 0."""
        return statistics.stdev([1] * self.passes + [0] * (self.trials - self.passes))


@dataclass(frozen=True)
class NotAssessable:
    """Nothing can be said of stability, and why, in words."""

    reason: str
    left_out: Mapping[str, int]


def stability(trials: Iterable[TrialSeen]) -> Stability | NotAssessable:
    """Of all trials of one case, or of some."""
    every = list(trials)
    left_out = dict(Counter(each.outcome for each in every if each.outcome in LEFT_OUT))
    ended = [each for each in every if each.outcome not in LEFT_OUT]
    live = [each for each in ended if each.llm == "live"]
    if len(live) < LEAST:
        return NotAssessable(_reason(ended, len(live)), left_out)
    return Stability(sum(each.outcome == PASS for each in live), len(live), len(ended) - len(live), left_out)


def _reason(ended: list[TrialSeen], live: int) -> str:
    if live:
        return "one live trial is no repeat"
    return " and ".join(dict.fromkeys(_WHY[each.llm] for each in ended)) or "no trial passed or failed"
