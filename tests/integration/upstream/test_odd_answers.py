"""Old, slow, oversize and malformed answers come through, or are told in plain words."""

from __future__ import annotations

import socket

import pytest
from aiohttp import ClientError, web

from tests.integration.proxy.raw import raw_service
from tests.integration.upstream.odd import FINE, NO_HTTP, never, then_closes
from tests.integration.upstream.support import ask, configure, say_ok
from tests.support import Project, session


@pytest.mark.parametrize("kind", FINE)
async def test_it_comes_through_and_is_replayed(project: Project, kind: str) -> None:
    data, body = FINE[kind]
    async with raw_service(data) as service:
        configure(project, service.url)
        recorded = await ask(project)
    assert (recorded.status, recorded.error, recorded.body) == (200, "", body), recorded.told
    replayed = await ask(project, "replay")
    assert (replayed.status, replayed.body) == (200, body)


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
