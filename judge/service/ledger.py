"""The calls of each verdict, entered before they go out and when they are answered; kept replies are not asked again.

What was on its way when the service was killed is asked once more, counted, and taken for spent at its worst price.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proctor import tokens
from proctor.errors import StoreError
from proctor.judge.exchanges import Exchange, key_of
from proctor.judge.service.queue import put_back
from proctor.judge.service.till import Paying, today
from proctor.model_call import Model, ModelCall, ModelFailure, Reply
from proctor.model_gate import told_of_leaving
from proctor.model_route import ATTEMPTS
from proctor.prices import worst_cost
from proctor.store import Store
from proctor.verdict import CriterionResult

if TYPE_CHECKING:
    from proctor.store import Database


@dataclass
class _Entry:
    """A call in the ledger, made when its turn has come: what still waits is not out, and cannot be lost."""

    store: Store
    verdict: str
    key: str
    worst: float
    made: bool = False

    async def make(self) -> None:
        """Enter it, once for all its attempts."""
        if not self.made:
            await self.store.run(lambda database: _begin(database, self.verdict, self.key, self.worst))
            self.made = True


class LedgerModel:
    """A model whose calls are entered in the ledger, one for each verdict that is made.

    It has to be one behind a gate, which tells when a call goes out.
    """

    def __init__(self, model: Model, store: Store, verdict: str, paying: Paying, *, reuse: bool) -> None:
        """`reuse`: replies of earlier verdicts answer equal questions."""
        self._model = model
        self._store = store
        self._verdict = verdict
        self._paying = paying
        self._reuse = reuse
        self.exchanges: list[Exchange] = []
        """All of this verdict, as they were used."""

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def is_stand_in(self) -> bool:
        """The model's."""
        return self._model.is_stand_in

    async def ask(self, call: ModelCall) -> Reply:
        """The kept reply, else the model's. Raises ModelFailure; BudgetSpent before anything is spent; StoreError."""
        key = key_of(self.name, call)
        kept = await self._store.run(lambda database: _kept(database, self._verdict, key, reuse=self._reuse))
        if kept is not None:
            self.exchanges.append(kept)
            return kept.again()
        till, purse = self._paying.till, self._paying.batch if self._paying.limited else None
        day = today()
        reservation = await till.reserve(purse, self._worst(call) if till.is_limited(purse) else 0.0)
        entry = _Entry(self._store, self._verdict, key, float(reservation.worst or 0))
        try:
            with told_of_leaving(entry.make):
                reply = await self._model.ask(call)
        except ModelFailure as failure:
            exchange, cost = Exchange.of_failure(key, call.schema_name, failure), failure.usage.cost
            await self._answered(exchange, day, till.settle(reservation, cost), untold=cost is None)
            raise
        except BaseException:
            if entry.made:  # we were stopped: nobody knows what became of it
                charged = till.settle(reservation, None)
                await self._store.run(lambda database: self._lose(database, key, day, charged))
            else:
                till.cancel(reservation)
                with suppress(StoreError):  # we were stopped while it was entered, or the disk refused that
                    await self._store.run(lambda database: _forget(database, self._verdict, key))
            raise
        exchange, cost = Exchange.of_reply(key, call.schema_name, reply), reply.usage.cost
        await self._answered(exchange, day, till.settle(reservation, cost), untold=cost is None)
        return reply

    def _worst(self, call: ModelCall) -> float | None:
        """US dollars, were each attempt billed and only the last one told of; None where a price is not known."""
        sent = sum(tokens.count(message.content, self.name) for message in call.messages)
        once = worst_cost(self.name, sent, call.max_output_tokens)
        return None if once is None else ATTEMPTS * once

    async def _answered(self, exchange: Exchange, day: str, charged: float, *, untold: bool) -> None:
        self.exchanges.append(exchange)

        def work(database: Database) -> None:
            _enter(database, self._verdict, exchange)
            told = 0.0 if untold else charged
            database.execute(
                "UPDATE verdicts SET cost = cost + ?, untold = untold + ? WHERE id = ?", (told, untold, self._verdict)
            )
            charge(database, day, self._paying.batch, charged)

        await self._store.run(work)

    def _lose(self, database: Database, key: str, day: str, charged: float) -> None:
        database.execute("UPDATE calls SET state = 'lost' WHERE verdict = ? AND key = ?", (self._verdict, key))
        charge(database, day, self._paying.batch, charged)


