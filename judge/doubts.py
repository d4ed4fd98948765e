"""What speaks against believing a calibration, in words: it never changes whether the claim is reached."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judge.agreement import Agreement
from proctor.judge.calibration import Calibration, Labelled
from proctor.judge.intervals import percent

KAPPA = 0.6
BIAS = 0.1
"""In levels."""
CRITERION = 0.75
TRAJECTORIES = 20


def doubted(calibration: Calibration, bad_lines: int = 0) -> Calibration:
    """The same with its doubts told, and how many lines could not be read."""
    whole = calibration.model_copy(update={"bad_lines": bad_lines})
    return whole.model_copy(update={"doubts": tuple(doubts(whole))})


def doubts(calibration: Calibration) -> Iterator[str]:
    """A sentence each."""
    pooled = calibration.pooled
    if calibration.judge is not None and calibration.judge.stand_in:
        yield "the judge is a stand-in: no live model was measured"
    if calibration.bad_lines:
        yield f"{calibration.bad_lines} lines could not be read: what they say is missing"
    if not pooled.n:
        yield "the judge scored nothing that people labelled"
        return
    yield from _of_figures(pooled)
    weighted, claim = calibration.weighted, calibration.claim
    if weighted is not None and weighted.value is not None and claim.reached and weighted.value < claim.target:
        yield f"over all that was judged it agrees in {percent(weighted.value)}, under the target: see `weighted`"
    for name, each in calibration.criteria.items():
        if each.exact.value is not None and each.exact.value < CRITERION:
            yield f"{name}: agrees in {each.exact}, under {percent(CRITERION)}"
    never = [name for name, rate in calibration.few.items() if not rate.of]
    if never:
        yield f"labelled, but never scored: {', '.join(never)}"
    unscored = pooled.coverage.of - pooled.coverage.right
    if unscored:
        yield f"{unscored} of {pooled.coverage.of} labelled pairs have no score of the judge's"
    if pooled.trajectories < TRAJECTORIES:
        yield f"only {pooled.trajectories} trajectories: too few to tell how far pairs of one run hang together"
    if calibration.labelled is not None:
        yield from _of_labels(calibration.labelled, calibration.claim.target)


def _of_figures(pooled: Agreement) -> Iterator[str]:
    constant, exact = pooled.constant, pooled.exact
    if constant is not None and exact.right <= constant.rate.right:
        yield f"no better than always answering {constant.level:g}, which agrees in {constant.rate}"
    kappa = pooled.weighted_kappa.value
    if kappa is None:
        yield "kappa is not assessable: people and judge gave one level only"
    elif kappa < KAPPA:
        yield f"weighted kappa is {kappa:.2f}, under {KAPPA}: much of the agreement is chance"
    bias = pooled.bias.value
    if bias is not None and abs(bias) > BIAS:
        yield f"the judge is {'lenient' if bias > 0 else 'harsh'}: {bias:+.2f} levels on average"


def _of_labels(labelled: Labelled, target: float) -> Iterator[str]:
    exact = labelled.human.exact
    if exact.value is None:
        yield "no pair was labelled by two people: nobody knows how far people agree"
    elif exact.value < target:
        yield f"people agree with one another in {exact} only: sharpen the anchors before the judge is blamed"
    if labelled.gaps:
        yield f"{len(labelled.gaps)} pairs await re-alignment, and are left out"
    if labelled.single and exact.value is not None:
        yield f"{labelled.single} pairs were labelled by one person only"
    if labelled.halfway:
        yield f"{labelled.halfway} labels lie between two levels and count as disagreement: have them adjudicated"
    if labelled.seen_judge:
        yield f"{labelled.seen_judge} labels were given with the judge's result in sight, and are left out"
