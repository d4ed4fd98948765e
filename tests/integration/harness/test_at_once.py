"""How many trials run at the same time."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from tests.integration.harness.shop import case, ends, run, set_up
from tests.support import Project, serving


class Crowd:
    """An agent that answers nobody until so many are there, and counts how many there were at most."""

    def __init__(self, size: int) -> None:
        self.size, self.here, self.most = size, 0, 0
        self.met = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        await request.json()
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here == self.size:
            self.met.set()
        await self.met.wait()
        self.here -= 1
        return web.json_response({"reply": "Nothing to do."})


@pytest.mark.req(207)
@pytest.mark.parametrize(
    ("size", "options", "cap"), [("smoke", (), 8), ("full", (), 32), ("smoke", ("--at-once", "3"), 3)]
)
async def test_a_smoke_suite_runs_eight_trials_at_once_and_a_full_one_thirty_two(
    project: Project, size: str, options: tuple[str, ...], cap: int
) -> None:
    crowd = Crowd(cap)
    async with serving(crowd.answer) as url:
        set_up(project, "", [case("a", "Hello.", expect={"says": ["Nothing"]})], f'[agent]\nurl = "{url}"', size=size)
        _, told = await run(project, "--trials", "40", *options)
    assert (crowd.most, ends(told)["a"]) == (cap, ("pass", ""))
