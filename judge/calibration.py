"""A calibration: what a judge's agreement with people is worth as a claim, on which labels, and for which judge.

Raw agreement decides whether the claim is reached. It is proven where the lower end of its interval gets there too.
The other figures stand beside it, and `doubts` says in words which of them speak against believing it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.judge.agreement import Agreement, agreement
from proctor.judge.bound import Bound
from proctor.judge.corrected import corrected_rate
from proctor.judge.intervals import Figure, Rate, wilson_rate
from proctor.judge.labels import Gap, HumanAgreement, Truth
from proctor.judge.pairs import Pair
from proctor.judge.results import by_key
from proctor.judge.sample_size import needed_right, pairs_needed
from proctor.judge.table import LEVELS, Scale
from proctor.judge.weighting import weighted_agreement
from proctor.verdict import Verdict

TARGET = 0.85
FEWEST = 10
"""With fewer pairs a criterion has its rate alone: kappas of nine pairs are noise."""
_ROUNDING = 1e-9


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Value):
    """`the judge agrees with people in at least TARGET`, and what the labels say to it."""

    target: float
    observed: Rate
    """Raw agreement over all pairs."""
    reached: bool
    """The observed value is at least the target. Nothing observed reaches nothing."""
    proven: bool
    """So is the lower end of its interval, by rows and by trajectories."""
    needed_right: int | None
    """Of as many pairs as these, how many must agree to prove it; None where so few prove nothing."""
    pairs_needed: int | None
    """How many pairs prove it if they agree as these do; None where no number would."""


class PassRate(_Value):
    """The share that passes (the highest level) over all verdicts: as judged, and corrected for the judge's errors."""

    judged: Rate
    corrected: Figure
    """None where TPR + TNR is near 1: such a judge tells nothing that could be corrected."""


class Labelled(_Value):
    """What the labels were. A plain file of pairs tells nothing of it."""

    human: HumanAgreement
    gaps: tuple[Gap, ...]
    single: int
    halfway: int
    adjudicated: int
    seen_judge: int


class Calibration(_Value):
    """See the module. This is also the file's form."""

    v: Literal[1] = 1
    made_on: date
    judge: Bound | None
    """None for a plain file of pairs, which names no judge: such a calibration fits no verdict."""
    languages: dict[str, int] = Field(default_factory=dict)
    """Trajectories by the language that their verdicts tell."""
    claim: Claim
    weighted: Figure | None = None
    """Raw agreement over all that was judged, where some of it was labelled more often; None where all alike."""
    pooled: Agreement
    criteria: dict[str, Agreement]
    """Those with ten pairs or more."""
    few: dict[str, Rate]
    """Raw agreement of the others."""
    pass_rate: PassRate
    labelled: Labelled | None
    bad_lines: int = 0
    """Lines of the files that could not be read: what they hold is missing here."""
    doubts: tuple[str, ...] = ()

    @property
    def worst(self) -> tuple[str, Rate] | None:
        """The criterion with the lowest raw agreement, of those with enough pairs, else of the others."""
        rates = {name: each.exact for name, each in self.criteria.items()} or dict(self.few)
        known = {name: rate for name, rate in rates.items() if rate.value is not None}
        name = min(known, key=lambda each: known[each].value or 0.0, default=None)
        return None if name is None else (name, known[name])


@dataclass(frozen=True)
class Source:
    """Where pairs come from, where that is known."""

    judge: Bound
    verdicts: Sequence[Verdict]
    """All of them, with those that nobody labelled."""
    truth: Truth
    human: HumanAgreement


def calibrate(
    pairs: Sequence[Pair], scale: Scale, *, today: date, target: float = TARGET, source: Source | None = None
) -> Calibration:
    """The calibration of these pairs."""
    pooled = agreement(pairs, scale)
    by_criterion: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_criterion.setdefault(pair.criterion, []).append(pair)
    scored = {name: sum(pair.judge is not None for pair in own) for name, own in by_criterion.items()}
    return Calibration(
        made_on=today,
        judge=source.judge if source else None,
        languages=_languages(source, pairs) if source else {},
        claim=claim_of(pooled, target),
        weighted=weighted_agreement(pairs),
        pooled=pooled,
        criteria={name: agreement(own, scale) for name, own in by_criterion.items() if scored[name] >= FEWEST},
        few={name: _raw(own) for name, own in by_criterion.items() if scored[name] < FEWEST},
        pass_rate=_pass_rate(pairs, pooled, source),
        labelled=_labelled(source) if source else None,
    )


def claim_of(pooled: Agreement, target: float) -> Claim:
    """What these figures say to the claim."""
    rate, by_trajectory = pooled.exact, pooled.exact_by_trajectory
    lows = [interval.low for interval in (rate.interval, by_trajectory) if interval]
    reached = rate.of > 0 and rate.right >= target * rate.of - _ROUNDING
    return Claim(
        target=target,
        observed=rate,
        reached=reached,
        proven=reached and by_trajectory is not None and min(lows) >= target,
        needed_right=needed_right(rate.of, target),
        pairs_needed=None if rate.value is None else pairs_needed(rate.value, target),
    )


def _raw(pairs: Sequence[Pair]) -> Rate:
    scored = [pair for pair in pairs if pair.judge is not None]
    return wilson_rate(sum(pair.human == pair.judge for pair in scored), len(scored))


def _pass_rate(pairs: Sequence[Pair], pooled: Agreement, source: Source | None) -> PassRate:
    top = LEVELS[pooled.scale][-1]
    if source is None:
        given = [pair.judge for pair in pairs if pair.judge is not None]
    else:
        given = [float(each.score) for each in by_key(source.verdicts).values() if each.score is not None]
    judged = wilson_rate(sum(score >= top for score in given), len(given))
    return PassRate(judged=judged, corrected=corrected_rate(judged, pooled.sensitivity, pooled.specificity))


def _languages(source: Source, pairs: Sequence[Pair]) -> dict[str, int]:
    labelled = {pair.trajectory for pair in pairs if pair.judge is not None}
    told = {verdict.trajectory: verdict.language for verdict in source.verdicts if verdict.trajectory in labelled}
    return dict(sorted(Counter(language or "unknown" for language in told.values()).items()))


def _labelled(source: Source) -> Labelled:
    truth = source.truth
    return Labelled(
        human=source.human,
        gaps=truth.gaps,
        single=truth.single,
        halfway=truth.halfway,
        adjudicated=truth.adjudicated,
        seen_judge=truth.seen_judge,
    )
