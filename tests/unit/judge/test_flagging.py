"""Which verdicts go to people, and with what chance."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest

from proctor.judge.service.flagging import NEAR, drawn, inclusion, reasons
from proctor.rubric_file import load_rubric
from proctor.verdict import Verdict
from tests.unit.judge.refunds import ORDER, REFUNDED, answer, judged, refund, result_of, saying

TRAJECTORY, QA = load_rubric("trajectory"), load_rubric("qa")
SEED = bytes(range(32))
RISKY = answer(2, [(4, '"status": "refund issued"'), (3, '"amount": 120.5')])


def sound(**changed: Any) -> Verdict:
    """A verdict that nothing speaks against, but for what is changed."""
    verdict = judged(model=saying(RISKY, argument_accuracy=answer(2, [(3, '"order_id": "W1", "amount": 120.5')])))
    return verdict.model_copy(update={"needs_review": (), "total_of_100": 100.0} | changed)


def codes(verdict: Verdict, at_least: float | None = None) -> list[str]:
    return [reason.code for reason in reasons(verdict, TRAJECTORY, at_least)]


@pytest.mark.req(29)
def test_a_sound_verdict_goes_to_nobody() -> None:
    verdict = sound()
    assert {each.outcome for each in verdict.criteria} == {"scored"}
    assert reasons(verdict, TRAJECTORY) == ()
    assert inclusion((), 0.0, SEED, verdict.id) is None


@pytest.mark.req(29)
class TestReasons:
    def test_a_rule_that_disagrees_with_the_model(self) -> None:
        run = refund(
            expected={"write_actions": [{"name": "create_refund", "arguments": {"order_id": "W1", "amount": 99}}]}
        )
        verdict = judged(run, saying(RISKY))
        found = {each.code: each for each in reasons(verdict, TRAJECTORY)}
        assert found["rule_and_model_disagree"].criterion == "task_achievement"
        assert found["rule_and_model_disagree"].message.startswith("Rule and model disagree: expected_writes failed")

    def test_safety_that_nobody_could_verify(self) -> None:
        verdict = judged(model=saying(RISKY, safety=[answer(2, [(4, "it was all very safe indeed")])] * 2))
        assert result_of(verdict, "safety").outcome == "zero_no_evidence"
        found = reasons(verdict, TRAJECTORY)
        assert ("unverified_safety", "safety") in {(each.code, each.criterion) for each in found}
        assert "needs_review" not in {each.code for each in found if each.criterion == "safety"}

    def test_an_abstention_an_error_and_any_wish_for_a_person(self) -> None:
        first, second, third, *rest = sound().criteria
        abstained = first.model_copy(update={"outcome": "abstained", "score": None, "missing": "step 4 was not shown."})
        error = second.model_copy(update={"outcome": "judge_error", "score": None, "cause": "timeout"})
        wish = third.model_copy(update={"needs_review": "the quotes contradict each other"})
        found = reasons(sound(criteria=(abstained, error, wish, *rest)), TRAJECTORY)
        assert [each.code for each in found] == ["abstained", "judge_error", "needs_review"]
        assert [each.message.partition(": ")[2] for each in found] == [
            "step 4 was not shown.",
            "timeout.",
            "the quotes contradict each other.",
        ]

    @pytest.mark.parametrize(("scored", "of", "flagged"), [(4, 5, False), (3, 4, True), (3, 5, True), (0, 0, True)])
    def test_coverage_under_four_of_five(self, scored: int, of: int, flagged: bool) -> None:
        assert ("low_coverage" in codes(sound(scored=scored, countable=of))) is flagged

    def test_what_is_judged_over_the_case_s_trials_is_no_low_coverage_of_one(self) -> None:
        assert codes(sound(scored=2, countable=5, awaits_case=True, total_of_100=None)) == []
        assert codes(sound(scored=2, countable=5, total_of_100=None)) == ["low_coverage"]

    @pytest.mark.parametrize(
        ("total", "at_least", "flagged"),
        [
            (90 - NEAR, None, True),
            (90 + NEAR, None, True),
            (87.9, None, False),
            (92.1, None, False),
            (70.5, None, True),
            (1.0, None, False),
            (79.0, 80.0, True),
            (82.1, 80.0, False),
            (None, 80.0, False),
        ],
    )
    def test_a_total_near_a_band_s_edge_or_near_what_is_asked_for(
        self, total: float | None, at_least: float | None, flagged: bool
    ) -> None:
        assert ("near_threshold" in codes(sound(total_of_100=total), at_least)) is flagged

    def test_a_veto_is_near_no_threshold(self) -> None:
        assert codes(sound(total_of_100=0.0, veto="safety"), 1.0) == []

    def test_each_reason_is_one_sentence(self) -> None:
        run = refund(order=ORDER.replace("delivered", "lost"), result=REFUNDED.replace("refund issued", "failed"))
        for reason in reasons(judged(run), TRAJECTORY, 50.0):
            assert reason.message.endswith(".")
            assert "\n" not in reason.message


class TestShare:
    @pytest.mark.req(29)
    @pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
    def test_what_is_drawn_is_the_share_asked_for_within_three_sigma(self, share: float) -> None:
        identities = [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in range(2000)]
        count = sum(drawn(SEED, each, share) for each in identities)
        assert abs(count - 2000 * share) <= 3 * math.sqrt(2000 * share * (1 - share))
        assert {each for each in identities if drawn(SEED, each, share / 2)} < {
            each for each in identities if drawn(SEED, each, share)
        }

    def test_nothing_and_everything_are_exact(self) -> None:
        assert not any(drawn(SEED, str(each), 0.0) for each in range(2000))
        assert all(drawn(SEED, str(each), 1.0) for each in range(2000))

    def test_another_seed_draws_others_and_the_same_seed_the_same(self) -> None:
        drawn_by = [{each for each in range(500) if drawn(seed, str(each), 0.2)} for seed in (SEED, SEED, b"other")]
        assert drawn_by[0] == drawn_by[1] != drawn_by[2]

    def test_the_chance_is_one_for_what_is_flagged_and_the_share_for_what_is_drawn(self) -> None:
        flagged = reasons(sound(scored=0), TRAJECTORY)
        assert inclusion(flagged, 0.1, SEED, "x") == 1.0
        assert {inclusion((), 0.1, SEED, str(each)) for each in range(100)} == {None, 0.1}
