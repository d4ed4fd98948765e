"""Answers are relayed as they come; only the end of a body waits for the journal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from aiohttp import ClientPayloadError, web

from proctor.wire import SessionSpec
from tests.integration.proxy.raw import raw_service
from tests.support import Project, Running, services, serving, session

EVENTS = [b'data: {"n": %d}\n\n' % n for n in range(4)] + [b"data: [DONE]\n\n"]


def journal_of(project: Project) -> Path:
    """The journal of the one recording that runs."""
    return next(project.layout.journals.glob("*.jsonl"))


def journalled(project: Project) -> list[str]:
    """The kinds of line that the journal holds at this moment."""
    return [json.loads(line)["line"] for line in journal_of(project).read_bytes().splitlines()]


class Lockstep:
    """A service that sends its next event only once the test has received the one before."""

    def __init__(self) -> None:
        self.received = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in EVENTS:
            await response.write(event)
            await self.received.wait()
            self.received.clear()
        await response.write_eof()
        return response


async def test_each_event_reaches_the_client_before_the_next_is_sent(project: Project) -> None:
    service = Lockstep()
    async with serving(service.answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run, run.http.get(run.url("desk", "/")) as answer:
            for event in EVENTS:
                assert await answer.content.readexactly(len(event)) == event
                assert journalled(project) == ["session"]
                service.received.set()
            assert await answer.content.read() == b""
            assert journalled(project) == ["session", "interaction"]
            assert (await run.close()).sealed
    assert project.tape("t").interactions[0].response.body == b"".join(EVENTS)


async def test_the_head_of_an_answer_does_not_wait_for_its_body(project: Project) -> None:
    release = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"X-Early": "yes"})
        await response.prepare(request)
        await release.wait()
        await response.write(b"late")
        return response

    async with serving(slow) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run, run.http.get(run.url("desk", "/")) as answer:
            assert answer.headers["X-Early"] == "yes"
            release.set()
            assert await answer.read() == b"late"


async def test_of_a_known_length_only_the_last_piece_waits_for_the_journal(project: Project) -> None:
    received = asyncio.Event()

    async def two_pieces(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "10"})
        await response.prepare(request)
        await response.write(b"first")
        await received.wait()
        await response.write(b"-last")
        return response

    async with serving(two_pieces) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run, run.http.get(run.url("desk", "/")) as answer:
            assert await answer.content.readexactly(5) == b"first"
            assert journalled(project) == ["session"]
            received.set()
            assert await answer.content.readexactly(5) == b"-last"
            assert journalled(project) == ["session", "interaction"]


async def test_a_client_that_leaves_early_does_not_spoil_the_recording(project: Project) -> None:
    gone = asyncio.Event()

    async def patient(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(EVENTS[0])
        await gone.wait()
        for event in EVENTS[1:]:
            await response.write(event)
        return response

    async with serving(patient) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            answer = await run.http.get(run.url("desk", "/"))
            await answer.content.readexactly(len(EVENTS[0]))
            answer.close()
            gone.set()
            summary = await run.close()
    assert summary.sealed
    assert project.tape("t").interactions[0].response.body == b"".join(EVENTS)


async def test_an_answer_that_breaks_off_is_never_whole_again(project: Project) -> None:
    async def breaks_off(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    async with raw_service(breaks_off) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            with pytest.raises((ClientPayloadError, ConnectionError)):
                await (await run.http.get(run.url("desk", "/"))).read()
            summary = await run.close()
    assert not summary.sealed
    assert "the answer broke off" in " ".join(summary.aside_reasons)
    assert [error.code for error in summary.errors] == ["answer_cut"]


async def ordered(run: Running, number: int) -> list[int]:
    """What one session gets for the same request, `number` times."""
    return [(await (await run.http.get(run.url("desk", "/next"))).json())["n"] for _ in range(number)]


async def test_many_sessions_on_one_tape_each_get_their_answers_in_order_and_then_the_last(project: Project) -> None:
    count = iter(range(100))

    async def counter(_: web.Request) -> web.StreamResponse:
        return web.json_response({"n": next(count)})

    async with serving(counter) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            recorded = await ordered(run, 4)
            await run.close()
    async with session(project, "t", "replay") as first:
        spec = SessionSpec(cassette="t", modes={"desk": "replay"})
        others = [await first.control.open(spec) for _ in range(15)]
        runs = [Running(first.proxy, first.control, info, first.http) for info in others]
        got = await asyncio.gather(*(ordered(run, 6) for run in runs))
        told = await runs[0].close()
    assert (told.hits, told.repeated) == (6, 2)
    assert got == [[*recorded, recorded[-1], recorded[-1]]] * 15


async def test_recordings_equal_in_meaning_answer_once_those_equal_in_bytes_are_used_up(project: Project) -> None:
    count = iter(range(10))

    async def counter(_: web.Request) -> web.StreamResponse:
        return web.json_response({"n": next(count)})

    async def ask(run: Running, body: bytes) -> int:
        answer = await run.http.post(run.url("desk", "/w"), data=body, headers={"Content-Type": "application/json"})
        return (await answer.json())["n"] if answer.status == 200 else answer.status

    async with serving(counter) as url:
        project.configure(services(desk=url) + 'writes = ["*"]\n')
        async with session(project, "t") as run:
            assert [await ask(run, body) for body in (b'{"a":1}', b'{"a": 1}')] == [0, 1]
            await run.close()
    async with session(project, "t", "replay") as run:
        assert [await ask(run, b'{"a":1}') for _ in range(3)] == [0, 1, 422]
        summary = await run.close()
    assert [row.match for row in project.trace(run.info.session)][:2] == ["exact", "canonical"]
    assert (summary.unused, [miss.code for miss in summary.misses]) == ((), ["used_up"])
