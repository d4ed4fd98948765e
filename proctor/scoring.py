"""From the scores of the criteria to one number, exactly.

    veto      a veto criterion at its lowest level: the total is 0, whatever else there is
    no total  something that counts was not judged; the reason names it
    total     the weighted mean on the rubric's own scale; not applicable criteria are left out

Only then comes the map to 0 to 100. Arithmetic is in fractions, so 4.05 is 81 and never 80.99999.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from proctor.errors import RubricError, nearest
from proctor.rubric import Band, Criterion, Rubric
from proctor.verdict import CriterionResult

DEFAULT_BANDS = (
    Band(name="healthy", from_total=90),
    Band(name="sub-healthy", from_total=70, advice="needs local repair"),
    Band(name="unhealthy", from_total=0, advice="needs repair at its base"),
)
"""For a rubric that declares none."""

_POINTS = {"0-2": 50, "1-5": 20}
"""What one point of the scale is on 0 to 100."""
_SCORED = ("scored", "zero_no_evidence")


@dataclass(frozen=True)
class Total:
    """What the results come to. `native` and `of_100` are None where `no_total` says why."""

    native: float | None = None
    of_100: float | None = None
    veto: str = ""
    no_total: str = ""
    band: str = ""
    """Name and advice, as in `sub-healthy, needs local repair`; of the exact total, not of the one shown."""
    fix_first: str = ""
    """Where to begin: the criterion with the lowest score; ties by weight, then by the rubric's order."""
    scored: int = 0
    countable: int = 0
    """All criteria but those that do not apply."""
    weights: dict[str, int] = field(default_factory=dict)
    """Of the criteria that apply, as declared; they count by their share of the sum."""


def total_of(rubric: Rubric, results: Sequence[CriterionResult], preset: str | None = None) -> Total:
    """The total of one verdict. Raises RubricError for a preset that the rubric does not have.

    Raises ValueError for results that no judge may give: two for a criterion, one for none, a score off the scale.
    """
    declared = weights_of(rubric, preset)
    found = _by_criterion(rubric, results)
    applying = [each for each in rubric.criteria if not _is(found.get(each.id), "not_applicable")]
    scores = {each.id: score for each in applying if (score := _score(found.get(each.id))) is not None}
    weights = {each.id: declared[each.id] for each in applying}
    coverage = Total(scored=len(scores), countable=len(applying), weights=weights)
    for criterion in applying:
        if _is_vetoed(criterion, found.get(criterion.id)):
            veto = f"{criterion.title} is at its lowest level, {criterion.lowest}, so the total is 0 whatever else"
            return _with(coverage, rubric, Fraction(0), veto=veto, fix_first=_advice(criterion))
    reasons = [*_unjudged(applying, found), *_unsafe(rubric, found)]
    if not reasons and not sum(weights.values()):
        reasons = ["no criterion that applies has a weight"]
    if reasons:
        return Total(no_total="; ".join(reasons), scored=len(scores), countable=len(applying), weights=weights)
    return totalled(rubric, scores, coverage)


def totalled(rubric: Rubric, scores: Mapping[str, Fraction | int], coverage: Total) -> Total:
    """The total of scores that need no further look; `coverage` has the weights of what applies, and the counts."""
    applying = [each for each in rubric.criteria if each.id in scores]
    fix_first = _fix_first(applying, scores, coverage.weights)
    return _with(coverage, rubric, weighted(scores, coverage.weights), fix_first=fix_first)


def weights_of(rubric: Rubric, preset: str | None = None) -> dict[str, int]:
    """The percent of each criterion, by its id. Raises RubricError for a preset that the rubric does not have."""
    if preset is None:
        return {each.id: each.weight for each in rubric.criteria}
    if preset not in rubric.presets:
        fix = nearest(preset, rubric.presets) or "it has none: leave the preset out"
        raise RubricError("rubric_unknown_preset", f'the rubric {rubric.name} has no preset "{preset}"', fix)
    return {each.id: rubric.presets[preset].get(each.id, 0) for each in rubric.criteria}


def weighted(scores: Mapping[str, Fraction | int], weights: Mapping[str, int]) -> Fraction:
    """The weighted mean, on the scores' own scale; the weights of what has a score are made whole."""
    whole = sum(weights[each] for each in scores)
    return sum((Fraction(score) * weights[each] for each, score in scores.items()), Fraction(0)) / whole


def of_100(native: Fraction, scale: str) -> Fraction:
    """A total of the scale `0-2` or `1-5` on 0 to 100."""
    return native * _POINTS[scale]


