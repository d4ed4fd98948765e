"""Four calls that ran at the same time are replayed in every order, and at once: each gets its own answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain, cycle, islice, permutations

from aiohttp import web

from proctor.wire import SessionSpec
from tests.support import Handler, Project, Running, services, serving, session

TOOLS = 'tools = "POST /tools/{tool}"\nreads = ["query_*"]\nwrites = ["take"]\n'
CALLS = (("query_stock", "A"), ("query_stock", "B"), ("take", "A"), ("query_price", "A"))
RUNS = 200


def all_at_once() -> Handler:
    """Answers only when all four calls have arrived, so that they surely overlap."""
    arrived: list[str] = []
    everybody = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        item = (await request.json())["item"]
        arrived.append(request.path)
        if len(arrived) == len(CALLS):
            everybody.set()
        await everybody.wait()
        return web.json_response({"tool": request.path.rpartition("/")[2], "item": item})

    return answer


async def call(run: Running, url: str, tool: str, item: str) -> tuple[str, str]:
    async with run.http.post(f"{url}/desk/tools/{tool}", json={"item": item}) as answer:
        told = await answer.json()
        return told.get("tool"), told.get("item")


async def record(project: Project) -> None:
    async with serving(all_at_once()) as url:
        project.configure(services(desk=url) + TOOLS)
        async with session(project, "t") as run:
            await asyncio.gather(*(call(run, run.info.url, *each) for each in CALLS))
            assert (await run.close()).sealed


async def test_each_gets_its_own_answer_and_no_state_differs_in_any_order(project: Project) -> None:
    await record(project)
    orders = islice(cycle(permutations(CALLS)), RUNS)
    async with session(project, "t", "replay") as run:
        for number, order in enumerate(orders):
            info = await run.control.open(SessionSpec(cassette="t", modes={"desk": "replay"}))
            got = await replayed(run, info.url, order, at_once=number % 2 == 1)
            assert got == list(order)
            summary = await run.control.close(info.session, 0)
            assert (summary.hits, summary.misses, summary.other_states) == (len(CALLS), (), ())
            rows = {row.tool: row for row in project.trace(info.session)}
            assert not any(row.state_distance for row in rows.values())
            assert list(chain(rows["query_price"].beside, rows["take"].beside)) == [f"#{taken(project)} desk take"]


async def replayed(run: Running, url: str, order: Sequence[tuple[str, str]], *, at_once: bool) -> list[tuple[str, str]]:
    if at_once:
        return list(await asyncio.gather(*(call(run, url, *each) for each in order)))
    return [await call(run, url, *each) for each in order]


def taken(project: Project) -> int:
    """The place of the write on the tape."""
    return next(each.index for each in project.tape("t").interactions if each.tool == "take")
