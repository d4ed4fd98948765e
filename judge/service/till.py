"""Budgets as a service's calls use them: who pays for a call, and waiting for money that is only set aside."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from proctor.errors import BudgetSpent
from proctor.judge.service.budgets import Budgets, Reservation


class Till:
    """Budgets, and whoever waits until money that is set aside for others' calls comes back."""

    def __init__(self, budgets: Budgets, *, per_day: bool) -> None:
        """`per_day`: there is a limit for days."""
        self.budgets = budgets
        self._per_day = per_day
        self._freed = asyncio.Event()

    def is_limited(self, batch: str | None) -> bool:
        """A call has to be counted before it goes out."""
        return self._per_day or batch is not None

    async def reserve(self, batch: str | None, worst: float | None) -> Reservation:
        """Set the worst case aside. Raises BudgetSpent where it never fits, whatever calls under way come to."""
        while True:
            self._freed.clear()
            try:
                return self.budgets.reserve(batch, worst)
            except BudgetSpent as spent:
                if not spent.passing:
                    raise
            await self._freed.wait()

    def settle(self, reservation: Reservation, cost: float | None) -> float:
        """The call has ended; gives what it is charged with."""
        self.budgets.settle(reservation, cost)
        self._freed.set()
        return float(reservation.worst or 0) if cost is None else cost

    def cancel(self, reservation: Reservation) -> None:
        """The call never went out."""
        self.budgets.cancel(reservation)
        self._freed.set()


@dataclass(frozen=True)
class Paying:
    """Whose budget a verdict's calls are charged to."""

    till: Till
    batch: str
    limited: bool
    """The batch has a budget of its own."""


def today() -> str:
    """The date in UTC, as `2026-01-31`."""
    return datetime.now(UTC).date().isoformat()
