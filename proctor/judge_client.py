"""A typed client of the judge's service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from itertools import count
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, TypeAdapter, ValidationError

from proctor.errors import PlatformError
from proctor.http_client import Answer, ApiClient
from proctor.judge_wire import (
    BatchAccepted,
    BatchAnswer,
    BatchEnded,
    BatchEvent,
    BatchHeader,
    BatchTerms,
    FindingsAnswer,
    ReadyAnswer,
    RubricsAnswer,
    VerdictAnswer,
    VerdictCame,
    VerdictRequest,
)
from proctor.trajectories.file import line_of
from proctor.trajectory import Trajectory

_EVENTS: TypeAdapter[BatchEvent] = TypeAdapter(BatchEvent)
_QUIET = 60.0
"""Seconds without a byte after which a stream is taken for dead; the service shows every 15 that it lives."""
_BUSY = frozenset({429, 503})
_TRIES = 5
"""How often a request that the service has no room for is sent again, and a stream that brings nothing taken up."""
_PAUSE, _LONGEST_WAIT = 5.0, 60.0
"""Seconds before a busy service is asked again, where it does not say, and at most."""
_FIRST_WAIT = 1.0
"""Seconds before a stream that was cut is taken up; twice as many each time."""


class JudgeClient(ApiClient):
    """Sends runs to a judging service and reads its verdicts. An async context manager.

    Every call raises UsageError for what the service refused as wrong, and PlatformError where it failed or is not
    there. A service that is busy (429, 503) is asked again, as its Retry-After says, five times.
    """

    _cuts = frozenset({"judge_unreachable", "judge_stopped"})

    def __init__(self, url: str, token: str, wait: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """`url` is the service's address; `wait` waits so many seconds before something is asked again."""
        super().__init__(url, token, "judge")
        self._wait = wait

    async def ready(self) -> ReadyAnswer:
        """Whether it takes work, and where it does not, why; needs no token."""
        return self.read(ReadyAnswer, (await self.exchange("GET", "/readyz")).content)

    async def judge(self, request: VerdictRequest) -> VerdictAnswer:
        """One verdict, waited for. The same request has the same one, and is judged once."""
        while (answer := await self.call("POST", "/v1/verdicts", VerdictAnswer, request)).state in (
            "queued",
            "running",
        ):
            pass
        return answer

    async def verdict(self, identity: str) -> VerdictAnswer:
        """A verdict as far as it is."""
        return await self.call("GET", f"/v1/verdicts/{quote(identity, safe='')}", VerdictAnswer)

    async def record(self, which: str) -> bytes:
        """The record of a verdict, as JSON: by id or its first digits, a trajectory's id, or `last`."""
        return await self.fetch("GET", f"/v1/verdicts/{quote(which, safe='')}?record=1")

    async def batch(
        self, terms: BatchTerms, runs: Iterable[Trajectory], *, progress: bool = False
    ) -> AsyncGenerator[BatchEvent]:
        """Send runs, and give each event as it comes; the last is BatchEnded.

        A stream that is cut once all is accepted is taken up again, so a service may be restarted meanwhile. Raises
        PlatformError where that fails: what was accepted is not lost, and the same batch sent again goes on from there.
        """
        body = b"".join([BatchHeader(batch=terms).model_dump_json().encode() + b"\n", *map(line_of, runs)])
        flag = "?progress=1" if progress else ""
        async with aclosing(self._whole("POST", f"/v1/batches{flag}", body, flag)) as events:
            async for event in events:
                yield event

    async def batch_results(self, identity: str) -> AsyncGenerator[BatchEvent]:
        """The events of a batch that was accepted, from its first result on."""
        async with aclosing(self._whole("GET", _results(identity), b"", "")) as events:
            async for event in events:
                yield event

    async def batch_state(self, identity: str) -> BatchAnswer:
        """How far a batch is."""
        return await self.call("GET", f"/v1/batches/{quote(identity, safe='')}", BatchAnswer)

    async def rubrics(self) -> RubricsAnswer:
        """The rubrics that requests can name."""
        return await self.call("GET", "/v1/rubrics", RubricsAnswer)

    async def findings(self, after: int = 0, kind: str = "") -> FindingsAnswer:
        """Disagreements, flags and reasons to look, after a number."""
        return await self.call("GET", f"/v1/findings?after={after}&kind={quote(kind)}", FindingsAnswer)

    async def metrics(self) -> str:
        """What the service has done since it started, in Prometheus' text format."""
        return (await self.fetch("GET", "/metrics")).decode()

    async def fetch(self, method: str, path: str, body: BaseModel | None = None) -> bytes:
        """Ask until there is room for it, and give the answer's body."""
        for asked in count():
            answer = await self.exchange(method, path, body)
            if answer.status < 400:
                return answer.content
            await self._pause(asked, answer)
        raise AssertionError

    async def _pause(self, asked: int, answer: Answer) -> None:
        """Wait before it is asked again, as it was `asked` again already. Raises its error where that is no use."""
        if answer.status not in _BUSY or asked >= _TRIES:
            raise self.refused(answer.status, answer.content)
        told = answer.headers.get("Retry-After", "")
        await self._wait(min(float(told) if told.isdecimal() else _PAUSE, _LONGEST_WAIT))

    async def _whole(self, method: str, path: str, body: bytes, flag: str) -> AsyncGenerator[BatchEvent]:
        """The events of a batch, each verdict once, over as many streams as it takes."""
        accepted, places, cut = "", set[int](), 0
        while True:
            try:
                async with aclosing(self._events(method, path, body)) as events:
                    async for event in events:
                        if isinstance(event, BatchAccepted):
                            if accepted:
                                continue
                            accepted = event.batch.id
                        elif isinstance(event, VerdictCame):
                            if event.place in places:
                                continue
                            places.add(event.place)
                            cut = 0
                        yield event
                return
            except PlatformError as error:
                if error.code not in self._cuts or not accepted:
                    raise
                if cut >= _TRIES:
                    raise self._stopped() from error
            await self._wait(_FIRST_WAIT * 2**cut)
            cut += 1
            method, path, body = "GET", _results(accepted) + flag, b""

    async def _events(self, method: str, path: str, body: bytes) -> AsyncGenerator[BatchEvent]:
        """Those of one stream. Raises PlatformError, of a code in `_cuts`, where it ends before its last."""
        timeout = aiohttp.ClientTimeout(total=None, sock_read=_QUIET)
        ended = False
        try:
            for asked in count():
                async with self.http.request(method, self.url + path, data=body, timeout=timeout) as response:
                    if response.status < 400:
                        async for line in _lines(response.content):
                            event = self._event(line)
                            ended = isinstance(event, BatchEnded)
                            yield event
                        break
                    answer = Answer(response.status, response.headers, await response.read())
                await self._pause(asked, answer)
        except (aiohttp.ClientError, TimeoutError) as error:
            if not ended:
                raise self.unreachable(error) from None
        if not ended:
            raise self._stopped()

    def _stopped(self) -> PlatformError:
        told = f"the judge at {self.url} was stopped before the batch was whole"
        return PlatformError("judge_stopped", told, "send the same batch again: it goes on from there")

    def _event(self, line: bytes) -> BatchEvent:
        try:
            return _EVENTS.validate_json(line)
        except ValidationError:
            told = f"what answers at {self.url} is no judge of this version"
            raise PlatformError("judge_garbled", told) from None


def _results(batch: str) -> str:
    return f"/v1/batches/{quote(batch, safe='')}/results"


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines that are not empty, however long."""
    buffer = bytearray()
    async for piece in content.iter_any():
        buffer += piece
        if b"\n" in piece:
            *whole, rest = buffer.split(b"\n")
            buffer = bytearray(rest)
            for line in filter(None, whole):
                yield bytes(line)
