"""Requests to a model that were sent more than once: after a failure, or answered again by a tape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from proctor.trajectories.exchange import LlmExchange


@dataclass(frozen=True)
class Sent:
    """A request with the last answer that it got."""

    exchange: LlmExchange
    attempts: int = 1
    """How often it was sent before it was answered."""
    repeated: tuple[int, ...] = ()
    """Exchanges that asked the same again and got this very answer."""


def sent_once(exchanges: Iterable[LlmExchange]) -> list[Sent]:
    """Each request once; one that failed, or whose answer broke off, and that was not sent again stays."""
    kept: list[Sent] = []
    for exchange in exchanges:
        again = _place(kept, exchange)
        if again is None:
            kept.append(Sent(exchange))
            continue
        before = kept[again]
        if _lost(before.exchange):
            del kept[again]
            kept.append(Sent(exchange, before.attempts + 1))
        else:
            kept[again] = replace(before, repeated=(*before.repeated, exchange.index))
    return kept


def _place(kept: list[Sent], exchange: LlmExchange) -> int | None:
    """Where the same request stands already, lost or with the same answer."""
    for at in range(len(kept) - 1, -1, -1):
        before = kept[at].exchange
        same = before.previous == exchange.previous and (_lost(before) or _same_answer(before, exchange))
        if same and before.asked == exchange.asked:
            return at
    return None


def _lost(exchange: LlmExchange) -> bool:
    return bool(exchange.failed or exchange.broken)


def _same_answer(before: LlmExchange, after: LlmExchange) -> bool:
    """A model mints new ids for each answer, so one that has the same ids comes from a tape once more."""
    minted = before.id or any(call.id for step in before.answered for call in step.tool_calls)
    return bool(minted) and before.id == after.id and before.answered == after.answered
