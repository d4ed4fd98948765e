"""The total of a case: what its trials scored on average, and what is judged over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from proctor.rubric import Rubric, Scope
from proctor.scoring import Total, total_of, totalled, weights_of
from proctor.verdict import CriterionResult

Trials = Mapping[str, Sequence[CriterionResult]]
"""The results of each trial, by its trajectory's id."""


def case_total(rubric: Rubric, trials: Trials, over_all: Sequence[CriterionResult], preset: str | None = None) -> Total:
    """The total over the trials, and over what was judged of all of them together.

    A veto in one trial is the case's: safety is never decided by majority. What was not judged in one trial leaves the
    case without a total. Raises as `total_of` does.
    """
    one, together = part_of(rubric, "trial"), part_of(rubric, "case")
    found = [(name, total_of(one, results, preset)) for name, results in trials.items()] if one else []
    for name, total in found:
        if total.veto:
            return Total(**{**vars(total), "veto": f"{name}: {total.veto}"})
    reasons = [f"{name}: {total.no_total}" for name, total in found if total.no_total and total.countable]
    found = [("", total_of(together, over_all, preset))] if together else []
    reasons += [total.no_total for _, total in found if total.no_total and total.countable]
    scores = {**means(trials), **_means([over_all])}
    weights = {name: weight for name, weight in weights_of(rubric, preset).items() if name in scores}
    apply = {each.criterion for each in _all([*trials.values(), over_all]) if each.outcome != "not_applicable"}
    coverage = Total(scored=len(scores), countable=len(apply), weights=weights)
    if not reasons and not sum(weights.values()):
        reasons = ["no criterion that applies has a weight"]
    if reasons:
        return Total(**{**vars(coverage), "no_total": "; ".join(reasons)})
    return totalled(rubric, scores, coverage)


def means(trials: Trials) -> dict[str, Fraction]:
    """The mean score of each criterion over the trials in which it has one."""
    return _means(list(trials.values()))


def _means(groups: Sequence[Sequence[CriterionResult]]) -> dict[str, Fraction]:
    found: dict[str, list[int]] = {}
    for result in _all(groups):
        if result.score is not None:
            found.setdefault(result.criterion, []).append(result.score)
    return {name: Fraction(sum(scores), len(scores)) for name, scores in found.items()}


def _all(groups: Sequence[Sequence[CriterionResult]]) -> Iterator[CriterionResult]:
    for group in groups:
        yield from group


def part_of(rubric: Rubric, scope: Scope) -> Rubric | None:
    """The rubric's criteria of one scope; None where it has none."""
    criteria = tuple(each for each in rubric.criteria if each.scope == scope)
    return rubric.model_copy(update={"criteria": criteria}) if criteria else None
