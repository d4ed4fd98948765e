"""A verdict put together from its parts: what the rules said, what the model said, and what that comes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proctor.case_scoring import part_of
from proctor.check import CheckResult
from proctor.judge import answering
from proctor.judge.asking import Asked
from proctor.judge.inquiry import Inquiry, versions
from proctor.judge.ruling import disagreements, flags, ruled
from proctor.judge.shortening import shortened_steps
from proctor.judge.spending import added
from proctor.judge.transcript import Flag, Transcript
from proctor.model_call import Model
from proctor.scoring import total_of
from proctor.verdict import CriterionResult, Finding, Judge, RejectedQuote, Verdict, VerifiedQuote

_MOST_FLAGS = 20


def assembled(
    inquiry: Inquiry,
    model: Model,
    identity: str,
    rules: Sequence[CheckResult],
    answers: Sequence[Asked],
    transcripts: Sequence[Transcript],
) -> Verdict:
    """The verdict on a run."""
    trajectory, rubric = inquiry.trajectory, inquiry.rubric
    criteria = [rubric.criterion(each.result.criterion) for each in answers]
    results = tuple(ruled(criterion, each.result, rules) for criterion, each in zip(criteria, answers, strict=True))
    findings = [*flags(rules), *_flagged(transcripts)]
    for criterion, each in zip(criteria, answers, strict=True):
        findings += disagreements(criterion, each.result, rules)
    judge = _judge(inquiry, model, answers)
    findings += [*_suspicious(results), *_notes(model, transcripts), *answering.findings(judge)]
    total = total_of(rubric, results, inquiry.preset)
    alone = part_of(rubric, "trial") if total.no_total else None
    return Verdict(
        id=identity,
        trajectory=trajectory.id,
        trajectory_digest=inquiry.trajectory_digest,
        case=trajectory.case or trajectory.group,
        trial=trajectory.trial,
        set_up=trajectory.set_up,
        llm=trajectory.llm,
        judge=judge,
        versions=versions(rubric),
        criteria=results,
        rules=tuple(rules),
        findings=tuple(dict.fromkeys(findings)),
        veto=total.veto,
        total=total.native,
        total_of_100=total.of_100,
        no_total=total.no_total,
        awaits_case=alone is not None and not total_of(alone, results, inquiry.preset).no_total,
        band=total.band,
        fix_first=total.fix_first,
        scored=total.scored,
        countable=total.countable,
        needs_review=tuple(dict.fromkeys([*_reviews(results), *answering.reviews(judge)])),
        omitted_steps=_joined(each.omitted for each in transcripts),
        shortened_steps=_joined(shortened_steps(each) for each in transcripts),
        language=next((each.language for each in transcripts), ""),
        weights=dict(total.weights),
        use=added([each.result.use for each in answers]),
    )


def _judge(inquiry: Inquiry, model: Model, answers: Sequence[Asked]) -> Judge:
    returned = dict.fromkeys(name for each in answers for name in each.models)
    return Judge(
        model=model.name,
        returned=tuple(returned),
        families=inquiry.vendors.judge,
        agent_families=inquiry.vendors.agent,
        stand_in=model.is_stand_in,
        vendor_overridden=inquiry.vendors.overridden,
    )


def _flagged(transcripts: Sequence[Transcript]) -> Iterator[Finding]:
    """What was withheld or looked suspicious, once for each place."""
    seen: dict[Flag, None] = dict.fromkeys(flag for each in transcripts for flag in each.flags)
    for flag in list(seen)[:_MOST_FLAGS]:
        yield Finding(kind="injection", message=f"{flag.kind} at step {flag.step}: {flag.quote}", steps=(flag.step,))


def _suspicious(results: Sequence[CriterionResult]) -> Iterator[Finding]:
    """Characters in or around quotes that read otherwise than they are written."""
    for result in results:
        quotes: list[VerifiedQuote | RejectedQuote] = [*result.citations, *result.rejected]
        for quote in quotes:
            if quote.suspicious:
                where = "?" if quote.step is None else str(quote.step)
                yield Finding(
                    kind="suspicious_characters",
                    message=f"in or around a quote of step {where}: {', '.join(quote.suspicious)}",
                    criterion=result.criterion,
                    steps=() if quote.step is None else (quote.step,),
                )


def _notes(model: Model, transcripts: Sequence[Transcript]) -> Iterator[Finding]:
    if model.is_stand_in:
        yield Finding(kind="note", message=f"no live model was used: {model.name} is a stand-in by rules")
    omitted = _joined(each.omitted for each in transcripts)
    if omitted:
        yield Finding(kind="note", message=f"{len(omitted)} steps were left out of prompts for length", steps=omitted)
    cut = _joined(shortened_steps(each) for each in transcripts)
    if cut:
        yield Finding(kind="note", message=f"{len(cut)} steps were shown without the middle of a text", steps=cut)


def _joined(steps: Iterable[frozenset[int]]) -> tuple[int, ...]:
    return tuple(sorted(frozenset[int]().union(*steps)))


def _reviews(results: Sequence[CriterionResult]) -> Iterator[str]:
    for each in results:
        if each.needs_review:
            yield f"{each.criterion}: {each.needs_review}"
