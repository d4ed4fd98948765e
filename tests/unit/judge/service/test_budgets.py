"""A budget refuses the call that might pass it, before it is made, and adds up to the digit."""

from __future__ import annotations

from decimal import Decimal

import pytest

from proctor.errors import BudgetSpent, ProctorError
from proctor.judge.service.budgets import Account, Budgets, Reservation
from proctor.model_call import ModelFailure

DAY = "2026-01-31"


def budgets(per_day: float | None = None, spent_today: float = 0.0) -> Budgets:
    return Budgets(per_day, spent_today, lambda: DAY)


def batch(limit: float | None, spent: float = 0.0, per_day: float | None = None) -> Budgets:
    made = budgets(per_day)
    made.open_batch("b1", limit, spent)
    return made


def refused(made: Budgets, worst: float | None, batch_id: str | None = "b1") -> BudgetSpent:
    with pytest.raises(BudgetSpent) as raised:
        made.reserve(batch_id, worst)
    return raised.value


def test_a_call_that_might_pass_the_batchs_budget_is_refused_with_figures_and_nothing_is_set_aside() -> None:
    made = batch(1.0, spent=0.9, per_day=50)
    made.reserve("b1", 0.06)
    error = refused(made, 0.0412)
    assert error.code == "budget_batch"
    assert error.message == (
        "batch b1 is limited to 1.00 USD: 0.90 USD are spent, 0.06 USD set aside for calls under way, "
        "and the next call may cost 0.0412 USD; it was not made"
    )
    assert error.fix == "Send it again with a larger budget: what is judged already is not asked again."
    assert made.batch("b1") == Account(1.0, 0.9, 0.06, 0)
    assert made.day == Account(50, 0, 0.06, 0)
    made.reserve("b1", 0.04)


def test_a_call_that_might_pass_the_days_budget_is_refused_for_every_batch_and_none() -> None:
    made = budgets(per_day=2.0, spent_today=1.5)
    made.open_batch("b1", None)
    made.open_batch("b2", 10)
    made.reserve("b1", 0.4)
    for asker in ("b1", "b2", None):
        error = refused(made, 0.2, asker)
        assert (error.code, error.message[:43]) == ("budget_day", "the day 2026-01-31 is limited to 2.00 USD: ")
        assert "00:00 UTC" in error.fix
    assert made.batch("b2").reserved == 0


def test_the_error_tells_whether_calls_under_way_alone_stand_in_the_way() -> None:
    made = batch(1.0)
    held = made.reserve("b1", 0.8)
    assert refused(made, 0.3).passing
    assert not refused(made, 1.1).passing
    made.settle(held, 0.1)
    made.reserve("b1", 0.3)


@pytest.mark.parametrize("worst", [None, float("nan"), float("inf"), -0.1, 1e300])
def test_an_unknown_price_is_refused_where_there_is_a_limit(worst: float | None) -> None:
    for made in (batch(1.0), batch(None, per_day=1.0)):
        error = refused(made, worst)
        assert error.code == "price_unknown"
        assert "is limited to 1.00 USD" in error.message
    assert made.day == Account(1.0, 0, 0, 0)


def test_without_any_limit_an_unknown_price_is_counted_as_unknown_and_never_as_0() -> None:
    made = batch(None)
    made.settle(made.reserve("b1", None), None)
    made.settle(made.reserve("b1", None), 0.25)
    assert made.batch("b1") == made.day == Account(None, 0.25, 0, 1)


def test_the_true_cost_counts_and_the_worst_where_nobody_tells_it() -> None:
    made = batch(1.0)
    made.settle(made.reserve("b1", 0.5), 0.125)
    assert made.batch("b1") == Account(1.0, 0.125, 0, 0)
    for untold in (None, float("nan"), -1.0):
        made.settle(made.reserve("b1", 0.25), untold)
    assert made.batch("b1") == Account(1.0, 0.875, 0, 0)


