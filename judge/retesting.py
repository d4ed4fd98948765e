"""How far a judge repeats itself: the same run judged several times, with its levels in another order, and padded.

Repeating is no proof of being right, but a judge that does not repeat cannot be right. An error is a gap here, told
apart: a provider that was down says nothing of the judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from proctor.errors import UsageError
from proctor.judge.alpha import alpha
from proctor.judge.bound import Bound, one_judge
from proctor.judge.intervals import Figure, Rate, at_most_share, bootstrap, wilson_rate
from proctor.judge.results import Key, shown
from proctor.judge.table import LEVELS, Scale
from proctor.verdict import CriterionResult, Verdict

Variant = Literal["same", "order", "padded"]
"""Asked again as it was; with the levels in another order; with polite words added."""
VARIANTS: tuple[Variant, ...] = ("same", "order", "padded")


class Run(NamedTuple):
    """One verdict and how it was asked for."""

    variant: Variant
    verdict: Verdict


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Flip(_Value):
    """A criterion of a run that did not come out the same: what came out, in order (a score, or an outcome)."""

    variant: Variant
    trajectory: str
    criterion: str
    results: tuple[str, ...]
    """The first is that of the first plain run."""
    across_pass: bool
    """Between the highest level and less."""


class VariantRetest(_Value):
    """One variant, against the first plain run."""

    variant: Variant
    changed: Rate
    """Criteria of runs with any change, of those with two results or more."""
    changed_pass: Rate
    at_most: float | None
    """Where nothing changed: the true share that this many still allow, at 95 %."""
    gaps: int
    """Results that are errors: left out."""


class Retest(_Value):
    """See the module."""

    judge: Bound
    trajectories: int
    variants: tuple[VariantRetest, ...]
    flips: tuple[Flip, ...]
    alpha: Figure
    """Krippendorff's, ordinal, over the plain runs."""


def retest(runs: Sequence[Run], scale: Scale) -> Retest:
    """What the runs say. Raises UsageError where they are of several judges or inputs, or nothing is repeated."""
    judge = one_judge(run.verdict for run in runs)
    _same_input(runs)
    plain = _results(runs, "same")
    flips: list[Flip] = []
    told: list[VariantRetest] = []
    for variant in VARIANTS:
        own = plain if variant == "same" else _beside(plain, _results(runs, variant))
        if any(len(results) > 1 for results in own.values()):
            told.append(_variant(variant, own, scale, flips))
    if not told:
        raise UsageError("nothing_repeated", "no run was judged twice", "judge each at least twice")
    return Retest(
        judge=judge,
        trajectories=len({run.verdict.trajectory for run in runs}),
        variants=tuple(told),
        flips=tuple(flips),
        alpha=_alpha(plain),
    )


def _variant(
    variant: Variant, own: Mapping[Key, Sequence[CriterionResult]], scale: Scale, flips: list[Flip]
) -> VariantRetest:
    top = LEVELS[scale][-1]
    compared = changed = across = 0
    for (trajectory, criterion), results in own.items():
        answered = [result for result in results if result.outcome != "judge_error"]
        given = tuple(shown(result) for result in answered)
        compared += len(answered) > 1
        if len(set(given)) < 2:
            continue
        crosses = len({result.score == top for result in answered}) > 1
        changed += 1
        across += crosses
        flips.append(
            Flip(
                variant=variant,
                trajectory=trajectory,
                criterion=criterion,
                results=given,
                across_pass=crosses,
            )
        )
    return VariantRetest(
        variant=variant,
        changed=wilson_rate(changed, compared),
        changed_pass=wilson_rate(across, compared),
        at_most=None if changed else at_most_share(compared),
        gaps=sum(result.outcome == "judge_error" for results in own.values() for result in results),
    )


def _results(runs: Iterable[Run], variant: Variant) -> dict[Key, list[CriterionResult]]:
    found: dict[Key, list[CriterionResult]] = {}
    for run in runs:
        for result in run.verdict.criteria if run.variant == variant else ():
            found.setdefault((run.verdict.trajectory, result.criterion), []).append(result)
    return found


def _beside(
    plain: Mapping[Key, Sequence[CriterionResult]], others: Mapping[Key, Sequence[CriterionResult]]
) -> dict[Key, list[CriterionResult]]:
    """The first plain result that is no error, then the variant's."""
    answered = {key: [each for each in results if each.outcome != "judge_error"] for key, results in plain.items()}
    return {key: [*answered.get(key, ())[:1], *results] for key, results in others.items()}


def _alpha(plain: Mapping[Key, Sequence[CriterionResult]]) -> Figure:
    units: dict[str, list[list[int | None]]] = {}
    for (trajectory, _), results in plain.items():
        units.setdefault(trajectory, []).append([result.score for result in results])
    (interval,) = bootstrap(list(units.values()), lambda drawn: [alpha(unit for own in drawn for unit in own)])
    value = alpha(unit for own in units.values() for unit in own)
    return Figure(value=value, interval=interval if value is not None else None)


def _same_input(runs: Iterable[Run]) -> None:
    """Runs of one trajectory and variant are of one input; so are the plain ones and those in another order."""
    inputs = {(run.verdict.trajectory, run.variant == "padded", run.verdict.trajectory_digest) for run in runs}
    for (trajectory, _), count in Counter(inputs_of[:2] for inputs_of in inputs).items():
        if count > 1:
            raise UsageError(
                "other_input", f"the verdicts of {trajectory} are of different runs", "judge one file several times"
            )
