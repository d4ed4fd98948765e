"""A judging service: started, listening, and brought to its end with nothing lost."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from proctor.errors import UsageError
from proctor.folder_lock import FolderLock
from proctor.judge.salt import salt_in
from proctor.judge.service import ledger, metrics, queue
from proctor.judge.service.budgets import Budgets
from proctor.judge.service.feed import Feed
from proctor.judge.service.gates import ProviderGates
from proctor.judge.service.http import RateLimit, guarding
from proctor.judge.service.making import Maker
from proctor.judge.service.queue import Taking
from proctor.judge.service.reading import Offered
from proctor.judge.service.records import AnyRecord, record_by_id
from proctor.judge.service.review_routes import review_routes
from proctor.judge.service.reviews import note_verdict
from proctor.judge.service.routes import Desk, Routes
from proctor.judge.service.schema import STEPS
from proctor.judge.service.settings import Settings
from proctor.judge.service.streaming import Results
from proctor.judge.service.till import Till, today
from proctor.judge.service.unreadable import Runner, quiet
from proctor.judge.service.working import Lanes, Noted
from proctor.listening import base_url, cannot_listen
from proctor.model_call import Model
from proctor.store import Store

if TYPE_CHECKING:
    from proctor.store import Database

_HEADER_BYTES = 16 * 1024
_LAST_ANSWERS = 5.0
"""Seconds that answers on their way have when the service stops."""
DATABASE = "judge.db"
LOCK = "service.lock"


@dataclass
class Service:
    """A listening service. `url` is its address, `token` opens it."""

    url: str
    token: str
    goes_on: int
    """Verdicts that were left from before, and are made now."""
    lost_calls: int
    """Calls that were on their way when it was killed."""
    lanes: Lanes
    _results: Results
    _runner: web.AppRunner
    _store: Store
    _lock: FolderLock
    _grace: float

    async def close(self) -> None:
        """Accept nothing more, let what is being made come to its end, and put the rest back in the queue."""
        self._results.stopping.set()
        await self.lanes.stop(self._grace)
        await self._runner.cleanup()
        await self._store.close()
        self._lock.let_go()


async def start_service(settings: Settings, *, salt: bytes | None = None, reuse: bool = True) -> Service:
    """Listen, and go on with what was accepted before. Raises UsageError, StoreError, PlatformError.

    `salt` stands in for the folder's own; without `reuse` every question is asked, whatever was answered before.
    """
    gates = ProviderGates(settings.calls_at_once)
    models = {name: gates.model(name) for name in settings.models}
    lock = FolderLock(settings.folder, LOCK, partial(_busy, settings.folder))
    try:
        store = await Store.open(settings.folder / DATABASE, STEPS)
    except BaseException:
        lock.let_go()
        raise
    try:
        return await _started(settings, models, gates, lock, store, salt or salt_in(settings.folder), reuse=reuse)
    except BaseException:
        await store.close()
        lock.let_go()
        raise


async def _started(
    settings: Settings,
    models: Mapping[str, Model],
    gates: ProviderGates,
    lock: FolderLock,
    store: Store,
    salt: bytes,
    *,
    reuse: bool,
) -> Service:
    lost, spent = await store.run(_recovered)
    goes_on = await store.run(lambda database: queue.recover(database, lasting=settings.lasting))
    budgets, feed = Budgets(settings.per_day, spent, today), Feed()
    till = Till(budgets, per_day=settings.per_day is not None)
    lanes = Lanes(
        store, Maker(store, salt, models, till, reuse), feed, _noting(settings.share), lasting=settings.lasting
    )
    results = Results(store, feed)
    token = settings.token or secrets.token_urlsafe(24)
    desk = Desk(
        store=store,
        offered=Offered(models, salt, settings.agent_vendor, settings.limits),
        taking=Taking(settings.lasting, settings.limits.waiting, anew=not reuse),
        feed=feed,
        lanes=lanes,
        results=results,
        metrics=lambda waiting: metrics.rendered(waiting, lanes, gates, budgets),
    )
    runner, url = await _listening(settings, Routes(desk), store, token)
    lanes.start({name: 1 if model.is_stand_in else settings.runs_at_once for name, model in models.items()})
    lock.say(f"process {os.getpid()}, {url}")
    return Service(url, token, goes_on, lost, lanes, results, runner, store, lock, settings.grace)


async def _listening(settings: Settings, routes: Routes, store: Store, token: str) -> tuple[web.AppRunner, str]:
    app = web.Application(middlewares=guarding(token, RateLimit(settings.limits.requests_a_second)))
    app.add_routes([*routes.table(), *review_routes(store, record_by_id)])
    runner = Runner(
        app,
        access_log=None,
        logger=quiet(),
        max_line_size=_HEADER_BYTES,
        max_field_size=_HEADER_BYTES,
        shutdown_timeout=_LAST_ANSWERS,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
    except OSError as error:
        await runner.cleanup()
        raise cannot_listen(settings.host, settings.port, error) from None
    return runner, base_url(settings.host, runner.addresses[0][1])


def _recovered(database: Database) -> tuple[int, float]:
    """How many calls were lost on their way, and what was spent today, with those at their worst."""
    lost, day = ledger.settle_lost(database, today()), today()
    (spent,) = database.execute("SELECT COALESCE(SUM(cost), 0) FROM spent WHERE day = ?", (day,)).fetchone()
    return lost, float(spent)


def _noting(share: float) -> Noted:
    """What sends a verdict to people as it is stored."""

    def noted(database: Database, record: AnyRecord, terms: str) -> None:
        note_verdict(database, record.verdict, record.rubric, json.loads(terms).get("at_least"), share)

    return noted


def _busy(folder: Path, holder: str) -> UsageError:
    told = f"another judge works in {folder}{f' ({holder})' if holder else ''}"
    return UsageError("judge_busy", told, "wait for it, or send it the work with --service URL")
