"""The service's API: what answers at which path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import orjson
from aiohttp import web

from proctor import __version__
from proctor.errors import ServiceBusy, StoreError, UsageError, nearest
from proctor.http_server import body_of
from proctor.judge.service import queue
from proctor.judge.service.answers import batch_answer, is_open, verdict_answer
from proctor.judge.service.feed import Feed
from proctor.judge.service.findings import KINDS, MOST_AT_ONCE, findings_after
from proctor.judge.service.http import answered, flag_in, number_in
from proctor.judge.service.queue import Batch, Taking
from proctor.judge.service.reading import Offered, read_batch, read_request
from proctor.judge.service.records import find_record
from proctor.judge.service.streaming import Results
from proctor.judge.service.working import Lanes
from proctor.judge_wire import FindingsAnswer, ReadyAnswer, RubricsAnswer, RubricTold
from proctor.prometheus import CONTENT_TYPE
from proctor.rubric_file import digest_of, shipped, shipped_rubric
from proctor.store import Store

LONGEST_WAIT = 3600
_WAIT = 540
"""Seconds that a single verdict is waited for, unless `?wait=` says otherwise."""


@dataclass(frozen=True)
class Desk:
    """All that requests are answered from."""

    store: Store
    offered: Offered
    taking: Taking
    feed: Feed
    lanes: Lanes
    results: Results
    metrics: Callable[[int], str]


class Routes:
    """The handlers.

        POST /v1/verdicts             VerdictRequest -> VerdictAnswer (200 where it is there, 202 where it waits longer)
        GET  /v1/verdicts/ID                         -> VerdictAnswer; `?record=1`: the record instead
        POST /v1/batches              JSON lines     -> JSON lines of BatchEvent; `?wait=0`: BatchAnswer (202)
        GET  /v1/batches/ID                          -> BatchAnswer
        GET  /v1/batches/ID/results                  -> JSON lines of BatchEvent
        GET  /v1/rubrics                             -> RubricsAnswer
        GET  /v1/findings?after=N&kind=K&limit=L     -> FindingsAnswer
        GET  /healthz, /readyz                       -> ReadyAnswer, without a token
        GET  /metrics                                -> Prometheus' text format 0.0.4

    Errors are ErrorAnswers: 400 for what cannot be, 401 without the token, 404 for what is not there, 413 for what is
    too large, 429 with Retry-After where there is too much to do, 500 where Proctor failed, 503 while it stops.
    """

    def __init__(self, desk: Desk) -> None:
        """Of one service."""
        self._desk = desk

    def table(self) -> list[web.RouteDef]:
        """For the application's router."""
        return [
            web.post("/v1/verdicts", self._judge),
            web.get("/v1/verdicts/{id}", self._verdict),
            web.post("/v1/batches", self._batch),
            web.get("/v1/batches/{id}", self._show_batch),
            web.get("/v1/batches/{id}/results", self._results),
            web.get("/v1/rubrics", self._rubrics),
            web.get("/v1/findings", self._findings),
            web.get("/healthz", self._health),
            web.get("/readyz", self._ready),
            web.get("/metrics", self._metrics),
        ]

    async def _judge(self, request: web.Request) -> web.StreamResponse:
        desk = self._desk
        wait = number_in(request, "wait", _WAIT, LONGEST_WAIT)
        wanted = read_request(await body_of(request, desk.offered.limits.line_bytes), desk.offered)
        with desk.feed.listening([wanted.id]) as listener:
            await self._accept(Batch(f"one-{wanted.id}", [wanted]))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    if await desk.store.run(lambda database: is_open(database, wanted.id)):
                        await desk.results.made(listener)
        return await self._answer(wanted.id)

    async def _answer(self, identity: str) -> web.Response:
        answer = await self._desk.store.run(lambda database: verdict_answer(database, identity))
        status = 202 if answer["state"] in queue.OPEN else 200
        return web.Response(status=status, body=orjson.dumps(answer), content_type="application/json")

    async def _verdict(self, request: web.Request) -> web.StreamResponse:
        which = request.match_info["id"]
        if flag_in(request, "record", otherwise=False):
            return answered(await self._desk.store.run(lambda database: find_record(database, which)))
        return await self._answer(which)

    async def _batch(self, request: web.Request) -> web.StreamResponse:
        waits, progress = flag_in(request, "wait", otherwise=True), _progress(request)
        batch = await read_batch(request, self._desk.offered)
        anew = await self._accept(batch)
        if not waits:
            return answered(await self._desk.store.run(lambda database: batch_answer(database, batch.id)), 202)
        return await self._desk.results.stream(request, batch.id, anew, progress=progress)

    async def _accept(self, batch: Batch) -> set[str]:
        if self._desk.results.stopping.is_set():
            raise ServiceBusy("service_stopping", "the service is being stopped", "send it again (Retry-After)")
        anew = await self._desk.store.run(lambda database: queue.accept(database, batch, self._desk.taking))
        self._desk.lanes.wake()
        return anew

    async def _show_batch(self, request: web.Request) -> web.StreamResponse:
        which = request.match_info["id"]
        return answered(await self._desk.store.run(lambda database: batch_answer(database, which)))

    async def _results(self, request: web.Request) -> web.StreamResponse:
        which, progress = request.match_info["id"], _progress(request)
        await self._desk.store.run(lambda database: batch_answer(database, which))
        return await self._desk.results.stream(request, which, progress=progress)

    async def _rubrics(self, _: web.Request) -> web.StreamResponse:
        rubrics = [(name, shipped_rubric(name)) for name in shipped()]
        return answered(
            RubricsAnswer(
                rubrics=tuple(RubricTold(name=name, digest=digest_of(each), rubric=each) for name, each in rubrics)
            )
        )

    async def _findings(self, request: web.Request) -> web.StreamResponse:
        after, most = number_in(request, "after", 0, 2**62), number_in(request, "limit", 100, MOST_AT_ONCE)
        kind = request.query.get("kind", "")
        if kind and kind not in KINDS:
            raise UsageError("bad_query", f"there are no findings of kind {kind[:40]!r}", nearest(kind, KINDS))
        found = await self._desk.store.run(lambda database: findings_after(database, after, kind, most))
        return answered(FindingsAnswer(findings=tuple(found)))

    async def _health(self, _: web.Request) -> web.StreamResponse:
        return answered(ReadyAnswer(status="ok", proctor=__version__))

    async def _ready(self, _: web.Request) -> web.StreamResponse:
        desk = self._desk
        stopping, trouble, waiting = desk.results.stopping.is_set(), desk.lanes.trouble, 0
        try:
            waiting = await desk.store.run(queue.count_waiting)
        except StoreError as error:
            trouble = error.message
        full = waiting >= desk.taking.most_waiting
        why = trouble or ("the queue is full" if full else "")
        ready = ReadyAnswer(
            status="stopping" if stopping else "failed" if why else "ready",
            proctor=__version__,
            models=tuple(desk.offered.models),
            waiting=waiting,
            why=why,
        )
        return answered(ready, 200 if ready.status == "ready" else 503)

    async def _metrics(self, _: web.Request) -> web.StreamResponse:
        waiting = await self._desk.store.run(queue.count_waiting)
        return web.Response(body=self._desk.metrics(waiting).encode(), headers={"Content-Type": CONTENT_TYPE})


def _progress(request: web.Request) -> bool:
    return flag_in(request, "progress", otherwise=False)
