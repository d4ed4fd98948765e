"""Reviews as people read them: what the run should have been and its rule first, then the run, so that the task is to
find the difference; the judge's result only when it is revealed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.cli.one_line import one_line
from proctor.review_wire import (
    CriterionShown,
    GivenLevel,
    JudgedVerdict,
    Realignment,
    RevealAnswer,
    ReviewSheet,
    ReviewTold,
)

_WHO = {
    "user": "user",
    "agent": "agent",
    "thought": "agent, to itself",
    "tool_call": "call",
    "tool_result": "result",
    "figure": "figures",
}


def review_line(review: ReviewTold) -> str:
    """One line of the list: `0ebddaa5c0ed  refund-3  trajectory 1  2 of 5 given`."""
    return one_line(f"{review.id[:12]}  {review.trajectory}  {review.rubric}  {review.given} of {review.of} given")


def sheet_lines(sheet: ReviewSheet) -> Iterator[str]:
    """The sheet without its criteria."""
    yield one_line(f"=== {sheet.trajectory}, rubric {sheet.rubric} ===")
    yield one_line(f"goal: {sheet.goal or 'not told'}")
    yield "the rule:" if sheet.rule else "the rule: none is told, judge by the anchors alone"
    yield from (f"  {one_line(part)}" for part in sheet.rule)
    yield "a correct run:" if sheet.baseline else "a correct run: none is told, judge by the rule"
    for each in sheet.baseline:
        yield f"  {each.name}:"
        yield from (f"    {one_line(line)}" for line in each.text.splitlines())
    yield "this run:"
    for step in sheet.steps:
        for passage in step.passages:
            heading = f" ({step.heading})" if step.heading else ""
            yield one_line(f"  {step.index:>3} {_WHO[passage.kind]}{heading}: {passage.text}")
    yield "Find the difference."


def criterion_lines(criterion: CriterionShown) -> Iterator[str]:
    """The question with its anchors."""
    yield ""
    yield one_line(f"--- {criterion.title}: {criterion.question}")
    for anchor in sorted(criterion.anchors, key=lambda each: -each.level):
        yield one_line(f"  {anchor.level}: {anchor.anchor}")
    if criterion.not_applicable:
        yield one_line(f"  n: does not apply. {criterion.not_applicable}")


def reveal_lines(reveal: RevealAnswer, given: dict[str, float | None]) -> Iterator[str]:
    """What the judge said, and why the verdict came to people, beside what was given blind."""
    for judged in reveal.judged:
        yield ""
        yield one_line(f"the judge, {judged.model}:")
        yield from _judged(judged, given)
        yield "  why you were asked:"
        if not judged.reasons:
            yield "    it was drawn at random, or an earlier result of it was flagged"
        yield from (one_line(f"    {reason.message}") for reason in judged.reasons)


def realignment_lines(gap: Realignment) -> Iterator[str]:
    """The two labels that are apart."""
    yield one_line(f"apart on {gap.criterion} of {gap.trajectory}:")
    for label in gap.labels:
        steps = ", ".join(str(each.step) for each in label.citations)
        at = f", at {steps}" if steps else ""
        note = f": {label.note}" if label.note else ""
        yield one_line(f"  {label.annotator} {level_shown(label)}{at}{note}")


def level_shown(said: GivenLevel) -> str:
    """A level, or that the criterion does not apply."""
    return "does not apply" if said.level is None else f"{said.level:g}"


def scale_shown(criterion: CriterionShown) -> str:
    """What can be typed for a level."""
    levels: Sequence[int] = [each.level for each in criterion.anchors]
    also = ", n" if criterion.not_applicable else ""
    return f"{min(levels)} to {max(levels)}, halves allowed{also}"


def _judged(judged: JudgedVerdict, given: dict[str, float | None]) -> Iterator[str]:
    for each in judged.criteria:
        score = each.outcome if each.score is None else str(each.score)
        level = given.get(each.criterion)
        own = "n" if level is None else f"{level:g}"
        by = f" (lowered by {each.lowered_by})" if each.lowered_by else ""
        yield one_line(f"  {each.criterion}: {score}{by}, you {own}  {each.finding}".rstrip())
        yield from (one_line(f"      step {quote.step}: {quote.quote}") for quote in each.citations)
