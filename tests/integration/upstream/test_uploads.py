"""A large request passes in one copy, fails a recording, and is given up where the service takes no more of it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from io import BytesIO

import pytest
from aiohttp import ClientSession, web

from proctor.client import ControlClient
from proctor.wire import Mode, SessionSpec
from tests.integration.proxy.raw import canned, raw_service
from tests.integration.serve.support import TOKEN, memory, serve
from tests.integration.upstream.support import configure
from tests.property.counts import count
from tests.support import Project, serving, session

SIZE = count(128, 512) * 2**20
HEADROOM = 64 * 2**20
"""Bytes beside the one copy of the body: pieces on their way, and what an allocator rounds up."""


async def count_bytes(request: web.Request) -> web.StreamResponse:
    """A service that tells how much it was sent, and keeps none of it."""
    size = 0
    while part := await request.content.readany():
        size += len(part)
    return web.json_response({"size": size})


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("mode", ["live", "record"])
@pytest.mark.timeout(600)
async def test_it_is_in_memory_once_and_a_recording_says_no(project: Project, mode: Mode) -> None:
    async with serving(count_bytes) as url:
        configure(project, url)
        async with serve(project) as on, ControlClient(on.ready["control"], TOKEN) as control, ClientSession() as http:
            before = memory(on.process.pid, "VmHWM")
            info = await control.open(SessionSpec(cassette="t", modes={"desk": mode}))
            async with http.put(f"{info.url}/desk/large", data=BytesIO(bytes(SIZE))) as got:
                assert await got.json() == {"size": SIZE}
            grown = (memory(on.process.pid, "VmHWM") - before) * 1024
            summary = await control.close(info.session, 0)
    assert grown < SIZE + HEADROOM
    assert [error.code for error in summary.errors] == (["body_too_large"] if mode == "record" else [])
    assert not summary.sealed
    (row,) = project.trace(info.session)
    assert (row.unkept, row.arguments, row.result) == (SIZE, None, {"size": SIZE})


async def test_a_service_that_takes_no_more_of_it_is_given_up_after_its_time_out(project: Project) -> None:
    async def stops(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            await done.wait()
        writer.transport.abort()

    done = asyncio.Event()
    server = await asyncio.start_server(stops, "127.0.0.1", 0)
    try:
        configure(project, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "timeout = 0.2")
        async with session(project, "t") as run:
            async with run.http.put(run.url("desk", "/x"), data=BytesIO(bytes(32 * 2**20))) as got:
                assert got.status == 504
            summary = await run.close()
    finally:
        done.set()
        server.close()
    (error,) = summary.errors
    assert error.code == "upstream_timeout"
    assert "took no more of the request for 0.2 s" in error.message


async def test_a_service_that_took_all_of_it_and_says_nothing_is_told_as_that(project: Project) -> None:
    async def says_nothing(request: web.Request) -> web.StreamResponse:
        await request.read()
        await done.wait()
        return web.Response()

    done = asyncio.Event()
    async with serving(says_nothing) as url:
        configure(project, url, "timeout = 0.3")
        async with session(project, "t") as run:
            async with run.http.put(run.url("desk", "/x"), data=BytesIO(bytes(4 * 2**20))) as got:
                assert got.status == 504
            summary = await run.close()
        done.set()
    (error,) = summary.errors
    assert "sent nothing for 0.3 s" in error.message


async def test_a_service_that_keeps_saying_that_it_is_at_work_is_waited_for(project: Project) -> None:
    async def works(writer: asyncio.StreamWriter) -> None:
        for _ in range(8):
            writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
            await asyncio.sleep(0.2)
        writer.write(canned(b"done"))

    async with raw_service(works) as service:
        configure(project, service.url, "timeout = 1")
        async with session(project, "t") as run:
            async with run.http.put(run.url("desk", "/x"), data=BytesIO(bytes(4 * 2**20))) as got:
                assert (got.status, await got.read()) == (200, b"done")
            assert (await run.close()).sealed
