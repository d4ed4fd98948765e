"""Many runs judged one after the other: each verdict kept as it is made, so that a stopped run goes on for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from proctor.judge.case_record import case_record_of
from proctor.judge.casing import Case, agent_of, case_of, judge_case, judges_cases
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import Told, judge
from proctor.judge.record import record_of
from proctor.judge.reply_cache import KeptModel
from proctor.judge.verdict_store import VerdictStore
from proctor.model_call import Model
from proctor.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class Judged:
    """A verdict, and what it cost now: replies that were kept before cost nothing."""

    verdict: Verdict
    asked: int
    """Calls that went out now."""
    cost: float | None
    """US dollars spent now; None where a provider did not tell."""


Heard = Callable[[str, CriterionResult], None]
"""Called with what is judged, by its id, and each result as it comes."""


async def judge_all(
    inquiries: Sequence[Inquiry], model: Model, terms: Terms, store: VerdictStore, heard: Heard
) -> AsyncGenerator[Judged]:
    """Each verdict as it comes, and after the last trial of a case the case's, where the rubric asks for one.

    Raises PlatformError where one cannot be kept; those before it are.
    """
    names = _names(inquiries)
    left = Counter(names)
    trials: dict[str, list[tuple[Inquiry, Verdict]]] = {}
    for inquiry, name in zip(inquiries, names, strict=True):
        kept = KeptModel(model, store.replies)
        verdict = await judge(inquiry, kept, terms, _keeping(kept, inquiry.trajectory.id, heard))
        store.keep(record_of(verdict, inquiry, terms, tuple(kept.exchanges)))
        yield Judged(verdict, kept.asked, kept.cost)
        trials.setdefault(name, []).append((inquiry, verdict))
        left[name] -= 1
        if not left[name] and judges_cases(inquiry.rubric):
            yield await _of_case(_case(name, trials[name]), model, terms, store, heard)


def _names(inquiries: Sequence[Inquiry]) -> list[str]:
    """The case of each run; where several agents ran it, one case for each agent."""
    agents: dict[str, set[str]] = {}
    for each in inquiries:
        agents.setdefault(case_of(each.trajectory), set()).add(agent_of(each.trajectory))
    return [
        name if len(agents[name]) == 1 else f"{name} ({agent_of(each.trajectory) or 'agent not told'})"
        for each in inquiries
        for name in [case_of(each.trajectory)]
    ]


def _case(name: str, trials: Sequence[tuple[Inquiry, Verdict]]) -> Case:
    return Case(name, tuple(inquiry for inquiry, _ in trials), tuple(verdict for _, verdict in trials))


async def _of_case(case: Case, model: Model, terms: Terms, store: VerdictStore, heard: Heard) -> Judged:
    kept = KeptModel(model, store.replies)
    verdict = await judge_case(case, kept, terms, _keeping(kept, case.name, heard))
    store.keep(case_record_of(verdict, case, terms, tuple(kept.exchanges)))
    return Judged(verdict, kept.asked, kept.cost)


def _keeping(kept: KeptModel, name: str, heard: Heard) -> Told:
    def came(result: CriterionResult) -> None:
        kept.keep(result)
        heard(name, result)

    return came
