"""Requests that name a session which has ended are counted by it; nothing else of it is kept."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.integration.worlds.support import asked, with_shop
from tests.support import Project, Running, services, serving, session


async def called(run: Running, where: str, headers: dict[str, str] | None = None) -> int:
    """Status of a call to `where` below the sessions' addresses."""
    base = run.info.url.removesuffix(run.info.session)
    async with run.http.post(f"{base}{where}", data=b'{"order_id": "A1"}', headers=headers) as answer:
        return answer.status


async def test_each_way_to_name_an_ended_session_counts_and_what_names_none_does_not(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        name, registry = run.info.session, run.proxy.registry
        await run.control.bind_current(name)
        assert (await asked(run, "query_order", order_id="A1"))[0] == 200
        await run.close(0)
        assert registry.late == {}
        assert await called(run, f"{name}/shop/tools/query_order") == 410
        assert await called(run, f"{name}/_events") == 410
        assert await called(run, "_current/shop/tools/query_order") == 410
        assert await called(run, "_current/shop/tools/query_order", {"x-proctor-session": name}) == 410
        assert await called(run, "nobody/shop/tools/query_order") == 404
        async with run.http.get(f"{run.proxy.url}/_proctor/sessions/{name}/trace") as control:
            assert control.status in (401, 410)
        assert registry.late == {name: 4}


async def test_a_request_that_comes_while_the_session_closes_counts_too(project: Project) -> None:
    arrived, over = asyncio.Event(), asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        arrived.set()
        await over.wait()
        return web.Response()

    async with serving(slow) as url:
        project.configure(services(desk=url))
        async with session(project, "t", "live") as run:
            name = run.info.session
            held = run.proxy.registry.find(name)
            first = asyncio.create_task(called(run, f"{name}/desk/a"))
            await arrived.wait()
            closing = asyncio.create_task(run.close(0))
            await held.closing.wait()
            assert await called(run, f"{name}/desk/b") == 410
            over.set()
            assert await first == 200
            await closing
            assert run.proxy.registry.late == {name: 1}