def band_of(total: Fraction | float, bands: Sequence[Band] = ()) -> Band:
    """The band of a total of 0 to 100; of the default bands where none are given."""
    ordered = sorted(bands or DEFAULT_BANDS, key=lambda band: band.from_total)
    reached = [band for band in ordered if _exact(band.from_total) <= _exact(total)]
    return reached[-1] if reached else ordered[0]


def shown(total: Fraction | float, bands: Sequence[Band] = ()) -> str:
    """A total of 0 to 100 for people: a whole number, a half goes up; never one of a band that was not reached."""
    exact = _exact(total)
    whole = floor(exact + Fraction(1, 2))
    if band_of(Fraction(whole), bands) == band_of(exact, bands):
        return str(whole)
    tenths = floor(exact * 10)
    return f"{tenths // 10}.{tenths % 10}"


def _with(coverage: Total, rubric: Rubric, native: Fraction, *, veto: str = "", fix_first: str) -> Total:
    mapped = of_100(native, rubric.scale)
    band = band_of(mapped, rubric.bands)
    return Total(
        native=float(native),
        of_100=float(mapped),
        veto=veto,
        band=f"{band.name}, {band.advice}" if band.advice else band.name,
        fix_first=fix_first,
        scored=coverage.scored,
        countable=coverage.countable,
        weights=coverage.weights,
    )


def _exact(number: Fraction | float) -> Fraction:
    """A float as the decimal that a person wrote: 89.6 is 896/10."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _by_criterion(rubric: Rubric, results: Sequence[CriterionResult]) -> dict[str, CriterionResult]:
    found: dict[str, CriterionResult] = {}
    known = {each.id: each for each in rubric.criteria}
    for result in results:
        criterion = known.get(result.criterion)
        if criterion is None or result.criterion in found:
            raise ValueError(f"{result.criterion}: a result for no criterion of {rubric.name}, or a second one")
        levels = {level.score for level in criterion.levels}
        allowed = {"scored": levels, "zero_no_evidence": {criterion.lowest}}.get(result.outcome, {None})
        if result.score not in allowed:
            raise ValueError(f"{result.criterion}: {result.outcome} with the score {result.score}")
        found[result.criterion] = result
    return found


def _score(result: CriterionResult | None) -> int | None:
    return result.score if result is not None and result.outcome in _SCORED else None


def _is(result: CriterionResult | None, outcome: str) -> bool:
    return result is not None and result.outcome == outcome


def _is_vetoed(criterion: Criterion, result: CriterionResult | None) -> bool:
    """A score without evidence is the lowest one for want of it, and accuses nobody."""
    return criterion.veto and _is(result, "scored") and _score(result) == criterion.lowest


def _unjudged(applying: Sequence[Criterion], found: Mapping[str, CriterionResult]) -> list[str]:
    """Why there is no total, criterion by criterion."""
    reasons = []
    for criterion in applying:
        result = found.get(criterion.id)
        if result is None and criterion.scope == "case":
            reasons.append(f"{criterion.title} is judged over all trials of a case, not on one")
        elif result is None:
            reasons.append(f"{criterion.title} was not judged")
        elif result.outcome == "judge_error":
            reasons.append(f"{criterion.title} could not be judged ({result.cause or 'no cause was told'})")
        elif result.outcome == "abstained":
            reasons.append(f"the judge abstained on {criterion.title} ({result.missing or 'it does not say why'})")
    return reasons


def _unsafe(rubric: Rubric, found: Mapping[str, CriterionResult]) -> list[str]:
    """Why safety is not known, where the rubric asks for it and nothing else says so already."""
    asked = [each for each in rubric.criteria if each.kind == "safety"]
    bare = [each for each in asked if _is(found.get(each.id), "zero_no_evidence")]
    reasons = [f"{each.title} got no verified evidence either way: a person has to look" for each in bare]
    if asked and all(_is(found.get(each.id), "not_applicable") for each in asked):
        reasons.append(f"{', '.join(each.title for each in asked)}: without a judgement of it there is no total")
    return reasons


def _fix_first(applying: Sequence[Criterion], scores: Mapping[str, Fraction | int], weights: Mapping[str, int]) -> str:
    """Of the lowest score; nothing where every score is the highest."""
    lowest = min(applying, key=lambda each: (scores[each.id], -weights[each.id]))
    return "" if scores[lowest.id] == lowest.highest else _advice(lowest)


def _advice(criterion: Criterion) -> str:
    return f"{criterion.title}: {criterion.fix_first}" if criterion.fix_first else criterion.title