def test_a_call_that_cost_more_than_the_worst_is_counted_whole() -> None:
    made = batch(1.0)
    made.settle(made.reserve("b1", 0.5), 1.5)
    assert made.batch("b1").spent == 1.5
    assert refused(made, 0.0).code == "budget_batch"


def test_a_call_that_never_went_out_costs_nothing() -> None:
    made = batch(1.0)
    made.cancel(made.reserve("b1", 1.0))
    assert made.batch("b1") == Account(1.0, 0, 0, 0)


def test_a_reservation_ends_once() -> None:
    made = batch(1.0)
    first, second = made.reserve("b1", 0.25), made.reserve("b1", 0.25)
    made.settle(first, 0.125)
    for late in (made.cancel, lambda each: made.settle(each, 9)):
        late(first)
    made.cancel(second)
    made.settle(second, 9)
    assert made.batch("b1") == Account(1.0, 0.125, 0, 0)


def test_the_last_digit_fits_and_the_next_does_not() -> None:
    made = batch(1.0)
    for _ in range(10):
        made.settle(made.reserve("b1", 0.1), 0.1)
    assert made.batch("b1").spent == 1.0
    refused(made, 1e-12)
    made.reserve("b1", 0.0)


def test_a_worst_case_below_what_is_counted_is_rounded_up() -> None:
    refused(batch(0.0), 1e-15)


@pytest.mark.parametrize("cost", ["0.1", "0.00123", "0.0000047", "0.000000000025", "0.123456789012"])
def test_ten_thousand_calls_add_up_to_the_digit(cost: str) -> None:
    limit = float(Decimal(cost) * 10_000)
    made = batch(limit)
    for _ in range(10_000):
        made.settle(made.reserve("b1", float(cost)), float(cost))
    assert made.batch("b1") == Account(limit, limit, 0, 0)
    refused(made, 1e-12)


def test_the_day_begins_anew_at_midnight_and_a_call_counts_to_the_day_on_which_it_was_asked() -> None:
    dates = ["2026-01-31"]
    made = Budgets(1.0, 0.5, lambda: dates[-1])
    held = made.reserve(None, 0.5)
    refused(made, 0.1, None)
    dates.append("2026-02-01")
    made.reserve(None, 0.75)
    made.settle(held, 0.5)
    assert made.day == Account(1.0, 0, 0.75, 0)


def test_a_clock_that_goes_back_gives_no_money_twice() -> None:
    dates = ["2026-02-01"]
    made = Budgets(1.0, 0.0, lambda: dates[-1])
    made.settle(made.reserve(None, 1.0), 1.0)
    for date in ("2026-01-31", "2026-02-01"):
        dates.append(date)
        assert refused(made, 0.1, None).code == "budget_day"


def test_a_batch_opened_twice_keeps_what_it_has_spent() -> None:
    made = batch(1.0)
    made.settle(made.reserve("b1", 0.75), 0.75)
    made.open_batch("b1", 1.0)
    assert made.batch("b1").spent == 0.75


def test_a_batch_that_is_closed_is_forgotten_and_its_last_call_counts_for_the_day() -> None:
    made = batch(1.0)
    held: Reservation = made.reserve("b1", 0.5)
    made.close_batch("b1")
    made.settle(held, 0.25)
    assert made.day.spent == 0.25
    with pytest.raises(KeyError):
        made.reserve("b1", 0.5)


@pytest.mark.parametrize("sum_of_money", [float("nan"), float("inf"), -1.0])
def test_a_limit_that_is_no_sum_of_money_is_refused(sum_of_money: float) -> None:
    for limit, spent, per_day in ((sum_of_money, 0, 1), (1, sum_of_money, 1), (1, 0, sum_of_money)):
        with pytest.raises(ValueError, match="is no sum of US dollars"):
            batch(limit, spent, per_day)
    with pytest.raises(ValueError, match="is no sum of US dollars"):
        budgets(1.0, sum_of_money)


def test_a_spent_budget_is_no_failure_of_a_model() -> None:
    assert issubclass(BudgetSpent, ProctorError)
    assert not issubclass(BudgetSpent, ModelFailure)
