"""A request that is not whole when the session closes is waited for, and never sent to the service unrecorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.integration.proxy.raw import canned, ended, port_of, raw_service, request
from tests.support import Project, Running, services, session


@asynccontextmanager
async def half_sent(run: Running) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection whose request has arrived, as its 100 says, and half of whose body is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(run))
    whole = request(run, "desk", "/book", "Expect: 100-continue", method="POST", body=b"ten bytes!")
    writer.write(whole[:-5])
    assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
    yield reader, writer
    await ended(writer)


async def test_an_upload_that_ends_while_the_session_closes_is_recorded(project: Project) -> None:
    async with raw_service(canned(b"booked")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, half_sent(run) as (reader, writer):
            closing = asyncio.create_task(run.close())
            await run.proxy.registry.sessions[run.info.session].closing.wait()
            writer.write(b"ytes!")
            assert (await reader.read()).endswith(b"booked")
            summary = await closing
    assert summary.sealed
    assert [each.request.body for each in project.tape("t").interactions] == [b"ten bytes!"]


async def test_one_that_ends_after_that_is_refused_and_reaches_nobody(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds in ("CLOSING_SECONDS", "_BREAKING_SECONDS"):
        monkeypatch.setattr(f"proctor.proxy.session.{seconds}", 0.05)
    async with raw_service(canned(b"booked")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, half_sent(run) as (reader, writer):
            summary = await run.close()
            writer.write(b"ytes!")
            answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 410 Proctor: session_closed")
    assert service.requests == []
    assert [error.code for error in summary.errors] == ["unfinished"]
    assert not summary.sealed


async def test_one_that_the_agent_breaks_off_is_told_by_its_name(project: Project) -> None:
    async with raw_service(canned(b"booked")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            async with half_sent(run):
                pass
            summary = await run.close()
    assert service.requests == []
    (error,) = summary.errors
    assert (error.code, error.message) == (
        "request_cut",
        "desk POST /book: the agent broke off before its request was whole",
    )
    assert not summary.sealed
