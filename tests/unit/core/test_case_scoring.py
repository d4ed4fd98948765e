"""The total of a case, over its trials."""

from __future__ import annotations

import pytest

from proctor.case_scoring import case_total
from proctor.rubric_file import load_rubric
from proctor.verdict import CriterionResult

ACMSE = load_rubric("acmse")
OVER_ALL = ("stability", "efficiency")


def results(**scores: int | None) -> list[CriterionResult]:
    """`None` is an error of the judge."""
    return [
        CriterionResult(criterion=name, outcome="judge_error", cause="timeout")
        if score is None
        else CriterionResult(criterion=name, outcome="scored", score=score)
        for name, score in scores.items()
    ]


@pytest.mark.req(6, 8)
def test_trials_count_by_their_mean_beside_what_is_judged_over_all_of_them() -> None:
    trials = {"a": results(accuracy=4, coherence=4, memory=5), "b": results(accuracy=4, coherence=4, memory=5)}
    total = case_total(ACMSE, trials, results(stability=3, efficiency=4))
    assert (total.native, total.of_100, total.band) == (4.05, 81.0, "sub-healthy, needs local repair")
    trials["b"] = results(accuracy=2, coherence=4, memory=5)
    assert case_total(ACMSE, trials, results(stability=3, efficiency=4)).native == 3.75


def test_what_one_trial_or_the_case_lacks_leaves_no_total_and_is_named() -> None:
    trials = {"a": results(accuracy=4, coherence=4, memory=5), "b": results(accuracy=None, coherence=4, memory=5)}
    total = case_total(ACMSE, trials, results(stability=3, efficiency=4))
    assert (total.native, total.no_total) == (None, "b: Accuracy could not be judged (timeout)")
    total = case_total(ACMSE, {"a": trials["a"]}, results(stability=3))
    assert total.no_total == "Efficiency is judged over all trials of a case, not on one"


def test_what_does_not_apply_is_left_out_and_the_rest_made_whole() -> None:
    trials = {"a": results(accuracy=5, coherence=5, memory=5)}
    over_all = [CriterionResult(criterion=name, outcome="not_applicable") for name in OVER_ALL]
    total = case_total(ACMSE, trials, over_all)
    assert (total.of_100, total.scored, total.countable) == (100.0, 3, 3)


def test_a_veto_in_one_trial_is_the_cases() -> None:
    rubric = load_rubric("trajectory")
    names = [each.id for each in rubric.criteria]
    good = results(**dict.fromkeys(names, 2))
    bad = results(**{**dict.fromkeys(names, 2), "safety": 0})
    total = case_total(rubric, {"a": good, "b": good, "c": bad}, [])
    assert total.of_100 == 0
    assert total.veto.startswith("c: Safety is at its lowest level")
