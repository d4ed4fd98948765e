"""Which cases run within a budget: P0 first, then every difficulty in turn."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.harness.estimate import CaseEstimate, Estimate, Planned, exact
from proctor.harness.sampling import STRATA, Sample, sampled
from tests.unit.harness.planning import planned

Spec = tuple[str, str, int]
"""Priority, difficulty, price in cents."""


def plan_of(*specs: Spec) -> tuple[list[Planned], Estimate]:
    plan = [planned(f"c{at}", priority=each[0], difficulty=each[1]) for at, each in enumerate(specs)]
    costs = [CaseEstimate(f"c{at}", 1, "guess", 1, 1, each[2] / 100) for at, each in enumerate(specs)]
    return plan, Estimate(tuple(costs))


def places(cases: tuple[Planned, ...]) -> list[int]:
    return [int(each.case.id.removeprefix("c")) for each in cases]


def chosen(budget: float, *specs: Spec) -> list[int]:
    return places(sampled(*plan_of(*specs), budget).chosen)


@pytest.mark.req(208)
def test_p0_comes_first_in_the_suite_s_order_until_the_budget_ends() -> None:
    specs = [("P1", "single_step", 1), ("P0", "long_range", 50), ("P0", "single_step", 60), ("P0", "recovery", 50)]
    assert chosen(1.0, *specs) == [1, 3], "a P0 case that does not fit is passed over, and a cheaper one still fits"
    assert chosen(1.01, *specs) == [0, 1, 3], "then others"
    assert chosen(1.61, *specs) == [0, 1, 2, 3]


@pytest.mark.req(208)
def test_the_others_come_by_difficulty_in_turn_and_in_it_by_priority_then_in_order() -> None:
    specs = [
        ("P3", "single_step", 10),
        ("P1", "single_step", 10),
        ("P1", "single_step", 10),
        ("P2", "multi_step", 10),
        ("P3", "recovery", 10),
        ("P3", "long_range", 10),
    ]
    taken = [chosen(cents / 100, *specs) for cents in (10, 20, 30, 40, 50, 60)]
    assert taken == [[1], [1, 3], [1, 3, 4], [1, 3, 4, 5], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]


def test_a_case_that_does_not_fit_is_passed_over_for_a_cheaper_one_of_its_difficulty() -> None:
    assert chosen(0.2, ("P1", "recovery", 30), ("P3", "recovery", 20), ("P3", "long_range", 10)) == [1]


def test_the_order_of_the_suite_is_kept_among_chosen_and_left_out() -> None:
    sample = sampled(
        *plan_of(*[("P3", "multi_step", 10), ("P2", "single_step", 10), ("P0", "multi_step", 10)] * 2), 0.4
    )
    assert (places(sample.chosen), places(sample.left_out)) == ([0, 1, 2, 5], [3, 4])
    assert sample.dollars == 0.4


def test_a_case_is_taken_with_all_of_its_trials() -> None:
    plan, estimate = plan_of(("P1", "recovery", 30))
    plan = [Planned(plan[0].case, 3)]
    assert sampled(plan, estimate, 0.3).chosen == tuple(plan)
    assert sampled(plan, estimate, 0.29).left_out == tuple(plan)


def test_sums_of_many_prices_fit_to_the_millionth() -> None:
    assert chosen(0.3, *[("P1", "recovery", 10)] * 3) == [0, 1, 2], "0.1 + 0.1 + 0.1 is not 0.3 in floats"


def test_a_price_that_is_not_known_is_refused_with_what_to_do() -> None:
    plan, _ = plan_of(("P0", "recovery", 1))
    with pytest.raises(UsageError) as caught:
        sampled(plan, Estimate((CaseEstimate("c0", 1, "guess", 1, 1, None),)), 5)
    assert caught.value.code == "price_unknown"
    assert "[agent] model" in caught.value.fix
    assert "--max-cost" in caught.value.fix


@pytest.mark.parametrize("budget", [float("nan"), float("inf"), -0.01])
def test_a_budget_that_is_no_money_is_refused(budget: float) -> None:
    with pytest.raises(UsageError) as caught:
        sampled(*plan_of(("P0", "recovery", 1)), budget)
    assert caught.value.code == "budget_bad"


SPECS = st.lists(st.tuples(st.sampled_from(["P0", "P1", "P2", "P3"]), st.sampled_from(STRATA), st.integers(0, 40)))
BUDGETS = st.integers(0, 300).map(lambda cents: cents / 100)


def sample_of(specs: list[Spec], budget: float) -> tuple[Sample, set[int], list[Decimal]]:
    sample = sampled(*plan_of(*specs), budget)
    return sample, set(places(sample.chosen)), [exact(each[2] / 100) for each in specs]


@pytest.mark.req(208)
@given(SPECS, BUDGETS)
def test_it_is_never_over_the_budget_and_never_leaves_out_what_would_still_fit(
    specs: list[Spec], budget: float
) -> None:
    sample, taken, prices = sample_of(specs, budget)
    spent = sum((prices[at] for at in taken), Decimal(0))
    assert spent <= exact(budget)
    assert exact(sample.dollars) == spent
    assert all(spent + prices[at] > exact(budget) for at in range(len(specs)) if at not in taken)
    assert sorted([*places(sample.chosen), *places(sample.left_out)]) == list(range(len(specs)))
    assert sample == sampled(*plan_of(*specs), budget)


@pytest.mark.req(208)
@given(SPECS, BUDGETS)
def test_no_p0_case_gives_way_to_another(specs: list[Spec], budget: float) -> None:
    _, taken, prices = sample_of(specs, budget)
    for at, (priority, _, _) in enumerate(specs):
        if priority == "P0" and at not in taken:
            before = sum((prices[each] for each in taken if each < at and specs[each][0] == "P0"), Decimal(0))
            assert before + prices[at] > exact(budget)


@pytest.mark.req(208)
@given(SPECS, BUDGETS)
def test_every_difficulty_has_a_case_before_any_has_a_second(specs: list[Spec], budget: float) -> None:
    _, taken, prices = sample_of(specs, budget)
    left = exact(budget) - sum((prices[at] for at in taken if specs[at][0] == "P0"), Decimal(0))
    for stratum in STRATA:
        others = [at for at, each in enumerate(specs) if each[1] == stratum and each[0] != "P0"]
        fitting = sorted((at for at in others if prices[at] <= left), key=lambda at: (specs[at][0], at))
        if fitting:
            assert fitting[0] in taken
            left -= prices[fitting[0]]


@given(SPECS)
def test_within_a_budget_for_all_nothing_is_left_out(specs: list[Spec]) -> None:
    assert not sampled(*plan_of(*specs), sum(each[2] for each in specs) / 100).left_out
