"""Sessions and services share a proxy and nothing else."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from proctor.errors import UsageError
from proctor.wire import SessionSpec
from tests.integration.proxy.raw import canned, raw_service, send
from tests.support import Handler, Project, Running, services, serving, session


def named(name: str) -> Handler:
    """A service that says who it is and how often it was asked."""
    asked = 0

    async def answer(_: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        return web.json_response({"service": name, "n": asked})

    return answer


async def ask(run: Running, service: str, path: str = "/same") -> object:
    """What a service answers, or the status of a refusal."""
    async with run.http.get(run.url(service, path)) as answer:
        return await answer.json() if answer.status == 200 else answer.status


async def test_two_services_with_the_same_paths_never_answer_for_each_other(project: Project) -> None:
    async with serving(named("one")) as one, serving(named("two")) as two:
        project.configure(services(one=one, two=two))
        async with session(project, "t") as run:
            recorded = [await ask(run, name) for name in ("one", "two", "two", "one")]
            await ask(run, "two", "/only-two")
            await run.close()
    async with session(project, "t", "replay") as run:
        replayed = [await ask(run, name) for name in ("two", "one", "one", "two")]
        assert replayed == [recorded[1], recorded[0], recorded[3], recorded[2]]
        assert await ask(run, "one", "/only-two") == 422
        assert [miss.service for miss in (await run.close()).misses] == ["one"]


async def test_fifteen_recordings_at_once_make_fifteen_tapes_of_their_own(project: Project) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"path": request.path})

    async with serving(echo) as url:
        project.configure(services(desk=url))
        async with session(project, "first") as first:
            specs = [SessionSpec(cassette=f"many/t{n}", modes={"desk": "record"}) for n in range(15)]
            runs = [Running(first.proxy, first.control, await first.control.open(spec), first.http) for spec in specs]
            await asyncio.gather(*(ask(run, "desk", f"/{n}/{k}") for k in range(4) for n, run in enumerate(runs)))
            await asyncio.gather(*(run.close() for run in runs))
    for number in range(15):
        tape = project.tape(f"many/t{number}")
        assert sorted(each.request.target for each in tape.interactions) == [f"/{number}/{k}" for k in range(4)]


async def taped(project: Project) -> None:
    """Record one call."""
    async with serving(named("desk")) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await ask(run, "desk")
            await run.close()


async def test_a_miss_in_one_session_fails_that_session_only(project: Project) -> None:
    await taped(project)
    async with session(project, "t", "replay") as bad:
        info = await bad.control.open(SessionSpec(cassette="t", modes={"desk": "replay"}))
        good = Running(bad.proxy, bad.control, info, bad.http)
        assert await ask(bad, "desk", "/never") == 422
        assert await ask(good, "desk") == {"service": "desk", "n": 1}
        assert len((await bad.close()).misses) == 1
        summary = await good.close()
    assert (summary.misses, summary.hits, summary.errors) == ((), 1, ())
    assert [row.target for row in project.trace(info.session)] == ["/same"]


async def test_an_id_of_ones_own_serves_one_session_and_is_refused_by_name_afterwards(project: Project) -> None:
    await taped(project)
    spec = SessionSpec(cassette="t", modes={"desk": "replay"}, session="case-1")
    async with session(project, "t", "replay") as first:
        run = Running(first.proxy, first.control, await first.control.open(spec), first.http)
        with pytest.raises(UsageError, match="case-1"):
            await first.control.open(spec)
        await ask(run, "desk")
        assert (await run.close()).hits == 1
        assert await ask(run, "desk") == 410
        with pytest.raises(UsageError, match="case-1"):
            await first.control.open(spec)
    assert [row.target for row in project.trace("case-1")] == ["/same"]


async def test_a_call_past_the_services_is_reported_while_any_session_is_open(project: Project) -> None:
    async with raw_service(canned(b"{}", "Content-Type: application/json")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as first:
            spec = SessionSpec(cassette="u", modes={"desk": "record"})
            second = Running(first.proxy, first.control, await first.control.open(spec), first.http)
            await ask(first, "desk")
            await first.close()
            await ask(second, "desk")
            past = b"CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"
            assert (await send(second, past)).status == 403
            assert [host.host for host in (await second.close()).hosts] == ["api.test:443"]


async def test_a_call_that_names_no_session_fails_every_one_that_is_open(project: Project) -> None:
    async with raw_service(canned(b"{}", "Content-Type: application/json")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as first:
            spec = SessionSpec(cassette="u", modes={"desk": "record"})
            second = Running(first.proxy, first.control, await first.control.open(spec), first.http)
            for run in (first, second):
                await ask(run, "desk")
            for line in ("CONNECT api.test:443", "GET /s/nobody/desk/x", "GET /s/_current/desk/x"):
                await send(first, f"{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            for summary in (await first.close(), await second.close()):
                assert [host.host for host in summary.hosts] == ["api.test:443"]
                assert [miss.code for miss in summary.misses] == ["stray_request", "stray_request"]
                assert not summary.sealed


async def test_current_is_the_one_open_session_again_after_another_has_ended(project: Project) -> None:
    async with serving(named("desk")) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as first:
            spec = SessionSpec(cassette="u", modes={"desk": "record"})
            second = Running(first.proxy, first.control, await first.control.open(spec), first.http)
            await ask(first, "desk")
            await first.close()
            async with first.http.get(f"{first.proxy.url}/s/_current/desk/same") as answer:
                assert answer.status == 200
            assert (await second.close()).recorded == 1
