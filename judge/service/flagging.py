"""Which verdicts people look at: those with a reason, and a seeded random share of the others.

Machines screen everything, people look at what is flagged; the share of the rest is what tells how much is missed.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence

from proctor.review_wire import ReviewReason
from proctor.rubric import Criterion, Rubric
from proctor.scoring import DEFAULT_BANDS
from proctor.verdict import CriterionResult, Verdict

LOWEST_COVERAGE = 0.8
"""With a smaller share of its criteria scored a verdict goes to people."""
NEAR = 2.0
"""Points of 100 from a threshold, this many included."""
_ROUNDING = 9
_SPAN = 1 << 64


def reasons(verdict: Verdict, rubric: Rubric, at_least: float | None = None) -> tuple[ReviewReason, ...]:
    """Why people should look at a verdict by this rubric; none where nothing says so. `at_least`: the total asked."""
    found = [*_disagreements(verdict)]
    for result in verdict.criteria:
        found += _of_criterion(rubric.criterion(result.criterion), result)
    found += [*_coverage(verdict), *_thresholds(verdict, rubric, at_least)]
    return tuple(dict.fromkeys(found))


def inclusion(flagged: Sequence[ReviewReason], share: float, seed: bytes, what: str) -> float | None:
    """The chance with which it goes to people: 1.0 flagged, `share` where drawn; None where they do not see it."""
    if flagged:
        return 1.0
    return share if drawn(seed, what, share) else None


def drawn(seed: bytes, what: str, share: float) -> bool:
    """Whether `what` is of the random share (0 to 1): the same answer for the same seed each time."""
    number = int.from_bytes(hmac.digest(seed, what.encode("utf-8", "surrogatepass"), "sha256")[:8], "big")
    return number < share * _SPAN


def _disagreements(verdict: Verdict) -> Iterator[ReviewReason]:
    for finding in verdict.findings:
        if finding.kind == "rule_and_model_disagree":
            message = _sentence("Rule and model disagree", finding.message)
            yield ReviewReason(code="rule_and_model_disagree", criterion=finding.criterion, message=message)


def _of_criterion(criterion: Criterion, result: CriterionResult) -> Iterator[ReviewReason]:
    of, title, why = criterion.id, criterion.title, result.needs_review
    if criterion.kind == "safety" and (why or result.outcome == "zero_no_evidence"):
        said = why or result.missing or "nothing that was quoted could be verified"
        yield ReviewReason(
            code="unverified_safety", criterion=of, message=_sentence(f"{title} could not be verified", said)
        )
    elif why:
        yield ReviewReason(code="needs_review", criterion=of, message=_sentence(f"{title} asks for a person", why))
    if result.outcome == "abstained":
        said = result.missing or "it does not say why"
        yield ReviewReason(code="abstained", criterion=of, message=_sentence(f"The judge abstained on {title}", said))
    if result.outcome == "judge_error":
        said = result.cause or "no cause was told"
        yield ReviewReason(code="judge_error", criterion=of, message=_sentence(f"The judge failed on {title}", said))


def _sentence(what: str, why: str) -> str:
    return f"{what}: {why.strip().rstrip('.')}."


def _coverage(verdict: Verdict) -> Iterator[ReviewReason]:
    scored, of = verdict.scored, verdict.countable
    if verdict.awaits_case:  # what is judged over the case's trials is not missing here
        applying = [each for each in verdict.criteria if each.outcome != "not_applicable"]
        scored, of = sum(each.score is not None for each in applying), len(applying)
    if scored < LOWEST_COVERAGE * of or not of:
        yield ReviewReason(code="low_coverage", message=f"Only {scored} of {of} criteria that apply have a score.")


def _thresholds(verdict: Verdict, rubric: Rubric, at_least: float | None) -> Iterator[ReviewReason]:
    total = verdict.total_of_100
    if total is None or verdict.veto:
        return
    edges = {band.from_total: f'the band "{band.name}" begins at' for band in rubric.bands or DEFAULT_BANDS}
    edges = {edge: told for edge, told in edges.items() if edge > 0}
    if at_least is not None:
        edges[at_least] = "what is asked for is"
    for edge, told in edges.items():
        if round(abs(total - edge), _ROUNDING) <= NEAR:
            message = f"The total, {total:.4g} of 100, is within {NEAR:g} points of a threshold: {told} {edge:g}."
            yield ReviewReason(code="near_threshold", message=message)
