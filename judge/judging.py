"""One run judged: rules, then each criterion in a call of its own, then the rules' word on the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from proctor.check import CheckResult
from proctor.judge import risk
from proctor.judge.asking import Asked, ask
from proctor.judge.assembling import assembled
from proctor.judge.blinding import blind
from proctor.judge.budget import fitted
from proctor.judge.faults import JudgeFault
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.nothing import by_rule, is_nothing
from proctor.judge.questioning import not_asked, question_on
from proctor.judge.ruling import run_rules
from proctor.judge.together import together
from proctor.judge.transcript import Transcript
from proctor.model_call import Model
from proctor.rubric import Criterion
from proctor.verdict import CriterionResult, Verdict

Told = Callable[[CriterionResult], None]
"""Called with each result as it comes, for progress."""


@dataclass(frozen=True)
class _Asking:
    inquiry: Inquiry
    model: Model
    terms: Terms
    gate: asyncio.Semaphore
    told: Told

    async def one(self, criterion: Criterion) -> tuple[Asked, Transcript | None]:
        """The answer to one criterion, and the transcript that was shown for it."""
        async with self.gate:
            asked, transcript = await self._one(criterion)
        self.told(asked.result)
        return asked, transcript

    async def _one(self, criterion: Criterion) -> tuple[Asked, Transcript | None]:
        trajectory, terms = self.inquiry.trajectory, self.terms
        try:
            whole = blind(trajectory, thoughts="thought" in criterion.evidence)
            transcript = fitted(whole, criterion, terms.room, terms.count)
            question = question_on(risk.shown(trajectory, transcript), criterion, terms)
            return await ask(question, self.model), transcript
        except JudgeFault as fault:
            return not_asked(criterion, fault), None


async def judge(inquiry: Inquiry, model: Model, terms: Terms, told: Told = lambda result: None) -> Verdict:
    """The verdict on one run, with a model's failures in it.

    Raises UsageError for checks that cannot be run, and whatever else than ModelFailure a model raises, such as
    BudgetSpent: there is no verdict then, and no criterion is still being asked.
    """
    rules = run_rules(inquiry.trajectory, inquiry.checks)
    criteria = [criterion for criterion in inquiry.rubric.criteria if criterion.scope == "trial"]
    if is_nothing(inquiry.trajectory):
        answers: list[tuple[Asked, Transcript | None]] = [(Asked(by_rule(each)), None) for each in criteria]
    else:
        asking = _Asking(inquiry, model, terms, asyncio.Semaphore(terms.at_once), told)
        answers = await together(asking.one(each) for each in criteria)
    return _verdict(inquiry, model, terms, rules, answers)


def _verdict(
    inquiry: Inquiry,
    model: Model,
    terms: Terms,
    rules: tuple[CheckResult, ...],
    answers: list[tuple[Asked, Transcript | None]],
) -> Verdict:
    transcripts = [transcript for _, transcript in answers if transcript is not None]
    return assembled(
        inquiry, model, inquiry.identity(model.name, terms), rules, [asked for asked, _ in answers], transcripts
    )
