"""What a person is shown: the run as the judge saw it, beside what it should have been and the rule it falls under.

So the task is to find the difference. Secrets and personal data are masked, and the judge's result is not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from proctor.checks.masking import masked_text
from proctor.checks.masking import quote as masked_quote
from proctor.errors import UsageError
from proctor.judge.blinding import blind
from proctor.judge.case_record import CaseRecord
from proctor.judge.case_transcript import case_transcript
from proctor.judge.citations import Cited, check
from proctor.judge.faults import NotBlind
from proctor.judge.fold import fold
from proctor.judge.places import stands_in
from proctor.judge.record import Record
from proctor.judge.service.records import AnyRecord
from proctor.judge.service.reviews import Given, Review, Sent
from proctor.judge.showing import printable
from proctor.judge.transcript import Transcript
from proctor.review_wire import (
    AnchorShown,
    BaselineShown,
    CriterionShown,
    JudgedCriterion,
    JudgedVerdict,
    LabelCitation,
    PassageShown,
    ReviewSheet,
    StepShown,
)
from proctor.rubric import Criterion
from proctor.verdict import CriterionResult, RejectedQuote

EXCERPT = 1200
"""Characters of a policy that are shown as the rule, its best fitting parts first."""
_FINDING = 400
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3400-\u9fff]{2}")
_PARTS = re.compile(r"\n\s*\n|(?<=[.!?。！？])\s+(?=[A-Z\u3400-\u9fff#*-])|\n(?=\s*(?:[-*#]|\d+[.)]))")
_STANDS = ("not_counted", "withheld")
_SHORT = ("too_short", "placeholder")


def sheet(review: Review, record: AnyRecord, own: Sequence[Given], *, revealed: bool) -> ReviewSheet:
    """The sheet of a review for one annotator; `own` are his labels. Raises UsageError for a run that leaks names."""
    shown = masked_transcript(record)
    blind_ones = {each.criterion: each.said for each in own if each.kind == "blind"}
    return ReviewSheet(
        id=review.id,
        trajectory=review.trajectory,
        rubric=review.rubric,
        goal=shown.goal,
        rule=excerpt(shown),
        policy=shown.policy,
        baseline=tuple(_baseline(record)),
        steps=tuple(
            StepShown(
                index=step.index,
                heading=step.heading,
                passages=tuple(PassageShown(kind=p.kind, field=p.field, text=p.text) for p in step.passages),
            )
            for step in shown.steps
        ),
        criteria=tuple(
            CriterionShown(
                id=each.id,
                title=each.title,
                question=each.question,
                anchors=tuple(AnchorShown(level=level.score, anchor=level.anchor) for level in each.levels),
                not_applicable=each.not_applicable,
                given=blind_ones.get(each.id),
            )
            for each in _criteria(review, record)
        ),
        revealed=revealed,
    )


def masked_transcript(record: AnyRecord) -> Transcript:
    """The run, blinded as for the judge, and masked. Raises UsageError."""
    try:
        if isinstance(record, CaseRecord):
            shown = case_transcript(record.trajectories)
        else:
            thoughts = any("thought" in each.evidence for each in record.rubric.criteria)
            shown = blind(record.trajectory, thoughts=thoughts)
    except NotBlind as fault:
        raise UsageError("not_blind", f"the run cannot be shown: {fault.message}", fault.fix) from None
    steps = (
        replace(step, passages=tuple(replace(p, text=masked_text(p.text), withheld=()) for p in step.passages))
        for step in shown.steps
    )
    return replace(shown, steps=tuple(steps), goal=masked_text(shown.goal), policy=masked_text(shown.policy))


def refuse_untrue(citations: Iterable[LabelCitation], record: AnyRecord, criterion: Criterion) -> None:
    """Raise UsageError for a step that the run does not have, and for a quote that does not stand at its step."""
    shown = masked_transcript(record)
    for each in citations:
        if each.quote:
            found = check(Cited(each.step, each.quote), shown, criterion)
            if isinstance(found, RejectedQuote) and not _stands(found, each, shown):
                raise UsageError("quote_not_found", f"step {each.step}: {found.reason}", "quote what the sheet shows")
        elif each.step not in {step.index for step in shown.steps}:
            last = max((step.index for step in shown.steps), default=0)
            raise UsageError("no_such_step", f"the run has no step {each.step}", f"its last one is {last}")


def excerpt(shown: Transcript) -> tuple[str, ...]:
    """The parts of the policy that share most words with the run, in the policy's order; all of a short one."""
    parts = [part.strip() for part in _PARTS.split(shown.policy) if part and part.strip()]
    if len(shown.policy) <= EXCERPT:
        return tuple(parts)
    said = [shown.goal, *(passage.text for step in shown.steps for passage in step.passages)]
    words = _words(said)
    ranked = sorted(range(len(parts)), key=lambda at: (-len(_words([parts[at]]) & words), at))
    kept: set[int] = set()
    room = EXCERPT
    for at in ranked:
        if len(parts[at]) <= room:
            kept.add(at)
            room -= len(parts[at])
    return tuple(parts[at] for at in sorted(kept)) or (f"{parts[ranked[0]][: EXCERPT - 3]}...",)


def judged(record: AnyRecord, sent: Sent, asked: Collection[str]) -> JudgedVerdict:
    """What the judge said, and why it came to people, masked."""
    verdict = record.verdict
    return JudgedVerdict(
        verdict=sent.verdict,
        model=verdict.judge.model,
        reasons=tuple(each.model_copy(update={"message": masked_text(each.message)}) for each in sent.reasons),
        criteria=tuple(_judged(each) for each in verdict.criteria if each.criterion in asked),
        findings=tuple(masked_text(each.message) for each in verdict.findings),
    )


def _judged(result: CriterionResult) -> JudgedCriterion:
    return JudgedCriterion(
        criterion=result.criterion,
        outcome=result.outcome,
        score=result.score,
        finding=masked_quote(result.finding, longest=_FINDING),
        citations=tuple(LabelCitation(step=each.step, quote=masked_quote(each.quote)) for each in result.citations),
        lowered_by=result.lowered_by,
        missing=masked_text(result.missing),
    )


def _criteria(review: Review, record: AnyRecord) -> list[Criterion]:
    return [record.rubric.criterion(each.id) for each in review.criteria]


def _baseline(record: AnyRecord) -> Iterator[BaselineShown]:
    """What a correct run would have done: the run's own word for it, and what the suite checks."""
    runs = record.trajectories if isinstance(record, CaseRecord) else (record.trajectory,)
    for text in dict.fromkeys(_as_text(run.expected) for run in runs if run.expected):
        yield BaselineShown(name="expected", text=text)
    if isinstance(record, Record):
        for name, parameters in record.checks.items():
            if parameters:
                yield BaselineShown(name=f"check {name}", text=_as_text(parameters))


def _as_text(value: Any) -> str:
    return masked_text(printable(json.dumps(value, ensure_ascii=False, indent=1)))


def _stands(found: RejectedQuote, cited: LabelCitation, shown: Transcript) -> bool:
    """What is no evidence for a judge may be a person's: a short word, or one of a kind that is not counted."""
    if found.code in _STANDS:
        return True
    quote = fold(cited.quote).text
    here = (p.text for step in shown.steps if step.index == cited.step for p in step.passages)
    return found.code in _SHORT and bool(quote.strip()) and any(stands_in(text, quote) for text in here)


def _words(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(text)}
