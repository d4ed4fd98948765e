"""However calls are reserved, settled and given up, no budget is passed, and all that is set aside comes back."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import BudgetSpent
from proctor.judge.service.budgets import Account, Budgets, Reservation
from tests.property.counts import examples

CENTS = st.integers(0, 300)
"""Hundredths of a dollar, so that what is expected can be told without any rounding."""
BATCHES = ("one", "two")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "settle", "untold", "cancel", "midnight"]),
        st.sampled_from([*BATCHES, None]),
        CENTS,
        st.integers(0, 100),
    ),
    max_size=40,
)


class Days:
    """Dates that go on when told."""

    def __init__(self) -> None:
        self.number = 1

    def __call__(self) -> str:
        return f"2026-01-{self.number:02}"


def inside(account: Account) -> bool:
    spent = Decimal(repr(account.spent)) + Decimal(repr(account.reserved))
    return account.limit is None or spent <= Decimal(repr(account.limit))


def limits(made: Budgets) -> bool:
    return all(inside(each) for each in (made.day, *(made.batch(name) for name in BATCHES)))


@given(st.none() | CENTS, st.none() | CENTS, STEPS)
@examples(ci=300, soak=50_000)
def test_no_budget_is_ever_passed_and_what_is_set_aside_comes_back(
    per_day: int | None, limit: int | None, taken: list[tuple[str, str | None, int, int]]
) -> None:
    days = Days()
    made = Budgets(None if per_day is None else per_day / 100, 0.0, days)
    for name in BATCHES:
        made.open_batch(name, None if limit is None else limit / 100)
    held: list[tuple[Reservation, int]] = []
    for what, batch, cents, share in taken:
        if what == "reserve":
            try:
                held.append((made.reserve(batch, cents / 100), cents))
            except BudgetSpent:
                assert per_day is not None or limit is not None
        elif what == "midnight":
            days.number += days.number < 31
        elif held:
            reservation, worst = held.pop(cents % len(held))
            if what == "cancel":
                made.cancel(reservation)
            else:
                made.settle(reservation, worst * share // 100 / 100 if what == "settle" else None)
        assert limits(made)
    for reservation, _ in held:
        made.cancel(reservation)
    assert [each.reserved for each in (made.day, *(made.batch(name) for name in BATCHES))] == [0, 0, 0]
    assert limits(made)


@given(CENTS, st.lists(st.tuples(CENTS, st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=20))
@examples(ci=100, soak=10_000)
def test_callers_at_the_same_time_together_stay_within_the_budget(
    limit: int, callers: list[tuple[int, int, int | None]]
) -> None:
    spent = asyncio.run(_together(limit, callers))
    assert spent <= limit


async def _together(limit: int, callers: list[tuple[int, int, int | None]]) -> int:
    made = Budgets(None, 0.0, Days())
    made.open_batch("one", limit / 100)
    paid = 0

    async def call(worst: int, steps: int) -> None:
        nonlocal paid
        reservation = made.reserve("one", worst / 100)
        try:
            for _ in range(steps):
                await asyncio.sleep(0)
            paid += worst
            made.settle(reservation, worst / 100)
        finally:
            made.cancel(reservation)

    tasks = [asyncio.create_task(call(worst, steps)) for worst, steps, _ in callers]
    for step in range(10):
        for (_, _, cancelled), task in zip(callers, tasks, strict=True):
            if cancelled == step:
                task.cancel()
        await asyncio.sleep(0)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(each is None or isinstance(each, BudgetSpent | asyncio.CancelledError) for each in ended)
    assert made.batch("one") == Account(limit / 100, paid / 100, 0, 0)
    return paid
