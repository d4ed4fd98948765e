"""Agreement beyond chance, intervals and sample sizes, against published values."""

from __future__ import annotations

import random

import pytest

from proctor.judge.alpha import alpha, alpha_of
from proctor.judge.corrected import corrected_rate
from proctor.judge.intervals import (
    at_least,
    at_most_share,
    bootstrap,
    clopper_pearson,
    exact_rate,
    percent,
    wilson,
    wilson_rate,
)
from proctor.judge.kappa import gwet, kappa
from proctor.judge.mcnemar import mcnemar
from proctor.judge.sample_size import TABLED, TRUTHS, needed_right, pairs_needed, power
from proctor.judge.table import Table, table_of

DEVAI = Table({(0, 0): 633, (1, 1): 351, (0, 1): 64, (1, 0): 50}, "0-1")


class TestIntervals:
    @pytest.mark.parametrize(
        ("right", "of", "low", "high"),
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
    )
    def test_wilson_s_are_those_of_newcombe_1998_table_1(self, right: int, of: int, low: float, high: float) -> None:
        interval = wilson(right, of)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)

    @pytest.mark.parametrize(
        ("right", "of", "low", "high"),
        [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0, 0.1684), (1, 29, 0.0009, 0.1776)],
    )
    def test_exact_ones_are_those_of_newcombe_1998_table_1(self, right: int, of: int, low: float, high: float) -> None:
        interval = clopper_pearson(right, of)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)

    def test_a_rate_without_a_denominator_is_not_assessable(self) -> None:
        for rate in (wilson_rate(0, 0), exact_rate(0, 0)):
            assert (rate.value, rate.interval) == (None, None)
            assert str(rate) == "not assessable (0/0)"
        assert str(wilson_rate(17, 20)) == "85.0 % (17/20)"

    def test_none_seen_in_60_allows_five_percent_and_in_300_one(self) -> None:
        assert percent(at_most_share(60) or 0) == "4.9 %"
        assert percent(at_most_share(300) or 0) == "1.0 %"
        assert at_most_share(0) is None

    def test_chances_of_many_trials_are_finite_and_right(self) -> None:
        assert at_least(5000, 10_000, 0.5) == pytest.approx(0.50399, abs=1e-5)
        assert [at_least(0, 3, 0.0), at_least(1, 3, 0.0), at_least(3, 3, 1.0)] == [1, 0, 1]

    def test_the_bootstrap_is_the_same_each_time_and_near_the_normal_interval(self) -> None:
        values = [1.0] * 90 + [0.0] * 10
        first, second = (bootstrap(values, lambda some: [sum(some) / len(some)]) for _ in range(2))
        assert first == second
        assert first[0] is not None
        assert (first[0].low, first[0].high) == pytest.approx((0.84, 0.95), abs=0.015)

    def test_the_bootstrap_says_nothing_of_one_trajectory_or_of_what_is_mostly_undefined(self) -> None:
        assert bootstrap([1.0], lambda some: [1.0]) == [None]
        assert bootstrap([1, 2], lambda some: [None, 1.0])[0] is None


class TestBeyondChance:
    def test_kappa_of_the_psychiatric_diagnoses_of_fleiss_1981(self) -> None:
        # Fleiss, Statistical Methods for Rates and Proportions, 2nd edition, table 13.1: 100 subjects, kappa 0.68.
        counts: dict[tuple[float, float], int] = {
            (0, 0): 75,
            (0, 1): 1,
            (0, 2): 4,
            (1, 0): 5,
            (1, 1): 4,
            (1, 2): 1,
            (2, 2): 10,
        }
        assert kappa(Table(counts, "0-2")) == pytest.approx(0.676, abs=5e-4)

    def test_linear_weights_count_a_near_miss_as_half(self) -> None:
        # By hand: seen 7/8, chance (levels 1/2 0, 1/4 1, 1/4 2 and 1/4, 1/2, 1/4): 0.125 + 0.125 + 0.0625 + half of
        # (0.25 + 0.0625 + 0.0625 + 0.125) = 0.5625; (0.875 - 0.5625) / 0.4375.
        table = table_of([(0, 0), (0, 1), (1, 1), (2, 2)], "0-2")
        assert kappa(table, weighted=True) == pytest.approx(0.3125 / 0.4375)
        assert kappa(table) == pytest.approx((0.75 - 0.3125) / 0.6875)

    def test_feinstein_s_paradox_high_agreement_and_skewed_classes(self) -> None:
        # Gwet 2002, Kappa Statistic is not Satisfactory ...: 118 of 125 agree on yes, none on no: kappa below 0.
        table = Table({(1, 1): 118, (1, 0): 5, (0, 1): 2}, "0-1")
        assert kappa(table) == pytest.approx(-0.0234, abs=1e-4)
        assert gwet(table) == pytest.approx(0.9409, abs=5e-4)

    def test_ac2_by_hand(self) -> None:
        # Linear weights on 0-2 sum to 5: chance 5/6 * (3/8 * 5/8 + 3/8 * 5/8 + 1/4 * 3/4) = 0.546875; seen 7/8.
        table = table_of([(0, 0), (0, 1), (1, 1), (2, 2)], "0-2")
        assert gwet(table, weighted=True) == pytest.approx((0.875 - 0.546875) / (1 - 0.546875))

    def test_alpha_of_krippendorff_2011_four_observers_with_gaps(self) -> None:
        observers = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        ]
        assert alpha(zip(*observers, strict=True)) == pytest.approx(0.815, abs=5e-4)

    def test_alpha_of_a_table_is_that_of_its_units(self) -> None:
        pairs = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 0)]
        assert alpha_of(table_of(pairs, "0-2")) == pytest.approx(alpha(pairs))

    def test_the_research_s_figures_of_agreement_beyond_chance(self) -> None:
        assert [round(value or 0, 3) for value in (kappa(DEVAI), gwet(DEVAI), alpha_of(DEVAI))] == [0.778, 0.805, 0.778]

    def test_one_level_only_leaves_kappa_and_alpha_undefined_and_not_perfect(self) -> None:
        table = Table({(2, 2): 40}, "0-2")
        assert (kappa(table), kappa(table, weighted=True), alpha_of(table)) == (None, None, None)
        assert gwet(table) == 1

    def test_nothing_rated_is_not_assessable(self) -> None:
        table = Table({}, "0-2")
        assert (kappa(table), gwet(table), alpha_of(table), alpha([(1, None)])) == (None, None, None, None)


