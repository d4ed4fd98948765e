"""Old, slow, oversize and malformed answers come through, or are told in plain words."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket

import pytest
from aiohttp import ClientError, web

from tests.integration.proxy.raw import Answering, Canned, canned, chunk, raw_service
from tests.integration.upstream.support import ask, configure, say_ok
from tests.support import Project, session

LONG = 60_000


def then_closes(data: bytes) -> Answering:
    """An answer that ends with its connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return answer


def byte_by_byte(data: bytes) -> Answering:
    """An answer of which every byte is sent alone."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for at in range(len(data)):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)

    return answer


async def never(writer: asyncio.StreamWriter) -> None:
    """No answer at all."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


FINE: dict[str, tuple[Canned, str]] = {
    "HTTP/1.0": (then_closes(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"), "old"),
    "HTTP/1.0 with a length": (then_closes(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"), "old"),
    "until the connection closes": (
        then_closes(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end"),
        "to the end",
    ),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + canned(b"after"), "after"),
    "two interim answers": (b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 E\r\n\r\n" + canned(b"after"), "after"),
    "a long header": (canned(b"{}", "X-Long: " + "a" * LONG), "{}"),
    "many headers": (canned(b"{}", *(f"X-{n}: {n}" for n in range(900))), "{}"),
    "byte by byte": (byte_by_byte(canned(b"slowly")), "slowly"),
    "an old word for no transfer coding": (
        then_closes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nplain"),
        "plain",
    ),
    "no reason": (canned(b"{}", status="200"), "{}"),
}


@pytest.mark.parametrize("kind", FINE)
async def test_it_comes_through_and_is_replayed(project: Project, kind: str) -> None:
    data, body = FINE[kind]
    async with raw_service(data) as service:
        configure(project, service.url)
        recorded = await ask(project)
    assert (recorded.status, recorded.error, recorded.body) == (200, "", body), recorded.told
    replayed = await ask(project, "replay")
    assert (replayed.status, replayed.body) == (200, body)


NO_HTTP = {
    "another protocol": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "see what listens there"),
    "no number for a status": (b"HTTP/1.1 OK\r\n\r\n", "see what listens there"),
    "a header without a colon": (b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "see what listens there"),
    "a header over 64 KiB": (canned(b"{}", "X-Long: " + "a" * 70_000), "a line of its head is longer than 64 KiB"),
    "over 1024 headers": (canned(b"{}", *(f"X-{n}: {n}" for n in range(1_100))), "it has over 1024 headers"),
    "a malformed chunk": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"four") + b"zz\r\n",
        "see what listens there",
    ),
    "a length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"{}") + chunk(b""),
        "it has both Content-Length and Transfer-Encoding",
    ),
    "chunks and a length": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + chunk(b"{}") + chunk(b""),
        "have the service, or what stands before it, send one of the two",
    ),
    "a control character in a header": (canned(b"{}", "X-Name: a\x01b"), 'in its header "X-Name"'),
    "a control character in the status line": (canned(b"{}", status="200 O\x7fK"), "in its status line"),
    "a transfer coding that nobody asked for": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk(gzip.compress(b"{}")) + chunk(b""),
        "its body comes with Transfer-Encoding: gzip, chunked",
    ),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "no HTTP answer"),
}


@pytest.mark.parametrize("kind", NO_HTTP)
async def test_what_is_no_http_is_told_as_that_and_not_recorded(project: Project, kind: str) -> None:
    data, told = NO_HTTP[kind]
    async with raw_service(then_closes(data)) as service:
        configure(project, service.url)
        refused = await ask(project)
    assert (refused.status, refused.error) == (502, "upstream_malformed"), refused
    assert told in refused.told
    assert not refused.summary.sealed


async def test_a_length_that_lies_is_broken_off_for_the_agent_and_says_why(project: Project) -> None:
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"
    async with raw_service(then_closes(short)) as service:
        configure(project, service.url)
        async with session(project, "t") as run:
            with pytest.raises(ClientError):
                async with run.http.get(run.url("desk", "/x")) as got:
                    await got.read()
            summary = await run.close()
    (error,) = summary.errors
    assert error.code == "answer_cut"
    assert "4 of 10 bytes came" in error.message
    assert not summary.sealed


async def test_a_service_that_says_nothing_is_given_up_after_its_time_out(project: Project) -> None:
    async with raw_service(never) as service:
        configure(project, service.url, "timeout = 0.2")
        refused = await ask(project)
    assert (refused.status, refused.error) == (504, "upstream_timeout")
    assert "sent nothing for 0.2 s" in refused.told
    assert "timeout = SECONDS in [services.desk]" in refused.told


async def test_a_service_on_ipv6_is_asked(project: Project) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    runner = web.ServerRunner(web.Server(say_ok))  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "::1", 0).start()
    try:
        configure(project, f"http://[::1]:{runner.addresses[0][1]}")
        recorded = await ask(project)
    finally:
        await runner.cleanup()
    assert (recorded.status, recorded.error) == (200, "")
    assert (await ask(project, "replay")).body == recorded.body
