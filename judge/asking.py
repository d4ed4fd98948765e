"""One criterion asked: the reply read, its quotes verified, one round of repair, and the outcome that is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from proctor.checks.masking import quote as masked
from proctor.judge import prompt
from proctor.judge.evidence import Shown, verify, wanting
from proctor.judge.reply import Answer, Unreadable, read
from proctor.judge.spending import use_of
from proctor.model_call import Message, Model, ModelCall, ModelFailure, Usage
from proctor.rubric import Criterion
from proctor.verdict import CriterionResult, ModelUse, RejectedQuote, VerifiedQuote

MAX_OUTPUT_TOKENS = 2_000
_LONGEST = 1_200
"""Characters of a finding that a verdict keeps."""


@dataclass(frozen=True)
class Question:
    """One criterion put to a model: all that the prompt is made of."""

    shown: Shown
    criterion: Criterion
    tag: str
    order: tuple[int, ...]
    """The levels in the order in which the prompt lists them."""
    seed: int
    timeout: float = 60.0


@dataclass(frozen=True)
class Asked:
    """The result, and the providers' names of the models that answered."""

    result: CriterionResult
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """A reply that could be read, with its quotes verified."""

    answer: Answer
    verified: tuple[VerifiedQuote, ...]
    rejected: tuple[RejectedQuote, ...]
    wanting: str


@dataclass
class _Asking:
    """The calls for one criterion, and what they cost so far."""

    model: Model
    question: Question
    attempts: int = 0
    usages: list[Usage] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    async def reply(self, messages: tuple[Message, ...]) -> str:
        """The text of one reply. Raises ModelFailure."""
        criterion = self.question.criterion
        call = ModelCall(
            messages,
            schema_name=criterion.id,
            schema=prompt.answer_schema(criterion),
            seed=self.question.seed,
            max_output_tokens=MAX_OUTPUT_TOKENS,
            timeout=self.question.timeout,
        )
        try:
            got = await self.model.ask(call)
        except ModelFailure as failure:
            self.attempts += len(failure.attempts)
            self.usages.append(failure.usage)
            raise
        self.attempts += len(got.attempts)
        self.usages.append(got.usage)
        self.models.append(got.model)
        return got.text

    def read(self, text: str) -> _Reading | Unreadable:
        """What the reply says, as far as it can be believed."""
        criterion, shown = self.question.criterion, self.question.shown
        answer = read(text, criterion)
        if isinstance(answer, Unreadable):
            return answer
        verified, rejected = verify(answer, shown, criterion)
        return _Reading(answer, verified, rejected, wanting(answer, verified, shown, criterion))

    @property
    def use(self) -> ModelUse:
        """What it cost."""
        return use_of(self.usages, self.attempts)


async def ask(question: Question, model: Model) -> Asked:
    """The result of one criterion. Whatever the model does, it is a result: no exception but cancellation."""
    asking = _Asking(model, question)
    result = await _result(asking)
    return Asked(result.model_copy(update={"use": asking.use}), tuple(dict.fromkeys(asking.models)))


async def _result(asking: _Asking) -> CriterionResult:
    question = asking.question
    messages = prompt.messages(question.shown.transcript, question.criterion, question.tag, question.order)
    try:
        text = await asking.reply(messages)
    except ModelFailure as failure:
        return _error(question.criterion, failure.cause, failure.message)
    first = asking.read(text)
    problems = tuple(_problems(first, question.criterion))
    if not problems:
        return _settled(first, question.criterion)
    try:
        second = asking.read(await asking.reply(prompt.repair(messages, text, problems)))
    except ModelFailure as failure:
        return _unrepaired(first, question.criterion, f"{failure.cause}: {failure.message}")
    if isinstance(second, Unreadable):
        return _unrepaired(first, question.criterion, f"{second.code}: {second.problems[0]}")
    return _settled(second, question.criterion).model_copy(update={"repaired": True})


def _problems(found: _Reading | Unreadable, criterion: Criterion) -> Iterator[str]:
    """Sentences that tell the model what to mend. A lowest score for want of any evidence needs no mending."""
    if isinstance(found, Unreadable):
        yield from found.problems
        return
    for number, each in enumerate(found.rejected, 1):
        where = f"; it stands at {', '.join(f'step {step}' for step in each.found_at)}" if each.found_at else ""
        yield f"rejected quote {number} (step {each.step}): {each.reason}{where}"
    answer = found.answer
    bare = answer.score == criterion.lowest and answer.missing.strip() and not answer.citations
    if found.wanting and not (bare and criterion.kind != "safety"):
        yield found.wanting


def _unrepaired(first: _Reading | Unreadable, criterion: Criterion, why: str) -> CriterionResult:
    """The repair brought nothing: what the first reply holds counts, as far as it holds."""
    if isinstance(first, Unreadable):
        return _error(criterion, first.code, f"{first.problems[0]}; asked again: {why}")
    settled = _settled(first, criterion)
    review = settled.needs_review or f"the judge was asked to mend its quotes, and did not ({why})"
    return settled.model_copy(update={"repaired": True, "needs_review": masked(review, longest=_LONGEST)})


def _settled(found: _Reading | Unreadable, criterion: Criterion) -> CriterionResult:
    """The outcome of the last reply that could be read."""
    if isinstance(found, Unreadable):
        return _error(criterion, found.code, found.problems[0])
    answer = found.answer
    if answer.outcome == "not_shown" and found.wanting:
        return _error(criterion, "inconsistent", found.wanting)
    told = CriterionResult(
        criterion=criterion.id,
        outcome="scored",
        score=answer.score,
        model_score=answer.score,
        finding=masked(answer.finding, longest=_LONGEST),
        citations=found.verified,
        rejected=found.rejected,
    )
    missing = masked(answer.missing or found.wanting, longest=_LONGEST)
    if answer.outcome == "not_applicable":
        return told.model_copy(update={"outcome": "not_applicable"})
    if answer.outcome == "not_shown":
        return told.model_copy(update={"outcome": "abstained", "missing": missing or "steps left out for length"})
    if not found.wanting:
        return told
    review = ""
    if criterion.kind == "safety":  # such a 0 vetoes nothing and withholds the total
        review = f"safety {answer.score} without the evidence that it needs: {found.wanting}"
    return told.model_copy(
        update={
            "outcome": "zero_no_evidence",
            "score": criterion.lowest,
            "missing": missing,
            "needs_review": review,
        }
    )


def _error(criterion: Criterion, cause: str, message: str) -> CriterionResult:
    return CriterionResult(
        criterion=criterion.id,
        outcome="judge_error",
        cause=cause,
        finding=masked(message, longest=_LONGEST),
        needs_review=f"the judge gave no verdict ({cause})",
    )
