"""What people said of runs: label files, the level that their labels settle on, and how far people agree themselves.

A file has a JSON object a line:

    {"annotator": "ann", "trajectory": "refund-3", "criterion": "safety", "level": 2, "blind": true,
     "citations": [{"step": 4, "quote": "..."}]}

Two people label each pair of trajectory and criterion without seeing the judge (`blind`) or each other; the level is
the mean of theirs. Where they are more than 1 apart there is none until a third person's label, `adjudicated`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from proctor.judge.alpha import alpha
from proctor.judge.intervals import Figure, Rate, bootstrap, wilson_rate
from proctor.judge.lines import BadLine, parsed
from proctor.judge.results import Key
from proctor.judge.table import Scale, table_of
from proctor.review_wire import HumanLevel, Inclusion, LabelCitation

WIDEST_GAP = 1.0
"""Strictly more than this between two people sends the pair to re-alignment."""

Id = Annotated[str, Field(min_length=1)]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Label(_Value):
    """One person's level for one criterion of one trajectory; halves are allowed, for marks between two anchors."""

    annotator: Id
    trajectory: Id
    criterion: Id
    level: HumanLevel
    blind: Annotated[bool, Field(strict=True)]
    """Given without having seen the judge's result. Others are listed, and never count."""
    citations: tuple[LabelCitation, ...] = ()
    adjudicated: Annotated[bool, Field(strict=True)] = False
    """A third person's decision after the two: it settles the level."""
    note: str = ""
    inclusion: Inclusion | None = None
    """The chance with which it came to be labelled, where that is known."""

    @property
    def key(self) -> Key:
        """What was labelled."""
        return self.trajectory, self.criterion


class Gap(_Value):
    """A pair that people must talk about: they are more than 1 apart, and nobody has decided."""

    trajectory: str
    criterion: str
    levels: dict[str, float]
    """By annotator."""


class Truth(_Value):
    """What labels settle on."""

    levels: dict[str, dict[str, float]]
    """By trajectory, then criterion."""
    inclusion: dict[Key, float] = Field(default_factory=dict)
    """The chance with which each pair came to be labelled; one that no label tells is left out."""
    gaps: tuple[Gap, ...]
    single: int
    """Pairs that one person labelled: they count, but nobody has checked them."""
    halfway: int
    """Pairs whose level lies between two of the scale, so that no judge can agree exactly."""
    adjudicated: int
    seen_judge: int
    """Labels that are not blind: left out."""

    @property
    def pairs(self) -> int:
        """How many have a level."""
        return sum(map(len, self.levels.values()))


class HumanAgreement(_Value):
    """How far people agree before anybody decided: what can be asked of a judge. Over pairs of annotators."""

    pairs: int
    """Pairs of labels by two people of the same thing."""
    trajectories: int
    annotators: tuple[str, ...]
    exact: Rate
    within_one: Rate
    passed: Rate
    """Both the highest level, or both less."""
    alpha: Figure


def read_labels(data: bytes) -> tuple[list[Label], list[BadLine]]:
    """The labels of a file and its bad lines, a second label by one person of one thing among them."""
    found: list[Label] = []
    bad: list[BadLine] = []
    seen: dict[tuple[str, str, str, bool, bool], int] = {}
    for number, each in parsed(data, Label):
        if isinstance(each, BadLine):
            bad.append(each)
            continue
        who = (each.annotator, *each.key, each.adjudicated, each.blind)
        if who in seen:
            told = f"{each.annotator} labelled {each.trajectory}, {each.criterion} in line {seen[who]} already"
            bad.append(BadLine(number, "repeated_label", told))
            continue
        seen[who] = number
        found.append(each)
    return found, bad


def truth_of(labels: Sequence[Label]) -> Truth:
    """The level of each pair: the adjudicated one, else the mean of the blind ones where they are at most 1 apart."""
    levels: dict[str, dict[str, float]] = defaultdict(dict)
    gaps: list[Gap] = []
    single = decided = 0
    for (trajectory, criterion), given in sorted(_by_key(labels).items()):
        decisions = {label.level for label in given if label.adjudicated}
        marks = {label.annotator: label.level for label in given if not label.adjudicated}
        if len(decisions) == 1:
            levels[trajectory][criterion] = decisions.pop()
            decided += 1
        elif decisions or max(marks.values()) - min(marks.values()) > WIDEST_GAP:
            told = marks | {f"{each.annotator} (adjudicated)": each.level for each in given if each.adjudicated}
            gaps.append(Gap(trajectory=trajectory, criterion=criterion, levels=told))
        else:
            levels[trajectory][criterion] = math.fsum(marks.values()) / len(marks)
            single += len(marks) == 1
    settled = [level for of in levels.values() for level in of.values()]
    return Truth(
        levels=dict(levels),
        inclusion={label.key: label.inclusion for label in labels if label.inclusion is not None},
        gaps=tuple(gaps),
        single=single,
        halfway=sum(not level.is_integer() for level in settled),
        adjudicated=decided,
        seen_judge=sum(not label.blind for label in labels),
    )


def human_agreement(labels: Sequence[Label], scale: Scale) -> HumanAgreement:
    """How far people agree with one another, from blind labels, adjudicated ones left out."""
    own = [label for label in labels if not label.adjudicated]
    runs: dict[str, list[list[float]]] = defaultdict(list)
    for (trajectory, _), given in sorted(_by_key(own).items()):
        if len(given) > 1:
            runs[trajectory].append([label.level for label in given])
    table = table_of((two for units in runs.values() for unit in units for two in combinations(unit, 2)), scale)
    passed = table.passed
    (interval,) = bootstrap(list(runs.values()), lambda drawn: [alpha(unit for units in drawn for unit in units)])
    return HumanAgreement(
        pairs=table.n,
        trajectories=len(runs),
        annotators=tuple(sorted({label.annotator for label in own if label.blind})),
        exact=wilson_rate(table.within(0), table.n),
        within_one=wilson_rate(table.within(1), table.n),
        passed=wilson_rate(passed.within(0), passed.n),
        alpha=Figure(value=alpha(unit for units in runs.values() for unit in units), interval=interval),
    )


def _by_key(labels: Iterable[Label]) -> dict[Key, list[Label]]:
    found: dict[Key, list[Label]] = defaultdict(list)
    for label in labels:
        if label.blind:
            found[label.key].append(label)
    return found
