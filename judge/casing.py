"""What is judged over all trials of a case, after its trials: figures first, and caps that only lower."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.case_scoring import case_total, means
from proctor.judge import answering
from proctor.judge.asking import Asked, ask
from proctor.judge.budget import fitted
from proctor.judge.case_figures import measured, reference
from proctor.judge.case_transcript import case_transcript
from proctor.judge.evidence import Shown
from proctor.judge.faults import JudgeFault
from proctor.judge.inquiry import Inquiry, Terms, digest, versions
from proctor.judge.judging import Told
from proctor.judge.questioning import not_asked, question_on
from proctor.judge.spending import added
from proctor.judge.together import together
from proctor.model_call import Model
from proctor.rubric import Criterion, Rubric
from proctor.trajectory import Trajectory
from proctor.verdict import CriterionResult, Finding, Judge, Verdict

_CAPPED = {
    "result_drift": "the share of trials that differ in a fact is {value:.0%}, over {over:.0%}",
    "tool_calls_by_reference": "the mean number of tool calls is {value:.2f} times the reference run's, over {over:g}",
    "steps_by_reference": "the mean number of steps is {value:.2f} times the reference run's, over {over:g}",
}


@dataclass(frozen=True)
class Case:
    """The trials of one case, with their verdicts, in one order."""

    name: str
    inquiries: tuple[Inquiry, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def trials(self) -> list[Trajectory]:
        """The runs."""
        return [each.trajectory for each in self.inquiries]

    @property
    def rubric(self) -> Rubric:
        """The one rubric by which all were judged."""
        return self.inquiries[0].rubric


def case_of(trajectory: Trajectory) -> str:
    """Which case a run is a trial of: its own name for it, else its group, else itself."""
    return trajectory.case or trajectory.group or trajectory.id


def agent_of(trajectory: Trajectory) -> str:
    """Which agent ran it, as far as told: trials of two agents are no repeats of one another."""
    return " ".join(filter(None, (trajectory.agent.model, trajectory.versions.agent)))


def judges_cases(rubric: Rubric) -> bool:
    """The rubric asks something of all trials together."""
    return any(criterion.scope == "case" for criterion in rubric.criteria)


async def judge_case(case: Case, model: Model, terms: Terms, told: Told = lambda result: None) -> Verdict:
    """The verdict on a case: what its trials scored on average, and what is judged over all of them.

    Raises what `judge` does.
    """
    criteria = [criterion for criterion in case.rubric.criteria if criterion.scope == "case"]
    gate = asyncio.Semaphore(terms.at_once)

    async def one(criterion: Criterion) -> Asked:
        async with gate:
            asked = await _asked(case, criterion, model, terms)
        told(asked.result)
        return asked

    answers = await together(one(criterion) for criterion in criteria)
    results = tuple(
        capped(each.result, criterion, case.trials) for criterion, each in zip(criteria, answers, strict=True)
    )
    return _verdict(case, model, terms, answers, results)


async def _asked(case: Case, criterion: Criterion, model: Model, terms: Terms) -> Asked:
    unfit = not_assessable(criterion, case.trials)
    if unfit:
        told = CriterionResult(criterion=criterion.id, outcome="not_applicable", by="figures", finding=unfit)
        return Asked(told)
    try:
        transcript = fitted(case_transcript(case.trials), criterion, terms.room, terms.count)
        return await ask(question_on(Shown(transcript), criterion, terms), model)
    except JudgeFault as fault:
        return not_asked(criterion, fault)


def not_assessable(criterion: Criterion, trials: Sequence[Trajectory]) -> str:
    """Why the figures say nothing of this criterion; empty where they do."""
    live = sum(trial.llm == "live" for trial in trials)
    if criterion.live_trials and (live < criterion.live_trials or live < len(trials)):
        return (
            f"not assessable: it takes at least {criterion.live_trials} trials, all with a live LLM; "
            f"{live} of {len(trials)} had one"
        )
    if criterion.reference and reference(trials, criterion.reference) is None:
        what = criterion.reference.replace("_", " ")
        return f"not assessable: no trial's `expected` tells the {what} of a reference run, or they tell several"
    return ""


def capped(result: CriterionResult, criterion: Criterion, trials: Sequence[Trajectory]) -> CriterionResult:
    """The result, held down where a figure says so: it lowers a score, and never raises one."""
    for cap in criterion.caps:
        value = measured(trials, cap.figure)
        if value is not None and value > cap.over and result.score is not None and result.score > cap.at_most:
            why = _CAPPED[cap.figure].format(value=value, over=cap.over)
            result = result.model_copy(
                update={
                    "score": cap.at_most,
                    "by": "figures",
                    "lowered_by": cap.figure,
                    "finding": f"held at {cap.at_most}: {why} (the judge: {result.finding})",
                }
            )
    return result


def _verdict(
    case: Case, model: Model, terms: Terms, answers: Sequence[Asked], results: tuple[CriterionResult, ...]
) -> Verdict:
    first, kept = case.inquiries[0], case.verdicts
    by_trial = {each.trajectory: each.criteria for each in kept}
    total = case_total(case.rubric, by_trial, results, first.preset)
    judge = _judge(case, model, answers)
    reviews = [f"{each.criterion}: {each.needs_review}" for each in results if each.needs_review]
    reviews += [f"{each.trajectory}: {review}" for each in kept for review in each.needs_review]
    reviews += answering.reviews(judge)
    return Verdict(
        id=digest(["case", case.name, [each.identity(model.name, terms) for each in case.inquiries]]),
        trajectory=case.name,
        trajectory_digest=digest([each.trajectory_digest for each in kept]),
        case=case.name,
        trials=tuple(each.id for each in kept),
        means={name: float(mean) for name, mean in means(by_trial).items()},
        set_up=_same([each.set_up for each in kept]),
        llm=_same([each.llm for each in kept]),
        judge=judge,
        versions=versions(case.rubric),
        criteria=results,
        findings=(*_findings(model, results), *answering.findings(judge)),
        veto=total.veto,
        total=total.native,
        total_of_100=total.of_100,
        no_total=total.no_total,
        band=total.band,
        fix_first=total.fix_first,
        scored=total.scored,
        countable=total.countable,
        needs_review=tuple(dict.fromkeys(reviews)),
        weights=dict(total.weights),
        use=added(each.result.use for each in answers),
    )


def _judge(case: Case, model: Model, answers: Sequence[Asked]) -> Judge:
    returned = dict.fromkeys(name for each in answers for name in each.models)
    return Judge(
        model=model.name,
        returned=tuple(returned),
        families=case.inquiries[0].vendors.judge,
        agent_families=tuple(sorted({name for each in case.inquiries for name in each.vendors.agent})),
        stand_in=model.is_stand_in,
        vendor_overridden=any(each.vendors.overridden for each in case.inquiries),
    )


def _findings(model: Model, results: Sequence[CriterionResult]) -> Iterator[Finding]:
    for each in results:
        if each.by == "figures" and each.lowered_by and each.model_score is not None:
            message = f"{each.lowered_by} holds {each.criterion} at {each.score}; the judge gave {each.model_score}"
            yield Finding(kind="rule_and_model_disagree", message=message, criterion=each.criterion)
    if model.is_stand_in:
        yield Finding(kind="note", message=f"no live model was used: {model.name} is a stand-in by rules")


def _same(values: Sequence[str]) -> str:
    """What all have in common; empty where they differ."""
    return values[0] if len(set(values)) == 1 else ""
