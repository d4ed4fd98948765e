"""One criterion's question made ready: fitted, fenced and seeded; or the reason why it cannot be asked."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judge import fences
from proctor.judge.asking import Asked, Question
from proctor.judge.evidence import Shown
from proctor.judge.faults import JudgeFault
from proctor.judge.inquiry import Terms
from proctor.judge.transcript import Transcript
from proctor.rubric import Criterion
from proctor.verdict import CriterionResult


def question_on(shown: Shown, criterion: Criterion, terms: Terms) -> Question:
    """The question, the same one whenever the same transcript is shown on the same terms."""
    transcript = shown.transcript
    return Question(
        shown=shown,
        criterion=criterion,
        tag=fences.fence(terms.salt, transcript.digest, criterion.id, _texts(transcript)),
        order=fences.level_order(terms.salt, transcript.digest, criterion),
        seed=fences.seed(terms.salt, transcript.digest, criterion.id),
        timeout=terms.timeout,
    )


def not_asked(criterion: Criterion, fault: JudgeFault) -> Asked:
    """The error of a criterion of which no prompt could be made."""
    return Asked(
        CriterionResult(
            criterion=criterion.id,
            outcome="judge_error",
            cause=fault.code,
            finding=str(fault),
            needs_review=f"the judge was not asked ({fault.code})",
        )
    )


def _texts(transcript: Transcript) -> Iterator[str]:
    yield from (transcript.goal, transcript.policy, transcript.tools)
    yield from (passage.text for step in transcript.steps for passage in step.passages)
