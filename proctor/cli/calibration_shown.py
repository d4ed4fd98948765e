"""A calibration, for a person: the claim first, then what stands beside it, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.judge.agreement import Agreement
from proctor.judge.calibration import FEWEST, Calibration
from proctor.judge.intervals import Figure, Interval, Rate, percent
from proctor.judge.labels import Gap, HumanAgreement, Truth

_LISTED = 10
_WIDEST = 40
_NOTHING = "not assessable"
_HEAD = ("criterion", "pairs", "agree", "within 1", "pass or fail", "kappa w", "bias", "lowest level found")


def calibration_lines(calibration: Calibration) -> Iterator[str]:
    """All of it."""
    pooled = calibration.pooled
    judge = calibration.judge
    whose = f"{judge.model}, {judge.rubric}, prompt {judge.prompt}" if judge else "a judge that the file does not name"
    yield f"calibration of {whose}"
    yield from _claim(calibration)
    if calibration.weighted is not None:
        yield f"  weighted    {_share(calibration.weighted)} over all that was judged:"
        yield "              flagged runs were labelled more often, so each pair counts by how many it stands for"
    if calibration.labelled is not None:
        yield f"  people      {_people(calibration.labelled.human)}"
    yield f"  constant    {_constant(pooled)}"
    if calibration.worst is not None:
        name, rate = calibration.worst
        yield f"  worst       {name}: {rate}"
    yield f"  beside it   within one level {pooled.within_one}, pass or fail {pooled.passed}"
    chance = (("kappa", pooled.kappa), ("weighted", pooled.weighted_kappa), ("alpha", pooled.alpha))
    yield f"              {', '.join(f'{name} {_figure(each)}' for name, each in chance)}"
    skewed = f"AC1 {_figure(pooled.ac1)}, AC2 {_figure(pooled.ac2)}"
    yield f"              {skewed}, bias {_figure(pooled.bias, signed=True)}"
    yield f"  coverage    the judge scored {pooled.coverage} of the labelled pairs"
    rates = calibration.pass_rate
    yield f"  pass rate   judged {rates.judged}, corrected for the judge's errors {_share(rates.corrected)}"
    yield from _criteria(calibration)
    yield from _table(pooled)
    if calibration.labelled is not None:
        yield from _gaps(calibration.labelled.gaps)
    yield from (f"  ! {doubt}" for doubt in calibration.doubts)


def human_lines(human: HumanAgreement, truth: Truth) -> Iterator[str]:
    """What labels alone tell."""
    who = ", ".join(human.annotators) or "nobody"
    yield f"labels of {who}: a level is settled for {truth.pairs} pairs of trajectory and criterion"
    yield f"  people      {_people(human)}"
    yield f"              within one level {human.within_one}, pass or fail {human.passed}"
    yield f"  counted     {truth.single} labelled by one person, {truth.halfway} between two levels,"
    yield f"              {truth.adjudicated} adjudicated, {truth.seen_judge} labels left out that are not blind"
    yield from _gaps(truth.gaps)
    yield "  no judge was measured: give its verdicts with --verdicts"


def _claim(calibration: Calibration) -> Iterator[str]:
    claim, pooled = calibration.claim, calibration.pooled
    word = "PROVEN" if claim.proven else "REACHED, NOT PROVEN" if claim.reached else "NOT REACHED"
    yield f"  claim       agrees with people in at least {claim.target * 100:g} %: {word}"
    of = f"{pooled.n} pairs of {pooled.trajectories} trajectories"
    between = f"; 95 %: {_between(claim.observed.interval)}" if claim.observed.interval else ""
    clusters = f", by trajectory {_between(pooled.exact_by_trajectory)}" if pooled.exact_by_trajectory else ""
    yield f"  raw         {claim.observed}{between}{clusters}; {of}"
    right = f"{claim.needed_right} of {pooled.n} right"
    if claim.needed_right is None:
        right = f"{pooled.n} pairs prove nothing, however right"
    if claim.pairs_needed is None:
        more = "at this agreement no number of pairs would"
    else:
        more = f"or {claim.pairs_needed} pairs that agree as these do"
    yield f"  to prove it {right}; {more}"


def _people(human: HumanAgreement) -> str:
    if human.exact.value is None:
        return f"{_NOTHING}: no pair was labelled by two people"
    return f"agree with one another in {human.exact}, alpha {_figure(human.alpha)}"


def _constant(pooled: Agreement) -> str:
    if pooled.constant is None:
        return _NOTHING
    return f"always answering {pooled.constant.level:g} would agree in {pooled.constant.rate}"


def _criteria(calibration: Calibration) -> Iterator[str]:
    if calibration.criteria:
        rows = [_row(name, each) for name, each in calibration.criteria.items()]
        yield ""
        yield from _aligned([_HEAD, *rows])
    few = calibration.few
    if not few:
        return
    yield ""
    if len(few) <= _LISTED:
        yield f"  fewer than {FEWEST} pairs: " + "; ".join(f"{name} {rate}" for name, rate in few.items())
    else:
        yield f"  {len(few)} criteria have fewer than {FEWEST} pairs each: they count in the pool (--json lists them)"


def _row(name: str, each: Agreement) -> Sequence[str]:
    kappa, bias, found = each.weighted_kappa.value, each.bias.value, each.lowest.recall
    return (
        name if len(name) <= _WIDEST else f"{name[: _WIDEST - 3]}...",
        f"{each.n} of {each.coverage.of}",
        f"{each.exact}",
        f"{each.within_one}",
        f"{each.passed}",
        "n.a." if kappa is None else f"{kappa:.2f}",
        "n.a." if bias is None else f"{bias:+.2f}",
        f"{found}, {_between(found.interval)}" if found.interval else f"{found}",
    )


def _table(pooled: Agreement) -> Iterator[str]:
    judged = sorted({cell.judge for cell in pooled.table})
    humans = sorted({cell.human for cell in pooled.table})
    counts = {(cell.human, cell.judge): cell.count for cell in pooled.table}
    rows = [[f"{human:g}", *(str(counts[human, judge]) for judge in judged)] for human in humans]
    yield ""
    yield from _aligned([["people \\ judge", *(f"{level:g}" for level in judged)], *rows])
    yield ""
    for each in pooled.levels:
        yield f"  level {each.level:g}: found {_exact(each.recall)}; right where given {_exact(each.precision)}"


def _gaps(gaps: Sequence[Gap]) -> Iterator[str]:
    if gaps:
        yield f"  {len(gaps)} pairs to talk over (more than 1 apart), then label as adjudicated:"
    for gap in gaps:
        levels = ", ".join(f"{who} {level:g}" for who, level in gap.levels.items())
        yield f"    {gap.trajectory}, {gap.criterion}: {levels}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return (("  " + "  ".join(map(str.ljust, row, widths))).rstrip() for row in rows)


def _figure(figure: Figure, *, signed: bool = False) -> str:
    if figure.value is None:
        return _NOTHING
    form = "+.3f" if signed else ".3f"
    between = f" ({figure.interval.low:{form}} to {figure.interval.high:{form}})" if figure.interval else ""
    return f"{figure.value:{form}}{between}"


def _share(figure: Figure) -> str:
    if figure.value is None:
        return f"{_NOTHING}: it hardly tells passes from failures, or only one of them was labelled"
    return percent(figure.value) + (f" ({_between(figure.interval)})" if figure.interval else "")


def _exact(rate: Rate) -> str:
    return f"{rate}, exact 95 %: {_between(rate.interval)}" if rate.interval else str(rate)


def _between(interval: Interval | None) -> str:
    return _NOTHING if interval is None else f"{interval.low * 100:.1f} to {interval.high * 100:.1f}"
