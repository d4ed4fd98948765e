"""A batch's results as they come: JSON lines, of which the last says that nothing is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from aiohttp import web

from proctor.judge.service.answers import batch_answer, open_of, places_of, verdict_answer
from proctor.judge.service.feed import Feed, Listener, News
from proctor.judge_wire import BatchAccepted, BatchEnded, CriterionCame
from proctor.store import Store

CONTENT_TYPE = "application/x-ndjson"
_QUIET = 15.0
"""Seconds after which an empty line shows that the connection is alive."""


class Results:
    """Streams results of batches; ends them early when the service stops, without the last line."""

    def __init__(self, store: Store, feed: Feed) -> None:
        """One for a service."""
        self._store = store
        self._feed = feed
        self.stopping = asyncio.Event()

    async def stream(
        self, request: web.Request, batch: str, anew: set[str] | None = None, *, progress: bool
    ) -> web.StreamResponse:
        """All results of a batch. `anew` are the verdicts that are made for this request, where that is known."""
        places = await self._store.run(lambda database: places_of(database, batch))
        response = web.StreamResponse(headers={"Content-Type": CONTENT_TYPE, "X-Accel-Buffering": "no"})
        with self._feed.listening(verdict for _, verdict in places) as listener:
            await response.prepare(request)
            await response.write(await self._told(BatchAccepted, batch))
            known = set() if anew is None else {verdict for _, verdict in places} - anew
            async for line in self._lines(batch, places, known, listener, progress=progress):
                await response.write(line)
        if not self.stopping.is_set():
            await response.write(await self._told(BatchEnded, batch))
        await response.write_eof()
        return response

    async def _lines(
        self, batch: str, places: list[tuple[int, str]], known: set[str], listener: Listener, *, progress: bool
    ) -> AsyncIterator[bytes]:
        """A line for each verdict, once; what is there already comes first, in its order."""
        still_open = await self._store.run(lambda database: open_of(database, batch))
        left = {verdict: place for place, verdict in places if verdict in still_open}
        for place, verdict in places:
            if verdict not in left:
                yield await self._verdict(place, verdict, known=verdict in known)
        while left:
            news = await self._news(listener)
            if news is None:
                if self.stopping.is_set():
                    return
                yield b"\n"
            elif news.criterion is not None:
                if progress and news.verdict in left:
                    yield _criterion(news)
            elif news.verdict in left:
                yield await self._verdict(left.pop(news.verdict), news.verdict, known=False)

    async def made(self, listener: Listener) -> None:
        """Wait until what is listened for is made, or the service stops."""
        while not self.stopping.is_set():
            news = await self._news(listener)
            if news is not None and news.criterion is None:
                return

    async def _news(self, listener: Listener) -> News | None:
        """The next news; None where nothing came for a while, or the service stops."""
        coming = asyncio.ensure_future(listener.get())
        stopping = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait({coming, stopping}, timeout=_QUIET, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else None
        finally:
            coming.cancel()
            stopping.cancel()

    async def _verdict(self, place: int, verdict: str, *, known: bool) -> bytes:
        answer = await self._store.run(lambda database: verdict_answer(database, verdict))
        return _line({"event": "verdict", "place": place, "answer": answer, "known": known})

    async def _told(self, event: type[BatchAccepted | BatchEnded], batch: str) -> bytes:
        answer = await self._store.run(lambda database: batch_answer(database, batch))
        return event(batch=answer).model_dump_json().encode() + b"\n"


def _criterion(news: News) -> bytes:
    assert news.criterion is not None
    result = news.criterion
    came = CriterionCame(trajectory=news.subject, criterion=result.criterion, outcome=result.outcome)
    return came.model_dump_json().encode() + b"\n"


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value) + b"\n"
