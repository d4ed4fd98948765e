"""Models whose calls are entered in a real ledger, without a service around it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from proctor.judge.service.budgets import Budgets
from proctor.judge.service.gates import GatedModel
from proctor.judge.service.ledger import LedgerModel
from proctor.judge.service.schema import STEPS
from proctor.judge.service.till import Paying, Till, today
from proctor.model_call import Model, ModelCall, Reply
from proctor.model_gate import OPEN
from proctor.store import Store

Made = Callable[[Model, str], LedgerModel]


@asynccontextmanager
async def ledger_in(folder: Path) -> AsyncIterator[tuple[Store, Made]]:
    """The database, and a ledger model for a verdict by its id."""
    store = await Store.open(folder / "judge.db", STEPS)
    till = Till(Budgets(None, 0.0, today), per_day=False)
    try:
        paying = Paying(till, "b", limited=False)
        yield (
            store,
            lambda model, verdict: LedgerModel(GatedModel(model, OPEN), store, verdict, paying, reuse=True),
        )
    finally:
        await store.close()


class Counted:
    """A model that counts how often it is asked."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.is_stand_in = model.name, model.is_stand_in
        self.asked = 0

    async def ask(self, call: ModelCall) -> Reply:
        """The model's reply."""
        self.asked += 1
        return await self._model.ask(call)
