"""Many clients at once: the calls of a session come one after the other, and sessions know nothing of each other."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.proxy.server import start_proxy
from proctor.wire import SessionInfo, SessionSpec, WorldAnswer
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.integration.worlds.support import PLACE, asked, with_shop
from tests.support import Project, Running, session
from tests.unit.world.shop import Shop
from tests.unit.world.test_tables import applied

BANK = '''
from pydantic import BaseModel

from proctor.world import BusinessError, World, tool


class State(BaseModel):
    balance: int = 0
    entries: list[str] = []


class Bank(World[State]):
    @tool
    def pay_in(self, amount: int) -> str:
        """Read, add, write."""
        before = self.state.balance
        entry = self.new_id("E")
        self.state.entries = [*self.state.entries, f"{entry} {before}+{amount} at {self.now()}"]
        self.state.balance = before + amount
        if amount % 7 == 0:
            raise BusinessError("unlucky", "not with a seven in it")
        return entry
'''
CLIENTS, EACH = 16, 8


def with_bank(project: Project) -> Project:
    project.script("bank.py", BANK)
    project.configure('[services.bank]\nworld = "bank:Bank"\n')
    return project


async def pay_in(http: aiohttp.ClientSession, run: Running, amounts: Iterable[int]) -> list[tuple[int, int, str]]:
    """Amount, status and entry of each call of one client."""
    told = []
    for amount in amounts:
        async with http.post(run.url("bank", "/tools/pay_in"), json={"amount": amount}) as answer:
            told.append((amount, answer.status, str(await answer.json())))
    return told


async def state_bytes(run: Running) -> bytes:
    """The world as the control API tells it, byte for byte."""
    url = f"{run.proxy.url}/_proctor/sessions/{run.info.session}/worlds/bank"
    async with run.http.get(url, headers={"x-proctor-token": run.proxy.token}) as answer:
        return await answer.read()


async def test_no_update_of_many_clients_is_lost_and_the_log_is_their_one_order(project: Project) -> None:
    shares = [range(1 + client, 1 + CLIENTS * EACH, CLIENTS) for client in range(CLIENTS)]
    async with session(with_bank(project), "case", "world", seed=5) as run, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(aiohttp.ClientSession()) for _ in shares]
        told = await asyncio.gather(*(pay_in(http, run, share) for http, share in zip(clients, shares, strict=True)))
        world = await run.control.world(run.info.session, "bank")
        together = await state_bytes(run)
        summary = await run.close()
    done = [each for one in told for each in one if each[1] == 200]
    assert sorted(amount for amount, _, _ in done) == [n for n in range(1, 1 + CLIENTS * EACH) if n % 7]
    assert world.state["balance"] == sum(amount for amount, _, _ in done)
    assert {entry.partition(" ")[0] for entry in world.state["entries"]} == {entry for _, _, entry in done}
    rows = project.trace(summary.session)
    calls = [number for number, row in enumerate(rows, 1) if row.changed]
    assert [write.call for write in world.log] == calls
    assert world.calls == len(rows) == CLIENTS * EACH
    state: Any = {"balance": 0, "entries": []}
    for write in world.log:
        state = applied(write.patch, state)
    assert state == world.state
    async with session(project, "case", "world", seed=5) as run:
        async with aiohttp.ClientSession() as http:
            await pay_in(http, run, [row.arguments["amount"] for row in rows])
        assert await state_bytes(run) == together


async def test_the_log_of_calls_that_all_write_has_no_gap(project: Project) -> None:
    async with session(with_bank(project), "case", "world") as run:
        await asyncio.gather(*(pay_in(run.http, run, [1, 2, 3]) for _ in range(20)))
        world = await run.control.world(run.info.session, "bank")
    assert [write.call for write in world.log] == list(range(1, 61))


async def test_a_reset_between_calls_that_go_on_leaves_a_whole_state(project: Project) -> None:
    async with session(with_bank(project), "case", "world") as run:

        async def reset() -> None:
            for _ in range(5):
                await run.control.reset_world(run.info.session, "bank")

        await asyncio.gather(reset(), *(pay_in(run.http, run, [2] * 10) for _ in range(8)))
        world = await run.control.world(run.info.session, "bank")
        assert world.calls == len(world.log) == len(world.state["entries"])
        assert world.state["balance"] == 2 * len(world.log)
        assert [write.call for write in world.log] == list(range(1, 1 + world.calls))
        await run.control.reset_world(run.info.session, "bank")
        assert (await pay_in(run.http, run, [2])) == (await replayed(run, [2]))


async def replayed(run: Running, amounts: list[int]) -> list[tuple[int, int, str]]:
    """The same after one more reset."""
    await run.control.reset_world(run.info.session, "bank")
    return await pay_in(run.http, run, amounts)


KIND = WorldKind(Shop)
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("place_order", PLACE),
    ("cancel_order", {"order_id": "A1"}),
    ("cancel_order", {"order_id": "A2"}),
    ("calc_refund", {"order_id": "A1"}),
    ("calc_refund", {"order_id": "none"}),
    ("query_order", {"order_id": "A1"}),
    ("get_token", {}),
    ("roll_dice", {}),
    ("list_orders", {"limit": 0}),
    ("dump_all", {}),
]
IDS = re.compile(r"\b(?:ORD|RF|tok)-[A-Z2-7]{8}\b")


def script(number: int) -> list[tuple[str, dict[str, Any], str]]:
    """What the agent of a session does: another thing in each."""
    chance = random.Random(number)
    return [(*chance.choice(TOOLS), chance.choice(["alice", "bob"])) for _ in range(4 + number % 5)]


def alone(number: int) -> tuple[list[tuple[int, Any]], WorldSession]:
    """What these calls come to where there is no other session."""
    world = WorldSession(KIND, number)
    answers = [world.call(tool, json.dumps(given).encode(), caller) for tool, given, caller in script(number)]
    return [(answer.status, json.loads(answer.body)) for answer in answers], world


async def test_sixty_four_sessions_of_one_proxy_are_each_as_if_alone(project: Project) -> None:
    proxy = await start_proxy(load_config(with_shop(project).root / CONFIG_NAME))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(proxy.close)
        control = await stack.enter_async_context(ControlClient(proxy.url, proxy.token))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        spec = SessionSpec(cassette="case", modes={"shop": "world"})
        infos = [await control.open(spec.model_copy(update={"seed": number})) for number in range(64)]

        async def agent(number: int) -> list[tuple[int, Any]]:
            run = Running(proxy, control, infos[number], http)
            return [await asked(run, tool, caller, **given) for tool, given, caller in script(number)]

        together = await asyncio.gather(*map(agent, range(64)))
        worlds = [await control.world(info.session, "shop") for info in infos]
    ids: list[set[str]] = []
    for number, (answers, world) in enumerate(zip(together, worlds, strict=True)):
        expected, lone = alone(number)
        assert answers == expected
        assert (world.state, world.diff, world.calls) == (lone.state(), lone.diff(), lone.calls)
        assert [(each.call, each.tool, each.patch) for each in world.log] == lone.log
        ids.append(set(IDS.findall(f"{answers} {world.state}")))
    assert sum(map(len, ids)) == len(set().union(*ids)) > 64


@pytest.mark.parametrize("given", [None, {"shop": {"orders": {"A1": {}}}}])
async def test_a_session_finds_nothing_of_what_another_left_dirty(project: Project, given: Any) -> None:
    with_shop(project)
    more = {} if given is None else {"worlds": given}

    async def seen() -> tuple[SessionInfo, WorldAnswer, WorldAnswer]:
        async with session(project, "case", "world", **more) as run:
            start = await run.control.world(run.info.session, "shop")
            for tool, arguments, caller in [*script(3), *script(4), ("break_down", {"how": "throw"}, "")]:
                await asked(run, tool, caller, **arguments)
            return run.info, start, await run.control.world(run.info.session, "shop")

    (_, start, left), (_, again, left_again) = await seen(), await seen()
    assert start == again != left
    assert left == left_again


HIDING = '''
from pydantic import BaseModel

from proctor.world import World, tool


class State(BaseModel):
    seen: list[str] = []


class Hiding(World[State]):
    known: list[str] = []

    @tool
    def meet(self, name: str) -> list[str]:
        """Meet somebody, and keep the name where every session sees it."""
        self.known.append(name)
        return self.known

    @tool
    def look(self) -> list[str]:
        """Tell whom anybody has met."""
        return self.known
'''


async def test_what_a_tool_leaves_on_its_class_is_refused_and_reaches_no_other_session(project: Project) -> None:
    project.script("hiding.py", HIDING)
    project.configure('[services.hiding]\nworld = "hiding:Hiding"\n')

    async def call(run: Running, tool: str, **arguments: Any) -> tuple[int, Any]:
        async with run.http.post(run.url("hiding", f"/tools/{tool}"), json=arguments) as answer:
            return answer.status, await answer.json()

    async with session(project, "one", "world") as one, session(project, "two", "world") as two:
        status, told = await call(one, "meet", name="ann")
        assert (status, told["error"]) == (500, "world_shared")
        assert "Hiding.known" in told["message"]
        assert await call(one, "look") == await call(two, "look") == (200, [])
        summary = await one.close()
    assert [error.code for error in summary.errors] == ["world_shared"]
