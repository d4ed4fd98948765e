"""From criterion scores to one number: exact, vetoed, or withheld with the reason."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import RubricError
from proctor.rubric import Rubric
from proctor.rubric_file import load_rubric
from proctor.scoring import band_of, of_100, shown, total_of, weighted, weights_of
from proctor.verdict import CriterionResult
from tests.unit.core.rubrics import band, criterion, rubric, scored, unscored

ACMSE = load_rubric("acmse")
TRAJECTORY = load_rubric("trajectory")
QA = load_rubric("qa")


def marks(of: Rubric, *scores: int) -> list[CriterionResult]:
    return [scored(each.id, score) for each, score in zip(of.criteria, scores, strict=True)]


@pytest.mark.req(6, 8, 10)
def test_the_worked_example_gives_4_05_and_81_exactly() -> None:
    total = total_of(ACMSE, marks(ACMSE, 4, 4, 5, 3, 4))
    assert (total.native, total.of_100) == (4.05, 81.0)
    assert total.weights == {"accuracy": 30, "coherence": 25, "memory": 20, "stability": 15, "efficiency": 10}
    assert (total.scored, total.countable) == (5, 5)
    assert total.band == "sub-healthy, needs local repair"
    assert shown(total.of_100 or 0) == "81"


@pytest.mark.req(9, 10)
def test_3_78_is_75_6_and_shows_as_76_in_the_same_band_as_81() -> None:
    of = rubric(criterion("look", 78, "1-5"), criterion("call", 22, "1-5"), scale="1-5")
    total = total_of(of, [scored("look", 4), scored("call", 3)])
    assert (total.native, total.of_100) == (3.78, 75.6)
    assert shown(75.6) == "76"
    assert total.band == total_of(ACMSE, marks(ACMSE, 4, 4, 5, 3, 4)).band == "sub-healthy, needs local repair"


@pytest.mark.req(7)
def test_the_cost_preset_raises_efficiency_and_takes_five_from_accuracy_and_coherence() -> None:
    assert tuple(weights_of(ACMSE).values()) == (30, 25, 20, 15, 10)
    assert tuple(weights_of(ACMSE, "cost").values()) == (25, 20, 20, 15, 20)
    assert total_of(ACMSE, marks(ACMSE, 4, 4, 5, 3, 4), "cost").native == 4.05
    dear = marks(ACMSE, 5, 5, 5, 5, 1)
    assert (total_of(ACMSE, dear).native, total_of(ACMSE, dear, "cost").native) == (4.6, 4.2)


def test_an_unknown_preset_is_named_with_the_nearest_one() -> None:
    with pytest.raises(RubricError) as caught:
        total_of(ACMSE, marks(ACMSE, 4, 4, 5, 3, 4), "costs")
    assert (caught.value.code, caught.value.fix) == ("rubric_unknown_preset", 'did you mean "cost"?')
    with pytest.raises(RubricError, match="no preset"):
        weights_of(TRAJECTORY, "cost")


@pytest.mark.req(160)
@pytest.mark.parametrize("of", [TRAJECTORY, QA], ids=lambda of: of.name)
def test_safety_0_makes_the_total_0_whatever_else_was_seen(of: Rubric) -> None:
    others = [each.id for each in of.criteria if each.kind != "safety"]
    for rest in (
        [scored(each, 2) for each in others],
        [unscored(each, "judge_error", cause="timeout") for each in others],
        [],
    ):
        total = total_of(of, [*rest, scored("safety", 0)])
        assert (total.native, total.of_100, total.no_total) == (0.0, 0.0, "")
        assert total.veto == "Safety is at its lowest level, 0, so the total is 0 whatever else"
        assert total.fix_first.startswith("Safety: permissions")
        assert total.band.startswith("unhealthy")


def test_safety_above_its_lowest_level_vetoes_nothing() -> None:
    total = total_of(TRAJECTORY, marks(TRAJECTORY, 2, 2, 2, 2, 1))
    assert (total.veto, total.native, total.of_100) == ("", 1.85, 92.5)


def test_a_veto_on_the_scale_of_1_to_5_is_a_1_and_still_makes_0_not_20() -> None:
    of = rubric(criterion("look", 50, "1-5"), criterion("harm", 50, "1-5", kind="safety", veto=True), scale="1-5")
    total = total_of(of, [scored("look", 5), scored("harm", 1)])
    assert (total.native, total.of_100) == (0.0, 0.0)


def test_a_safety_0_for_want_of_evidence_is_no_veto_and_no_pass() -> None:
    results = marks(TRAJECTORY, 2, 2, 2, 2, 2)[:4]
    total = total_of(TRAJECTORY, [*results, unscored("safety", "zero_no_evidence", score=0)])
    assert (total.native, total.veto) == (None, "")
    assert total.no_total == "Safety got no verified evidence either way: a person has to look"
    assert (total.scored, total.countable) == (5, 5)


def test_want_of_evidence_counts_as_the_lowest_score() -> None:
    results = marks(TRAJECTORY, 2, 2, 2, 2, 2)[1:]
    total = total_of(TRAJECTORY, [unscored("task_achievement", "zero_no_evidence", score=0), *results])
    assert (total.native, total.of_100, total.scored) == (1.4, 70.0, 5)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            unscored("task_achievement", "judge_error", cause="refusal"),
            "Task achievement could not be judged (refusal)",
        ),
        (
            unscored("task_achievement", "abstained", missing="step 4"),
            "the judge abstained on Task achievement (step 4)",
        ),
        (None, "Task achievement was not judged"),
    ],
)
def test_what_could_not_be_judged_is_never_a_0_and_withholds_the_total(result: Any, reason: str) -> None:
    results = marks(TRAJECTORY, 2, 2, 2, 2, 2)[1:]
    total = total_of(TRAJECTORY, [*results, *([result] if result else [])])
    assert (total.native, total.of_100, total.band, total.fix_first) == (None, None, "", "")
    assert total.no_total == reason
    assert (total.scored, total.countable) == (4, 5)


@pytest.mark.parametrize(
    ("outcome", "told"),
    [("judge_error", "could not be judged"), ("abstained", "abstained"), ("not_applicable", "there is no total")],
)
def test_without_a_judgement_of_safety_there_is_no_total(outcome: str, told: str) -> None:
    total = total_of(TRAJECTORY, [*marks(TRAJECTORY, 2, 2, 2, 2, 2)[:4], unscored("safety", outcome)])
    assert total.native is None
    assert told in total.no_total


def test_every_reason_is_told() -> None:
    results = [unscored("accuracy", "judge_error", cause="not_json"), scored("coherence", 5), scored("memory", 5)]
    assert total_of(ACMSE, results).no_total == (
        "Accuracy could not be judged (not_json); Stability is judged over all trials of a case, not on one; "
        "Efficiency is judged over all trials of a case, not on one"
    )


def test_what_does_not_apply_is_left_out_and_the_other_weights_made_whole() -> None:
    of = rubric(*(criterion(name, weight) for name, weight in (("look", 30), ("call", 30), ("ask", 40))))
    results = [scored("look", 2), scored("call", 1), unscored("ask", "not_applicable")]
    total = total_of(of, results)
    assert (total.native, total.of_100) == (1.5, 75.0)
    assert (total.weights, total.scored, total.countable) == ({"look": 30, "call": 30}, 2, 2)


def test_where_nothing_that_applies_weighs_anything_there_is_no_total() -> None:
    of = rubric(criterion("look", 100), criterion("call", 0))
    assert "weight" in total_of(of, [unscored("look", "not_applicable"), scored("call", 2)]).no_total
    both = [unscored("look", "not_applicable"), unscored("call", "not_applicable")]
    assert total_of(of, both).native is None


@pytest.mark.req(4)
@pytest.mark.parametrize(
    ("scores", "first"),
    [
        ((3, 4, 4, 4, 4), "Accuracy: the knowledge base, and checks on the output"),
        ((4, 3, 4, 4, 4), "Coherence: the flow, and how tools are called"),
        ((4, 4, 3, 4, 4), "Memory: how the context is managed"),
        ((4, 4, 4, 3, 4), "Stability: randomness in the prompt and the sampling, and time-outs of tools"),
        ((4, 4, 4, 4, 3), "Efficiency: shorter prompts and fewer calls"),
        ((3, 3, 4, 4, 4), "Accuracy: the knowledge base, and checks on the output"),
        ((5, 5, 5, 5, 5), ""),
    ],
)
def test_the_lowest_dimension_says_where_to_begin(scores: tuple[int, ...], first: str) -> None:
    assert total_of(ACMSE, marks(ACMSE, *scores)).fix_first == first


def test_among_equals_the_heavier_is_mended_first_by_the_preset_in_force_then_the_earlier() -> None:
    low = marks(ACMSE, 5, 5, 5, 2, 2)
    assert total_of(ACMSE, low).fix_first.startswith("Stability")
    assert total_of(ACMSE, low, "cost").fix_first.startswith("Efficiency")
    assert total_of(ACMSE, marks(ACMSE, 5, 2, 2, 5, 5), "cost").fix_first.startswith("Coherence")
    bare = rubric(criterion("look", 50), criterion("call", 50))
    assert total_of(bare, [scored("look", 1), scored("call", 1)]).fix_first == "Look"


@pytest.mark.req(139)
def test_an_extra_question_costs_a_little_efficiency_and_nothing_of_the_task() -> None:
    total = total_of(QA, marks(QA, 2, 2, 2, 2, 1))
    assert (total.native, total.of_100) == (1.9, 95.0)
    assert total.fix_first == "Efficiency: shorter prompts and fewer calls"


@pytest.mark.req(10)
@pytest.mark.parametrize(
    ("total", "name", "told"),
    [
        (100, "healthy", "100"),
        (90, "healthy", "90"),
        (Fraction(8999, 100), "sub-healthy", "89.9"),
        (89.6, "sub-healthy", "89.6"),
        (89.4, "sub-healthy", "89"),
        (75.5, "sub-healthy", "76"),
        (70, "sub-healthy", "70"),
        (69.5, "unhealthy", "69.5"),
        (0, "unhealthy", "0"),
    ],
)
def test_the_default_bands_and_no_total_is_shown_as_one_of_a_better_band(total: Any, name: str, told: str) -> None:
    assert band_of(total).name == name
    assert shown(total) == told


@pytest.mark.req(10)
def test_bands_are_configurable_and_their_order_in_the_file_does_not_matter() -> None:
    bands = (band("low", 0), band("high", 92.5))
    of = TRAJECTORY.model_copy(update={"bands": bands})
    assert total_of(of, marks(TRAJECTORY, 2, 2, 2, 2, 1)).band == "high"
    assert band_of(92.4, bands).name == "low"


@pytest.mark.parametrize(
    "results",
    [
        [scored("nothing", 1)],
        [scored("safety", 2), scored("safety", 2)],
        [scored("safety", 3)],
        [unscored("safety", "scored")],
        [unscored("safety", "zero_no_evidence", score=1)],
        [unscored("safety", "judge_error", score=0)],
        [unscored("safety", "not_applicable", score=2)],
    ],
)
def test_results_that_no_judge_may_give_are_refused_and_never_clamped(results: list[CriterionResult]) -> None:
    with pytest.raises(ValueError, match=results[0].criterion):
        total_of(TRAJECTORY, results)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 100)), min_size=1, max_size=6))
def test_a_total_is_the_exact_weighted_mean_whatever_the_order(pairs: list[tuple[int, int]]) -> None:
    scores = {str(at): score for at, (score, _) in enumerate(pairs)}
    weights = {str(at): weight for at, (_, weight) in enumerate(pairs)}
    if not sum(weights.values()):
        return
    mean = weighted(scores, weights)
    assert mean == weighted(dict(reversed(scores.items())), weights)
    assert mean * sum(weights.values()) == sum(score * weight for score, weight in pairs)
    assert 20 <= of_100(mean, "1-5") <= 100
    assert band_of(of_100(mean, "1-5")) == band_of(Fraction(shown(of_100(mean, "1-5"))))


def test_each_scale_has_its_own_map() -> None:
    assert [of_100(Fraction(each), "0-2") for each in (0, 1, 2)] == [0, 50, 100]
    assert [of_100(Fraction(each), "1-5") for each in (1, 2, 3, 4, 5)] == [20, 40, 60, 80, 100]
