"""A new call that carries a value which staging has otherwise is never taken onto a tape unseen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.integration.cli.support import put_aside, record, replay
from tests.support import Project, serving

TOML = """
[services.desk]
url = "env:DESK_AT"
env = ["DESK_URL"]
reads = ["/orders/*"]
writes = ["/orders", "/orders/*/refund"]
"""
NEW = ("--mode", "desk=new_episodes")
BEGIN = """
made = call(DESK + "/orders", {"what": "lamp"})[1]
order = HOW(made)
"""
REFUND = 'print(call(DESK + f"/orders/{order}/refund", {"order": order}))\n'
HOW = {
    "number": 'json.loads(made)["order_id"]',
    "sentence": '__import__("re").search(r"order ([0-9]+)", made)[1]',
    "short": 'json.loads(made)["code"]',
}


@asynccontextmanager
async def shop(first: int) -> AsyncIterator[str]:
    """A shop whose order numbers begin there, in which every order is somebody's."""
    orders: list[int] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        if request.path == "/orders":
            orders.append(number := first + len(orders))
            code = f"a{number % 10}"
            return web.json_response({"order_id": number, "say": f"your order {number} is on its way", "code": code})
        return web.json_response({"refunded": request.path})

    async with serving(answer) as url:
        yield url


def agent_with(how: str, rest: str) -> str:
    return BEGIN.replace("HOW(made)", HOW[how]) + rest


@pytest.mark.parametrize("how", HOW)
async def test_what_cannot_be_mapped_puts_the_new_calls_aside_with_the_value_named(project: Project, how: str) -> None:
    project.configure(TOML)
    async with shop(17) as at:
        assert (await record(project, agent_with(how, ""), env={"DESK_AT": at})).status == 0
    before = project.layout.cassette("t").read_bytes()
    old: dict[str, Any] = json.loads(project.tape("t").interactions[0].response.body)
    async with shop(42) as at:
        done = await replay(project, agent_with(how, REFUND), *NEW, env={"DESK_AT": at})
    value = old["code"] if how == "short" else old["order_id"]
    told = f"desk POST /orders/{value}/refund carries {value}, which staging has otherwise"
    assert done.status == 1, done.stderr
    assert f"not sealed: {told}" in done.stderr
    assert told in put_aside(project.layout)
    assert project.layout.cassette("t").read_bytes() == before


async def test_a_number_that_staging_has_too_is_no_reason(project: Project) -> None:
    project.configure(TOML)
    async with shop(17) as at:
        assert (await record(project, agent_with("number", ""), env={"DESK_AT": at})).status == 0
    async with shop(17) as at:
        done = await replay(project, agent_with("number", REFUND), *NEW, env={"DESK_AT": at})
    assert done.status == 0, done.stderr
    assert len(project.tape("t").interactions) == 2
