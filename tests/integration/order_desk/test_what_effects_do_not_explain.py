"""On the real order desk: a wrong effect and a writer outside are reported where they show, and here where they do not.

See "What it rests on" in docs/state.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession

from proctor.trace import SessionSummary
from tests.property.desk_runs import Call, ask, desk, run, token_of
from tests.support import Project, Running, session

QUERY = Call("query_order", {"order_id": "CN1002"})
OTHER = Call("query_order", {"order_id": "CN1001"})
MOVE = Call("change_address", {"order_id": "CN1002", "address": "上海市 7 号"})
RIGHT = 'reads = ["query_*"]\nwrites = ["get_token", "calc_*", "create_*", "change_*"]'
MOVES_READ = 'reads = ["query_*", "change_*"]\nwrites = ["get_token", "calc_*", "create_*"]'
QUERIES_WRITE = 'writes = ["get_token", "query_*", "calc_*", "create_*", "change_*"]'
SERVICE = '[services.{name}]\nurl = "{url}"\ntools = "POST /tools/{{tool}}"\n{effects}\n'


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with desk() as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[ClientSession]:
    async with ClientSession() as client:
        yield client


async def recorded(project: Project, url: str, effects: str, *calls: Call) -> tuple[list[Any], SessionSummary]:
    """Record the calls; gives their answers and the summary."""
    project.configure(SERVICE.format(name="orders", url=url, effects=effects))
    async with session(project, "t") as running:
        answers = await run(running.http, running.url("orders"), calls)
        summary = await running.close()
    assert summary.sealed
    return answers, summary


@asynccontextmanager
async def asking(project: Project, url: str) -> AsyncIterator[tuple[Running, Callable[[Call], Awaitable[Any]]]]:
    """A recording with right effects that is still open, and what makes a call of one customer in it."""
    project.configure(SERVICE.format(name="orders", url=url, effects=RIGHT))
    async with session(project, "t") as running:
        orders = running.url("orders")
        token = await token_of(running.http, orders)
        yield running, lambda call: ask(running.http, orders, call, token)


async def replayed(project: Project, *calls: Call) -> tuple[list[Any], SessionSummary]:
    """Replay the tape with other calls."""
    async with session(project, "t", "replay") as running:
        answers = await run(running.http, running.url("orders"), calls)
        return answers, await running.close()


async def test_a_write_declared_as_a_read_shows_where_a_question_was_asked_before_and_after(
    project: Project, url: str
) -> None:
    answers, summary = await recorded(project, url, MOVES_READ, QUERY, MOVE, QUERY)
    assert answers[0] != answers[2]
    (doubt,) = summary.unexplained
    assert (doubt.service, doubt.name, doubt.first, doubt.second) == ("orders", "query_order", 1, 3)
    assert doubt.where == ("/address", "/served_at", "/request_id")


async def test_with_right_effects_the_same_calls_raise_no_doubt(project: Project, url: str) -> None:
    answers, summary = await recorded(project, url, RIGHT, QUERY, MOVE, QUERY)
    assert answers[0] != answers[2]
    assert summary.unexplained == ()


async def test_a_write_declared_as_a_read_is_silent_where_nothing_was_asked_twice(project: Project, url: str) -> None:
    """The limit that docs/state.md names: no rule can see it, and a replay is wrong without a word."""
    async with ClientSession() as http:
        (true,) = await run(http, url, [QUERY])
    (_, after), summary = await recorded(project, url, MOVES_READ, MOVE, QUERY)
    assert summary.unexplained == ()
    (early, _), again = await replayed(project, QUERY, MOVE)
    assert early == after != true, "answered with an address that has not been changed yet"
    assert (again.misses, again.other_states) == ((), ())
    assert [row.state_distance for row in project.trace(again.session)] == [0, 0, 0]


async def test_the_same_calls_with_right_effects_are_answered_and_say_so(project: Project, url: str) -> None:
    await recorded(project, url, RIGHT, MOVE, QUERY)
    _, again = await replayed(project, QUERY, MOVE)
    (other,) = again.other_states
    assert (other.name, other.distance) == ("query_order", 1)


async def test_a_writer_outside_shows_where_a_question_was_asked_before_and_after(
    project: Project, url: str, http: ClientSession
) -> None:
    async with asking(project, url) as (running, made):
        before = await made(QUERY)
        await run(http, url, [MOVE])  # a colleague, past the proxy
        assert await made(QUERY) != before
        summary = await running.close()
    (doubt,) = summary.unexplained
    assert (doubt.name, doubt.first, doubt.second, doubt.count) == ("query_order", 1, 2, 1)
    ended = await project.proctor("session", "show")
    assert "note        orders query_order answered differently at #1 and #2 with no write between: " in ended.stdout
    assert "a writer outside, a wrong effect, or a value that changes (a clock); see docs/state.md" in ended.stdout
    told = await project.proctor("effects", "t")
    assert "t: orders query_order answered differently at #1 and #2 with no write between: " in told.stdout


async def test_a_write_through_another_service_shows_until_both_are_in_one_state_group(
    project: Project, url: str
) -> None:
    apart = RIGHT
    together = f'{RIGHT}\nstate_group = "desk"'
    doubts = []
    for effects in (apart, together):
        project.configure(
            SERVICE.format(name="orders", url=url, effects=effects)
            + SERVICE.format(name="addresses", url=url, effects=effects)
        )
        async with session(project, "t") as running:
            orders, addresses = running.url("orders"), running.url("addresses")
            token = await token_of(running.http, orders)
            await ask(running.http, orders, QUERY, token)
            await ask(running.http, addresses, MOVE._replace(arguments={**MOVE.arguments, "address": effects}), token)
            await ask(running.http, orders, QUERY, token)
            doubts.append((await running.close()).unexplained)
    ((doubt,), none) = doubts
    assert (doubt.service, doubt.name, none) == ("orders", "query_order", ())


async def test_a_clock_is_named_too_and_comes_after_what_changed_more_rarely(
    project: Project, url: str, http: ClientSession
) -> None:
    async with asking(project, url) as (running, made):
        for call in (QUERY, QUERY, OTHER, OTHER):
            await made(call)
        await run(http, url, [MOVE])
        await made(QUERY)
        summary = await running.close()
    (doubt,) = summary.unexplained
    assert (doubt.first, doubt.second, doubt.count) == (2, 5, 3)
    assert doubt.where[0] == "/address"


async def test_where_nothing_but_a_clock_changed_its_fields_are_named_for_the_person_to_judge(
    project: Project, url: str
) -> None:
    _, summary = await recorded(project, url, RIGHT, QUERY, QUERY)
    (doubt,) = summary.unexplained
    assert set(doubt.where) - {"/served_at"} == {"/request_id"}


async def test_a_read_declared_as_a_write_is_a_miss_when_it_is_asked_once_more(project: Project, url: str) -> None:
    (first,), _ = await recorded(project, url, QUERIES_WRITE, QUERY)
    (again, once_more), summary = await replayed(project, QUERY, QUERY)
    assert (again, once_more) == (first, None)
    (miss,) = summary.misses
    assert (miss.code, miss.tool) == ("used_up", "query_order")
    project.configure(SERVICE.format(name="orders", url=url, effects=RIGHT))
    answers, right = await replayed(project, QUERY, QUERY)
    assert (answers, right.misses) == ([first, first], ())
