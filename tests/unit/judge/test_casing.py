"""A case judged over its trials: figures first, caps that only lower, and a total that its trials share."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.judge.case_facts import drift
from proctor.judge.case_figures import figure_lines
from proctor.judge.case_record import case_record_of, replay_case
from proctor.judge.casing import Case, case_of, judge_case, judges_cases
from proctor.judge.grade import is_bad
from proctor.judge.inquiry import Inquiry
from proctor.judge.judging import judge
from proctor.judge.scripted import Scripted
from proctor.judge.service.asked_for import checked, wanted, with_cases
from proctor.judge.stand_ins import stand_in
from proctor.judge_wire import JudgeTerms
from proctor.rubric_file import load_rubric
from proctor.trajectory import Trajectory, Versions
from proctor.verdict import Verdict
from tests.unit.judge.ledgers import ledger_in
from tests.unit.judge.refunds import TERMS, answer, refund, result_of, saying

ACMSE = load_rubric("acmse")
GOOD = answer(5)
STABLE = answer(5, quotes=[(0, "trials that differ from the others in a fact: 0 of 2")])
LEAN_QUOTE = [(0, "mean number of tool calls: 2")]
LEAN = answer(5, LEAN_QUOTE)
REFERENCE = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}


def trial(number: int, **changed: Any) -> Trajectory:
    run = refund(llm="live", case="refunds", trial=number, expected=REFERENCE, **changed)
    return run.model_copy(update={"id": f"refund-{number}"})


def judged(trials: list[Trajectory], model: Scripted) -> tuple[Case, Verdict]:
    inquiries = tuple(Inquiry(each, ACMSE) for each in trials)
    verdicts = tuple(asyncio.run(judge(each, model, TERMS)) for each in inquiries)
    case = Case(case_of(trials[0]), inquiries, verdicts)
    return case, asyncio.run(judge_case(case, model, TERMS))


def judge_saying(stability: Any = STABLE, efficiency: Any = LEAN, **more: Any) -> Scripted:
    return saying(GOOD, stability=stability, efficiency=efficiency, **more)


def test_a_case_has_its_trials_means_and_what_is_judged_of_all_together() -> None:
    case, verdict = judged([trial(0), trial(1)], judge_saying(efficiency=answer(4, LEAN_QUOTE)))
    assert (verdict.trajectory, verdict.trial, len(verdict.trials)) == ("refunds", None, 2)
    assert verdict.means == {"accuracy": 5, "coherence": 5, "memory": 5}
    assert (result_of(verdict, "stability").score, result_of(verdict, "efficiency").score) == (5, 4)
    assert (verdict.total, verdict.total_of_100) == (4.9, 98)
    assert not is_bad(verdict, 98)
    assert is_bad(verdict, 98.5)
    for each in case.verdicts:
        assert (each.total, each.awaits_case, is_bad(each, 100)) == (None, True, False)


def test_stability_is_not_assessable_without_two_trials_of_a_live_llm_and_nothing_is_asked() -> None:
    refusing = judge_saying(stability={"fail": "unreachable", "said": "nobody may be asked"})
    replayed = [each.model_copy(update={"llm": "replayed"}) for each in (trial(0), trial(1))]
    for trials in ([trial(0)], replayed, [trial(0), replayed[1]]):
        _, verdict = judged(trials, refusing)
        stability = result_of(verdict, "stability")
        assert (stability.outcome, stability.by, stability.use.calls) == ("not_applicable", "figures", 0)
        assert "with a live LLM" in stability.finding
        assert verdict.total_of_100 == 100


def test_efficiency_is_not_assessable_without_a_reference_run() -> None:
    bare = [each.model_copy(update={"expected": None}) for each in (trial(0), trial(1))]
    _, verdict = judged(bare, judge_saying())
    efficiency = result_of(verdict, "efficiency")
    assert (efficiency.outcome, efficiency.by) == ("not_applicable", "figures")
    assert "reference run" in efficiency.finding


@pytest.mark.req(22)
def test_a_cap_lowers_what_the_judge_gives_and_says_so_and_raises_nothing() -> None:
    drifting = [
        trial(0),
        trial(1, result='{"refund_id": "R78", "status": "refund issued"}', said="Refund R78, 99 EUR."),
    ]
    quote = [(0, "trials that differ from the others in a fact: 1 of 2")]
    _, verdict = judged(drifting, judge_saying(stability=answer(5, quote)))
    stability = result_of(verdict, "stability")
    assert (stability.score, stability.model_score, stability.lowered_by) == (2, 5, "result_drift")
    assert "50%" in stability.finding
    assert "rule_and_model_disagree" in {each.kind for each in verdict.findings}
    _, verdict = judged(drifting, judge_saying(stability=answer(1, quote)))
    assert (result_of(verdict, "stability").score, result_of(verdict, "stability").by) == (1, "model")


def test_what_one_trial_lacks_leaves_the_case_without_a_total() -> None:
    case, verdict = judged([trial(0), trial(1)], judge_saying(accuracy=[GOOD, {"fail": "timeout", "said": "60 s"}]))
    assert (verdict.total, is_bad(verdict, None)) == (None, True)
    assert verdict.no_total == "refund-1: Accuracy could not be judged (timeout)"
    assert [each.awaits_case for each in case.verdicts] == [True, False]
    assert any(each.startswith("refund-1: accuracy") for each in verdict.needs_review)


async def test_a_case_is_made_again_from_its_record(tmp_path: Path) -> None:
    trials = [trial(0), trial(1)]
    inquiries = tuple(Inquiry(each, ACMSE) for each in trials)
    model = judge_saying()
    verdicts = tuple([await judge(each, model, TERMS) for each in inquiries])
    case = Case("refunds", inquiries, verdicts)
    async with ledger_in(tmp_path) as (_, made):
        kept = made(model, "case")
        verdict = await judge_case(case, kept, TERMS)
    record = case_record_of(verdict, case, TERMS, tuple(kept.exchanges))
    assert (await replay_case(record, TERMS)).differences == ()
    lost = record.model_copy(update={"exchanges": ()})
    assert any("stability" in each for each in (await replay_case(lost, TERMS)).differences)


def test_a_run_without_a_case_is_a_case_of_its_own_and_not_every_rubric_judges_cases() -> None:
    assert (case_of(refund()), case_of(trial(0))) == ("refund", "refunds")
    assert judges_cases(ACMSE)
    assert not judges_cases(load_rubric("trajectory"))


def test_another_order_of_keys_at_any_depth_is_no_drift() -> None:
    one = trial(0, end_state={"orders": {"W1": {"status": "refunded", "amount": 1}}, "n": [{"a": 1, "b": 2}]})
    two = trial(1, end_state={"n": [{"b": 2, "a": 1}], "orders": {"W1": {"amount": 1, "status": "refunded"}}})
    three = trial(2, end_state={"n": [{"b": 2, "a": 1}], "orders": {"W1": {"amount": 2, "status": "refunded"}}})
    assert drift([one, two]).share == 0
    assert drift([one, two, three]).differing == (3,)
    assert "differing end states: 1 (trials 1, 2 alike)" in list(figure_lines([one, two]))


def test_trials_of_two_agents_are_two_cases() -> None:
    trials = [trial(0), trial(1), trial(2).model_copy(update={"versions": Versions(agent="v2")})]
    stand_ins = {"stand-in/obedient": stand_in("stand-in/obedient")}
    asked = checked(JudgeTerms(rubric="acmse"), stand_ins, b"a salt")
    made = with_cases([wanted(asked, each, "") for each in trials])
    assert [f"{each.subject}: {len(each.trials)}" for each in made] == [
        "refund-0: 0",
        "refund-1: 0",
        "refunds (gpt-4o): 2",
        "refund-2: 0",
        "refunds (gpt-4o v2): 1",
    ]
