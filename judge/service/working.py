"""The lanes: for each model some workers, which take what is queued for it, one verdict after the other."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from proctor.errors import BudgetSpent, PlatformError, ProctorError, StoreError
from proctor.judge.service import queue
from proctor.judge.service.feed import Feed, News
from proctor.judge.service.findings import keep_findings
from proctor.judge.service.ledger import LedgerModel, begin_again, close_calls
from proctor.judge.service.making import Maker
from proctor.judge.service.queue import Task
from proctor.judge.service.records import AnyRecord, keep_record
from proctor.store import Store
from proctor.wire import ErrorAnswer

if TYPE_CHECKING:
    from proctor.store import Database

T = TypeVar("T")
_LOG = logging.getLogger("proctor.judge")
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds between tries to store a verdict on a disk that refuses it."""

Noted = Callable[["Database", AnyRecord, str], None]
"""Called with each verdict, in the transaction that stores it, and the terms it was asked for on."""


class Lanes:
    """The workers of one service."""

    def __init__(self, store: Store, maker: Maker, feed: Feed, noted: Noted, *, lasting: bool) -> None:
        """Nothing runs before `start`."""
        self._store = store
        self._maker = maker
        self._feed = feed
        self._noted = noted
        self._lasting = lasting
        self._woken: dict[str, asyncio.Event] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._stopping = False
        self.made: Counter[str] = Counter()
        """Verdicts by how they ended: done, refused, failed."""
        self.at_work = 0
        """Verdicts that are being made."""
        self.trouble = ""
        """Why nothing can be stored at present; empty where all is well."""

    def start(self, widths: Mapping[str, int]) -> None:
        """Begin to work, with so many workers for each model."""
        for model, width in widths.items():
            self._woken[model] = asyncio.Event()
            self._workers += [asyncio.create_task(self._work(model)) for _ in range(width)]

    def wake(self) -> None:
        """Something may be queued."""
        for each in self._woken.values():
            each.set()

    async def stop(self, grace: float) -> None:
        """Take nothing more; what is being made has `grace` seconds to its end, else it is queued again."""
        self._stopping = True
        self.wake()
        if self._workers:
            _, late = await asyncio.wait(self._workers, timeout=grace)
            for each in late:
                each.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)

    async def _work(self, model: str) -> None:
        by_age = False
        woken = self._woken[model]
        while not self._stopping:
            woken.clear()
            by_age = not by_age
            taking = partial(queue.take, model=model, lasting=self._lasting, by_age=by_age)
            try:
                task = await self._store.run(taking)
            except StoreError as error:
                await self._troubled(error, _FIRST_WAIT)
                continue
            if task is None:
                if not self._stopping:
                    await woken.wait()
                continue
            self.trouble = ""
            self.at_work += 1
            try:
                await self._one(task)
            finally:
                self.at_work -= 1

    async def _one(self, task: Task) -> None:
        try:
            record, model = await self._maker.made(
                task, lambda result: self._feed.tell(News(task.id, task.subject, result))
            )
        except asyncio.CancelledError:
            await self._store.run(lambda database: queue.put_back(database, task.id))
            raise
        except StoreError as error:  # what was accepted is made all the same, once the disk is well
            await self._troubled(error, _FIRST_WAIT)
            await self._kept(lambda database: begin_again(database, task.id))
        except Exception as error:
            refusal = _refusal(task, error)
            how = "refused" if isinstance(error, BudgetSpent) else "failed"
            await self._ended(task, lambda database: _refuse(database, task, refusal), how)
        else:
            await self._ended(task, lambda database: self._keep(database, task, record, model), "done")

    def _keep(self, database: Database, task: Task, record: AnyRecord, model: LedgerModel) -> list[str]:
        """All of a verdict, or nothing of it."""
        verdict = record.verdict
        keep_record(database, record)
        close_calls(database, task.id, model.exchanges, verdict.criteria)
        keep_findings(database, verdict)
        self._noted(database, record, task.terms)
        failed = any(each.outcome == "judge_error" for each in verdict.criteria)
        return queue.end(database, task.id, verdict=verdict.model_dump_json(), failed=failed)

    async def _ended(self, task: Task, work: Callable[[Database], list[str]], how: str) -> None:
        """Store how a task ended, however long the disk refuses it, and tell whoever waits."""
        lost = await self._kept(work)
        self.made[how] += 1
        for each in (task.id, *lost):
            self._feed.tell(News(each))
        self.wake()  # a case may have waited for this trial

    async def _kept(self, work: Callable[[Database], T]) -> T:
        wait = _FIRST_WAIT
        while True:
            try:
                done = await self._store.run(work)
            except StoreError as error:
                await self._troubled(error, wait)
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                self.trouble = ""
                return done

    async def _troubled(self, error: StoreError, seconds: float) -> None:
        self.trouble = error.message
        _LOG.error("%s; trying again", error)
        await asyncio.sleep(seconds)


def _refusal(task: Task, error: Exception) -> ProctorError:
    """What is told of a verdict that could not be made; what is ours to mend is in the log, with its trace."""
    if isinstance(error, ProctorError):
        if not isinstance(error, BudgetSpent):
            _LOG.error("verdict %s: %s", task.id, error)
        return error
    _LOG.error("verdict %s failed inside Proctor", task.id, exc_info=error)
    return PlatformError("platform_error", f"Proctor failed: {type(error).__name__}: {error}")


def _refuse(database: Database, task: Task, error: ProctorError) -> list[str]:
    return queue.end(database, task.id, error=ErrorAnswer.of(error).model_dump_json())
