"""D2: a client that closes right after the final event must not cost the recording; a real abort must be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from proctor.proxy import session as sessions
from proctor.resealing import accept_aside
from proctor.trace import SessionSummary
from tests.integration.cases.stream_clients import STREAM_CLIENTS
from tests.integration.proxy.raw import raw_service
from tests.integration.proxy.streaming import Reader, Steps, openai_chat, reading
from tests.support import Project, Running, services, session

PIECES = openai_chat("Shipped ", "yesterday.")


@asynccontextmanager
async def left_after(project: Project, steps: Steps, events: int) -> AsyncIterator[Running]:
    """A recording whose client leaves after so many events, once the proxy has seen that it did."""
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            async with reading(run) as client:
                await taken(client, steps, events)
            await run.control.session(run.info.session)  # the proxy's loop has come round
            yield run


async def taken(client: Reader, steps: Steps, events: int) -> None:
    """The service sends so many events, and the client reads them."""
    for _ in range(events):
        steps.next()
        await client.chunk()


def journalled(project: Project) -> bool:
    """Whether the journal of the recording holds an exchange by now."""
    (journal,) = project.layout.journals.glob("*.jsonl")
    return any(json.loads(line)["line"] == "interaction" for line in journal.read_bytes().splitlines())


def assert_whole(project: Project, summary: SessionSummary, run: Running) -> None:
    """The stream is on the tape to its end, and the trace says that the client did not wait for that."""
    assert (summary.sealed != "", summary.errors) == (True, ())
    kept = project.tape("t").interactions[0].response
    assert (kept.body, kept.complete) == (b"".join(PIECES), True)
    assert kept.pieces is not None
    assert kept.pieces.lengths == tuple(map(len, PIECES))
    (row,) = project.trace(run.info.session)
    assert (row.client_gone, row.cut) == (True, False)


async def test_a_client_that_closes_after_done_leaves_a_whole_recording(project: Project) -> None:
    steps = Steps(PIECES)
    async with left_after(project, steps, len(PIECES)) as run:
        assert not journalled(project)
        steps.next()
        summary = await run.close()
    assert_whole(project, summary, run)
    async with session(project, "t", "replay") as run, reading(run) as client:
        assert await client.chunks() == PIECES


@pytest.mark.parametrize("events", [1, 2], ids=["after the first event", "in the middle"])
async def test_the_rest_is_read_when_a_client_breaks_off(project: Project, events: int) -> None:
    steps = Steps(PIECES)
    async with left_after(project, steps, events) as run:
        steps.next(len(PIECES) - events + 1)
        summary = await run.close()
    assert_whole(project, summary, run)


async def test_the_rest_is_read_when_a_client_leaves_before_any_event(project: Project) -> None:
    steps = Steps(PIECES)
    async with left_after(project, steps, 0) as run:
        steps.next(len(PIECES) + 1)
        summary = await run.close()
    assert_whole(project, summary, run)


async def test_a_stream_that_the_service_cuts_after_the_client_left_is_kept_as_cut(project: Project) -> None:
    steps = Steps(PIECES[:3], ending="cut")
    async with left_after(project, steps, 1) as run:
        steps.next(4)
        summary = await run.close()
    assert (summary.sealed, summary.recorded) == ("", 1)
    assert [error.code for error in summary.errors] == ["answer_cut"]
    assert any("the answer broke off" in reason for reason in summary.aside_reasons)
    (row,) = project.trace(run.info.session)
    assert (row.client_gone, row.cut) == (True, True)


async def test_an_abandoned_stream_that_never_ends_is_broken_off_when_its_session_closes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CLOSING_SECONDS", 0.05)
    steps = Steps(PIECES[:2], ending="silent")
    async with left_after(project, steps, 2) as run:
        summary = await run.close()
    assert (summary.sealed, summary.recorded) == ("", 1)
    assert [(error.code, error.message) for error in summary.errors] == [
        ("answer_unended", "desk GET /stream: it had no end when the session closed; what had come is kept as cut")
    ]
    (row,) = project.trace(run.info.session)
    assert (row.client_gone, row.cut) == (True, True)
    accept_aside(project.layout, "t", None)
    kept = project.tape("t").interactions[0].response
    assert (kept.body, kept.complete) == (b"".join(PIECES[:2]), False)
    async with session(project, "t", "replay") as run, reading(run) as client:
        assert await client.chunks(2) == PIECES[:2]
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.chunk()


async def test_a_stream_that_never_ends_is_broken_for_a_client_that_still_listens(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CLOSING_SECONDS", 0.05)
    steps = Steps(PIECES[:2], ending="silent")
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as client:
            await taken(client, steps, 2)
            summary = await run.close()
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await client.chunk()
    assert [error.code for error in summary.errors] == ["answer_unended"]
    assert not project.trace(run.info.session)[0].client_gone


@pytest.mark.parametrize("client", STREAM_CLIENTS)
async def test_real_clients_that_leave_after_the_final_event_leave_a_whole_recording(
    project: Project, client: str
) -> None:
    final = len(PIECES) - 1 if client == "by_openai" else len(PIECES)  # the SDK shows no `[DONE]`
    steps = Steps(PIECES)
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url) + 'preset = "openai"\n')
        async with session(project, "t") as run:
            async with aclosing(STREAM_CLIENTS[client](run.url("desk"))) as stream:
                steps.next(final)
                size = 0
                while size < final:
                    size += len((await anext(stream)).split(b"\n\n")) - 1 or 1
            steps.next(len(PIECES) - final + 1)
            summary = await run.close()
    assert (summary.sealed != "", summary.recorded, summary.errors) == (True, 1, ())
    kept = project.tape("t").interactions[0].response
    assert (kept.body, kept.complete) == (b"".join(PIECES), True)