def _kept(database: Database, verdict: str, key: str, *, reuse: bool) -> Exchange | None:
    """The reply to an equal question: of this verdict before a stop, else of any verdict before it."""
    own = "SELECT exchange FROM calls WHERE verdict = ? AND key = ? AND state = 'answered'"
    row = database.execute(own, (verdict, key)).fetchone()
    if row is None and reuse:
        row = database.execute("SELECT exchange FROM replies WHERE key = ?", (key,)).fetchone()
    return None if row is None else Exchange.model_validate_json(row[0])


def _begin(database: Database, verdict: str, key: str, reserved: float) -> None:
    """Enter a call that is about to go out. One that had gone out before, and was lost, is a repeat."""
    row = database.execute("SELECT state FROM calls WHERE verdict = ? AND key = ?", (verdict, key)).fetchone()
    lost = row is not None and row[0] == "lost"
    database.execute(
        "INSERT OR REPLACE INTO calls (verdict, key, state, reserved) VALUES (?, ?, 'started', ?)",
        (verdict, key, reserved),
    )
    database.execute("UPDATE verdicts SET asked = asked + 1, repeats = repeats + ? WHERE id = ?", (lost, verdict))


def _forget(database: Database, verdict: str, key: str) -> None:
    """Of a call that was entered and never went out."""
    gone = database.execute("DELETE FROM calls WHERE verdict = ? AND key = ? AND state = 'started'", (verdict, key))
    database.execute("UPDATE verdicts SET asked = asked - ? WHERE id = ?", (gone.rowcount, verdict))


def _enter(database: Database, verdict: str, exchange: Exchange) -> None:
    state = "answered" if exchange.text is not None else "failed"
    database.execute(
        "UPDATE calls SET state = ?, exchange = ? WHERE verdict = ? AND key = ?",
        (state, exchange.model_dump_json(), verdict, exchange.key),
    )


def charge(database: Database, day: str, batch: str, cost: float) -> None:
    """Book what a call cost."""
    if cost:
        database.execute(
            "INSERT INTO spent (day, batch, cost) VALUES (?, ?, ?)"
            " ON CONFLICT (day, batch) DO UPDATE SET cost = cost + excluded.cost",
            (day, batch, cost),
        )


def settle_lost(database: Database, day: str, verdict: str = "") -> int:
    """Calls whose answer was lost, of all or of one verdict, are taken for spent at their worst. Gives how many."""
    lost = database.execute(
        "SELECT calls.verdict, key, payer, reserved FROM calls JOIN verdicts ON id = calls.verdict"
        " WHERE calls.state = 'started' AND (? = '' OR id = ?)",
        (verdict, verdict),
    ).fetchall()
    for asker, key, payer, reserved in lost:
        charge(database, day, payer, reserved)
        database.execute("UPDATE calls SET state = 'lost' WHERE verdict = ? AND key = ?", (asker, key))
    return len(lost)


def begin_again(database: Database, verdict: str) -> None:
    """Queue a verdict that could not be kept track of; a call of it that went out is lost, and is a repeat if made."""
    settle_lost(database, today(), verdict)
    put_back(database, verdict)


def close_calls(
    database: Database, verdict: str, exchanges: Sequence[Exchange], results: Sequence[CriterionResult]
) -> None:
    """A verdict is made: replies of criteria that have a result are kept for equal questions, the rest is let go.

    So nothing that could not be read is ever found again.
    """
    good = {each.criterion for each in results if each.outcome != "judge_error"}
    database.table("replies").insert_all(
        (
            {"key": each.key, "exchange": each.model_dump_json()}
            for each in exchanges
            if each.criterion in good and each.text is not None
        ),
        replace=True,
    )
    database.execute("DELETE FROM calls WHERE verdict = ?", (verdict,))


def spent_of(database: Database, batch: str) -> float:
    """US dollars that a batch has spent, on whatever day."""
    (spent,) = database.execute("SELECT COALESCE(SUM(cost), 0) FROM spent WHERE batch = ?", (batch,)).fetchone()
    return float(spent)
