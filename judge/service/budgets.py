"""Money that may be spent on models, of each batch and of each day: refused before a call, never found out after it.

What a call may cost at most is set aside before it goes out, and what it did cost is counted when it has ended. Sums
are decimals of a fixed number of places, so that ten thousand calls add up to the digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from proctor.errors import BudgetSpent

_PLACES = Decimal("1e-12")
_MOST = Decimal("1e12")
"""US dollars; more is no sum of money, and would not be exact in the 28 digits of a decimal."""
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Account:
    """What a batch, or the day, has spent: US dollars. `reserved` is set aside for calls under way."""

    limit: float | None
    spent: float
    reserved: float
    unpriced: int
    """Calls of which nobody knows what they cost: `spent` leaves them out. Under a limit there are none."""


@dataclass(eq=False)
class _Purse:
    code: str
    whose: str
    remedy: str
    limit: Decimal | None
    spent: Decimal
    reserved: Decimal = _NOTHING
    unpriced: int = 0

    @property
    def account(self) -> Account:
        limit = None if self.limit is None else float(self.limit)
        return Account(limit, float(self.spent), float(self.reserved), self.unpriced)

    def check(self, worst: Decimal | None) -> None:
        """Raises BudgetSpent where so much more might pass the limit."""
        if self.limit is None:
            return
        if worst is None:
            raise BudgetSpent(
                "price_unknown",
                f"nobody knows what the next call may cost, and {self.whose} is limited to {_dollars(self.limit)}",
                "Name a model whose price litellm's table tells, or set no limit.",
            )
        if self.spent + self.reserved + worst > self.limit:
            raise BudgetSpent(
                self.code,
                f"{self.whose} is limited to {_dollars(self.limit)}: {_dollars(self.spent)} are spent, "
                f"{_dollars(self.reserved)} set aside for calls under way, and the next call may cost "
                f"{_dollars(worst)}; it was not made",
                self.remedy,
                passing=self.spent + worst <= self.limit,
            )


@dataclass(eq=False)
class Reservation:
    """Money set aside for one call. It ends once, by `settle` or `cancel`; what comes later changes nothing."""

    worst: Decimal | None
    _purses: tuple[_Purse, ...] = field(repr=False)
    _open: bool = True

    def _end(self, cost: Decimal | None) -> None:
        if not self._open:
            return
        self._open = False
        for purse in self._purses:
            purse.reserved -= self.worst or _NOTHING
            purse.spent += cost or _NOTHING
            purse.unpriced += cost is None


class Budgets:
    """See the module. Nothing here waits, so that no two calls can be promised the same money."""

    def __init__(self, per_day: float | None, spent_today: float, today: Callable[[], str]) -> None:
        """`today` tells the date in UTC as `2026-01-31`. Raises ValueError for a sum that is none."""
        self._per_day = None if per_day is None else _sum(per_day)
        self._today = today
        self._date = today()
        self._day = self._new_day(_sum(spent_today))
        self._batches: dict[str, _Purse] = {}

    def open_batch(self, batch_id: str, limit: float | None, spent: float = 0.0) -> None:
        """A batch may spend up to `limit`, of which `spent` is. One that is open stays as it is. Raises ValueError."""
        purse = _Purse(
            "budget_batch",
            f"batch {batch_id}",
            "Send it again with a larger budget: what is judged already is not asked again.",
            None if limit is None else _sum(limit),
            _sum(spent),
        )
        self._batches.setdefault(batch_id, purse)

    def close_batch(self, batch_id: str) -> None:
        """Forget a batch that has ended; its calls that are still under way count for the day."""
        self._batches.pop(batch_id, None)

    def reserve(self, batch_id: str | None, worst: float | None) -> Reservation:
        """Set aside what a call may cost, of the day's money and of an open batch's; not one without the other.

        A call counts to the day on which this is asked, whenever it ends. `worst` is None where nobody knows a price.
        Raises BudgetSpent, and KeyError for a batch that is not open.
        """
        purses = (self._turned(),) if batch_id is None else (self._batches[batch_id], self._turned())
        most = None if worst is None else _known(worst, ROUND_CEILING)
        for purse in purses:
            purse.check(most)
        for purse in purses:
            purse.reserved += most or _NOTHING
        return Reservation(most, purses)

    def settle(self, reservation: Reservation, cost: float | None) -> None:
        """The call has ended and cost so much; where nobody tells, the most that it may have cost counts."""
        told = None if cost is None else _known(cost, ROUND_HALF_EVEN)
        reservation._end(reservation.worst if told is None else told)

    def cancel(self, reservation: Reservation) -> None:
        """The call never went out."""
        reservation._end(_NOTHING)

    def batch(self, batch_id: str) -> Account:
        """Of an open batch. Raises KeyError for another."""
        return self._batches[batch_id].account

    @property
    def day(self) -> Account:
        """Of today."""
        return self._turned().account

    def _turned(self) -> _Purse:
        """The day's purse; a new one after midnight, and never again the old one should the clock go back."""
        date = self._today()
        if date > self._date:
            self._date, self._day = date, self._new_day(_NOTHING)
        return self._day

    def _new_day(self, spent: Decimal) -> _Purse:
        remedy = "Wait until 00:00 UTC, or start the service with a larger budget for a day."
        return _Purse("budget_day", f"the day {self._date}", remedy, self._per_day, spent)


def _known(amount: float, rounding: str) -> Decimal | None:
    """A sum of money to the place that is counted; None for what is none, such as a negative one."""
    exact = Decimal(repr(float(amount)))  # by its shortest digits: ten times 0.1 is 1
    if not exact.is_finite() or not _NOTHING <= exact <= _MOST:
        return None
    return exact.quantize(_PLACES, rounding)


def _sum(amount: float) -> Decimal:
    known = _known(amount, ROUND_HALF_EVEN)
    if known is None:
        raise ValueError(f"{amount} is no sum of US dollars")
    return known


def _dollars(amount: Decimal) -> str:
    """With at least two places, and as many as say anything: `0.0123 USD`."""
    whole, _, places = f"{amount.normalize():f}".partition(".")
    return f"{whole}.{places:0<2} USD"
