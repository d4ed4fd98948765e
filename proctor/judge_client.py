"""A typed client of the judge's service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from urllib.parse import quote

import aiohttp
from pydantic import TypeAdapter, ValidationError

from proctor.errors import PlatformError
from proctor.http_client import ApiClient
from proctor.judge_wire import (
    BatchAnswer,
    BatchEnded,
    BatchEvent,
    BatchHeader,
    BatchTerms,
    FindingsAnswer,
    ReadyAnswer,
    RubricsAnswer,
    VerdictAnswer,
    VerdictRequest,
)
from proctor.trajectories.file import line_of
from proctor.trajectory import Trajectory

_EVENTS: TypeAdapter[BatchEvent] = TypeAdapter(BatchEvent)
_QUIET = 60.0
"""Seconds without a byte after which a stream is taken for dead; the service shows every 15 that it lives."""
_LINE_BYTES = 256 * 1024 * 1024
_TRIES = 5
"""Of a request that the service has no room for at present."""
_LONGEST_WAIT = 60.0


class JudgeClient(ApiClient):
    """Sends runs to a judging service and reads its verdicts. An async context manager.

    Every call raises UsageError for what the service refused as wrong, and PlatformError where it failed or is not
    there. A service that is busy (429, 503) is asked again, as its Retry-After says, five times.
    """

    def __init__(self, url: str, token: str) -> None:
        """`url` is the service's address."""
        super().__init__(url, token, "judge")

    async def ready(self) -> ReadyAnswer:
        """Whether it takes work; needs no token."""
        return await self.call("GET", "/readyz", ReadyAnswer)

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
        return await self.call("GET", f"/v1/verdicts/{identity}", VerdictAnswer)

    async def record(self, which: str) -> bytes:
        """The record of a verdict, as JSON: by id or its first digits, a trajectory's id, or `last`."""
        return await self.fetch("GET", f"/v1/verdicts/{quote(which, safe='')}?record=1")

    async def batch(
        self, terms: BatchTerms, runs: Iterable[Trajectory], *, progress: bool = False
    ) -> AsyncGenerator[BatchEvent]:
        """Send runs, and give each event as it comes; the last is BatchEnded.

        Raises PlatformError where the stream ends before that: what was accepted is not lost, and the same batch sent
        again goes on from there.
        """
        body = b"".join([BatchHeader(batch=terms).model_dump_json().encode() + b"\n", *map(line_of, runs)])
        path = "/v1/batches?progress=1" if progress else "/v1/batches"
        async for event in self._events("POST", path, body):
            yield event

    async def batch_results(self, identity: str) -> AsyncGenerator[BatchEvent]:
        """The events of a batch that was accepted, from its first result on."""
        async for event in self._events("GET", f"/v1/batches/{identity}/results", b""):
            yield event

    async def batch_state(self, identity: str) -> BatchAnswer:
        """How far a batch is."""
        return await self.call("GET", f"/v1/batches/{identity}", BatchAnswer)

    async def rubrics(self) -> RubricsAnswer:
        """The rubrics that requests can name."""
        return await self.call("GET", "/v1/rubrics", RubricsAnswer)

    async def findings(self, after: int = 0, kind: str = "") -> FindingsAnswer:
        """Disagreements, flags and reasons to look, after a number."""
        return await self.call("GET", f"/v1/findings?after={after}&kind={kind}", FindingsAnswer)

    async def metrics(self) -> str:
        """What the service has done since it started, in Prometheus' text format."""
        return (await self.fetch("GET", "/metrics")).decode()

    async def _events(self, method: str, path: str, body: bytes) -> AsyncGenerator[BatchEvent]:
        timeout = aiohttp.ClientTimeout(total=None, sock_read=_QUIET)
        ended = False
        try:
            async with self.http.request(method, self.url + path, data=body, timeout=timeout) as response:
                if response.status >= 400:
                    raise self.refused(response.status, await response.read())
                async for line in _lines(response.content):
                    event = self._event(line)
                    ended = isinstance(event, BatchEnded)
                    yield event
        except (aiohttp.ClientError, TimeoutError) as error:
            if not ended:
                raise self.unreachable(error) from None
        if not ended:
            told = f"the judge at {self.url} was stopped before the batch was whole"
            raise PlatformError("judge_stopped", told, "send the same batch again: it goes on from there")

    def _event(self, line: bytes) -> BatchEvent:
        try:
            return _EVENTS.validate_json(line)
        except ValidationError:
            told = f"what answers at {self.url} is no judge of this version"
            raise PlatformError("judge_garbled", told) from None


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