class TestSampleSizes:
    def test_the_table_of_the_claim_at_least_85_percent(self) -> None:
        assert [
            (n, needed_right(n, 0.85), *(round(power(n, 0.85, truth) * 100) for truth in TRUTHS)) for n in TABLED
        ] == [
            (60, 57, 14, 28, 65),
            (100, 92, 32, 59, 94),
            (200, 180, 56, 88, 100),
            (300, 268, 69, 96, 100),
            (400, 354, 86, 99, 100),
        ]

    def test_the_fewest_right_is_the_first_whose_interval_reaches_the_target(self) -> None:
        for n in (22, 60, 137, 1098):
            needed = needed_right(n, 0.85)
            assert needed is not None
            low, before = wilson(needed, n), wilson(needed - 1, n)
            assert low is not None
            assert before is not None
            assert before.low < 0.85 <= low.low

    def test_too_few_pairs_prove_nothing_however_right(self) -> None:
        assert needed_right(21, 0.85) is None
        assert power(21, 0.85, 0.99) == 0
        assert needed_right(22, 0.85) == 22

    def test_pairs_needed_are_just_enough_and_none_are_where_the_rate_is_no_higher(self) -> None:
        needed = pairs_needed(0.9, 0.85)
        assert needed == 196
        assert wilson_low(0.9 * needed, needed) >= 0.85 - 1e-9
        assert wilson_low(0.9 * (needed - 1), needed - 1) < 0.85
        assert pairs_needed(0.85, 0.85) is None


def wilson_low(right: float, n: int) -> float:
    interval = wilson(right, n)  # type: ignore[arg-type] # a share of pairs, which the formula takes
    assert interval is not None
    return interval.low


class TestCorrectedRate:
    def test_devai_s_is_the_human_rate(self) -> None:
        rate = corrected_rate(wilson_rate(415, 1098), exact_rate(351, 401), exact_rate(633, 697))
        assert rate.value == pytest.approx(401 / 1098)
        assert rate.interval is not None
        assert rate.interval.low < 0.365 < rate.interval.high

    def test_a_judge_that_hardly_tells_them_apart_is_refused(self) -> None:
        assert corrected_rate(wilson_rate(50, 100), exact_rate(27, 50), exact_rate(27, 50)).value is None

    def test_without_passes_or_failures_it_is_not_assessable(self) -> None:
        assert corrected_rate(wilson_rate(50, 50), exact_rate(50, 50), exact_rate(0, 0)).value is None

    def test_the_interval_holds_the_truth_in_about_95_of_100_samples(self) -> None:
        draw = random.Random(7)
        held = 0
        for _ in range(200):
            passed = sum(draw.random() < 0.4 for _ in range(200))
            seen = sum(draw.random() < 0.85 for _ in range(passed)) + sum(
                draw.random() < 0.1 for _ in range(200 - passed)
            )
            passes = exact_rate(sum(draw.random() < 0.85 for _ in range(80)), 80)
            failures = exact_rate(sum(draw.random() < 0.9 for _ in range(80)), 80)
            interval = corrected_rate(wilson_rate(seen, 200), passes, failures).interval
            held += interval is not None and interval.low <= 0.4 <= interval.high
        assert 0.92 <= held / 200 <= 0.99


class TestMcNemar:
    def test_the_exact_two_sided_chance(self) -> None:
        # Binomial by hand: 2 * (1 + 11 + 55) / 2048.
        assert mcnemar(2, 9) == mcnemar(9, 2) == pytest.approx(134 / 2048)
        assert mcnemar(0, 6) == pytest.approx(2 / 64)

    def test_no_change_and_even_changes_are_no_drift(self) -> None:
        assert mcnemar(0, 0) == mcnemar(3, 3) == 1
