"""The typed client against services that are busy, that stop and come back, and against lines that are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from proctor.errors import PlatformError, ProctorError, UsageError
from proctor.judge.service.server import start_service
from proctor.judge.service.settings import Limits, Settings
from proctor.judge_client import JudgeClient
from proctor.judge_wire import (
    BatchAccepted,
    BatchAnswer,
    BatchEnded,
    BatchEvent,
    BatchTerms,
    RubricsAnswer,
    VerdictAnswer,
    VerdictCame,
)
from proctor.trajectories.file import line_of
from tests.integration.judge.raw_http import exchange, request
from tests.integration.judge.services import OBEDIENT, batch, judge_service, run
from tests.integration.judge.test_service import LIVE, Held, provider, vendorless
from tools.stand_in_judge_server import serving_judge

__all__ = ["provider"]
HEAD = BatchAnswer(id="b1", state="open", states={})
ACCEPTED, ENDED = BatchAccepted(batch=HEAD), BatchEnded(batch=HEAD)
NOTHING = RubricsAnswer(rubrics=()).model_dump_json()


def came(place: int) -> VerdictCame:
    return VerdictCame(place=place, answer=VerdictAnswer(id=f"v{place}", trajectory=f"run-{place}", state="done"))


class Waits(list[float]):
    """Notes how long a client wants to wait, and lets something happen meanwhile."""

    def __init__(self, meanwhile: Callable[[], Awaitable[None]] | None = None) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        if self._meanwhile is not None:
            await self._meanwhile()


@asynccontextmanager
async def answering(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A server that answers each request as a test says."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class Streams:
    """A service whose streams hold these events, one stream after the other; the last one for ever. Without an end,
    the connection is cut or just ends."""

    def __init__(self, *streams: Sequence[BatchEvent], cut: bool = True) -> None:
        self._left = list(streams)
        self._cut = cut
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.asked.append(f"{request.method} {request.path_qs}")
        events = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        response = web.StreamResponse()
        await response.prepare(request)
        for event in events:
            await response.write(event.model_dump_json().encode() + b"\n\n")
        assert request.transport is not None
        if self._cut and ENDED not in events:
            await response.write(b'{"event": "verd')
            request.transport.abort()
        return response


async def events_of(url: str, waits: Waits, **more: Any) -> list[BatchEvent]:
    async with JudgeClient(url, "token", waits) as client:
        return [event async for event in client.batch(BatchTerms(), [run("a")], **more)]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("told", "seconds"), [("7", 7.0), ("0", 0.0), ("3600", 60.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 5.0), (None, 5.0)]
)
async def test_a_busy_service_is_asked_again_when_it_says_and_five_times_at_most(
    status: int, told: str | None, seconds: float
) -> None:
    asked: list[str] = []

    async def busy(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        body = '{"code": "queue_full", "message": "no room", "fix": "later", "exit_code": 1}'
        return web.Response(status=status, text=body, headers={} if told is None else {"Retry-After": told})

    async with answering(busy) as url:
        waits = Waits()
        async with JudgeClient(url, "token", waits) as client:
            with pytest.raises(PlatformError) as one:
                await client.rubrics()
        assert waits == [seconds] * 5
        waits = Waits()
        with pytest.raises(PlatformError) as many:
            await events_of(url, waits)
        assert waits == [seconds] * 5
    assert asked == ["/v1/rubrics"] * 6 + ["/v1/batches"] * 6
    assert (one.value.code, one.value.message) == (many.value.code, many.value.message) == ("queue_full", "no room")


async def test_what_is_wrong_is_asked_once() -> None:
    statuses, waits = [400, 401, 404, 413, 500], Waits()
    left = list(statuses)

    async def refusing(_: web.Request) -> web.StreamResponse:
        text = '{"code": "bad", "message": "no", "fix": "", "exit_code": null}'
        return web.Response(status=left.pop(0), text=text, headers={"Retry-After": "1"})

    async with answering(refusing) as url, JudgeClient(url, "token", waits) as client:
        for _ in statuses:
            with pytest.raises(ProctorError, match="no"):
                await client.rubrics()
    assert (left, waits) == ([], [])


async def test_a_real_queue_that_is_full_takes_the_batch_once_there_is_room(tmp_path: Path, provider: Any) -> None:
    held = Held()
    async with serving_judge(held) as served:
        provider(served)
        own = {"limits": Limits(waiting=1), "runs_at_once": 1, "agent_vendor": "anthropic"}
        async with judge_service(tmp_path, LIVE, **own) as (service, patient):

            async def let_go() -> None:
                held.let.set()
                while (await patient.ready()).waiting:  # noqa: ASYNC110 - it is told to whoever asks
                    await asyncio.sleep(0)

            for name in "ab":
                body = line_of(vendorless(name))
                sent = request("POST", "/v1/batches?wait=0", body, token=service.token)
                assert (await exchange(service.url, sent)).status == 202
                await held.reached.wait()
            waits = Waits(let_go)
            async with JudgeClient(service.url, service.token, waits) as client:
                _, verdicts, last = await batch(client, [vendorless("c")])
    assert waits == [5.0]
    assert (last.batch.states, list(verdicts)) == ({"done": 1}, ["c"])


async def test_a_sender_past_the_rate_waits_as_long_as_the_service_says(tmp_path: Path) -> None:
    async with judge_service(tmp_path, limits=Limits(requests_a_second=0.1)) as (service, _):
        waits = Waits()
        async with JudgeClient(service.url, service.token, waits) as client:
            await client.rubrics()
            with pytest.raises(PlatformError) as refused:
                await client.rubrics()
    assert refused.value.code == "rate_limited"
    assert waits == [10.0] * 5


@pytest.mark.parametrize("cut", [True, False])
async def test_a_stream_that_is_cut_goes_on_and_gives_each_verdict_once(cut: bool) -> None:
    streams = Streams(
        [ACCEPTED, came(0)],
        [ACCEPTED],
        [ACCEPTED, came(0), came(2)],
        [ACCEPTED, came(0), came(1), came(2), ENDED],
        cut=cut,
    )
    waits = Waits()
    async with answering(streams.answer) as url:
        events = await events_of(url, waits, progress=True)
    assert events == [ACCEPTED, came(0), came(2), came(1), ENDED]
    assert streams.asked == ["POST /v1/batches?progress=1", *["GET /v1/batches/b1/results?progress=1"] * 3]
    assert waits == [1, 2, 1], "a verdict is progress, and the waits begin anew"


@pytest.mark.parametrize("cut", [True, False])
async def test_a_stream_that_brings_nothing_more_is_given_up_in_the_end(cut: bool) -> None:
    streams, waits = Streams([ACCEPTED, came(0)], cut=cut), Waits()
    async with answering(streams.answer) as url:
        with pytest.raises(PlatformError) as stopped:
            await events_of(url, waits)
    assert (stopped.value.code, waits) == ("judge_stopped", [1, 2, 4, 8, 16])
    assert "send the same batch again" in stopped.value.fix


async def test_a_batch_of_which_nobody_knows_whether_it_was_accepted_is_not_taken_up() -> None:
    streams, waits = Streams([]), Waits()
    async with answering(streams.answer) as url:
        with pytest.raises(PlatformError) as cut:
            await events_of(url, waits)
    assert (cut.value.code, waits, len(streams.asked)) == ("judge_unreachable", [], 1)


async def test_a_batch_goes_on_over_a_restart_of_its_service(tmp_path: Path, provider: Any) -> None:
    held = Held()
    async with serving_judge(held) as served:
        provider(served)
        first = await start_service(Settings(tmp_path, (LIVE,), "anthropic", runs_at_once=1, grace=0.0))
        port = int(first.url.rpartition(":")[2])
        second = Settings(tmp_path, (LIVE,), "anthropic", port=port, token=first.token, grace=0.0)
        services = [first]

        async def restart() -> None:
            held.let.set()
            if waits == [1.0]:
                services.append(await start_service(second))

        waits = Waits(restart)
        async with JudgeClient(first.url, first.token, waits) as client:
            events = []
            async for event in client.batch(BatchTerms(), [vendorless(name) for name in "abc"]):
                events.append(event)
                if isinstance(event, BatchAccepted):
                    await held.reached.wait()
                    await first.close()
        await services[-1].close()
    assert len(services) == 2
    verdicts = [event.answer for event in events if isinstance(event, VerdictCame)]
    assert sorted((each.trajectory, each.state) for each in verdicts) == [("a", "done"), ("b", "done"), ("c", "done")]
    assert [type(event) for event in (events[0], events[-1])] == [BatchAccepted, BatchEnded]


async def test_a_service_that_comes_back_without_the_batch_says_so(tmp_path: Path) -> None:
    streams, waits = Streams([ACCEPTED]), Waits()

    async def gone(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return await streams.answer(request)
        text = '{"code": "unknown_batch", "message": "no batch of that id", "fix": "", "exit_code": 2}'
        return web.Response(status=404, text=text)

    async with answering(gone) as url:
        with pytest.raises(UsageError) as unknown:
            await events_of(url, waits)
    assert (unknown.value.code, waits) == ("unknown_batch", [1])


async def test_a_service_that_is_none_of_ours_is_named_as_garbled(tmp_path: Path) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>\nhello\n")

    async with answering(page) as url:
        with pytest.raises(PlatformError) as garbled:
            await events_of(url, Waits())
    assert garbled.value.code == "judge_garbled"
    assert OBEDIENT not in garbled.value.message
