"""D19: the same request was answered 429 and then 200; the replay gave the first answer for ever."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from aiohttp import web

from tests.integration.cases.support import CLIENTS, Asked, ask, exit_status, recording, told
from tests.integration.proxy.raw import Answer
from tests.support import Handler, Project, services, serving, session

POLL = Asked("/jobs/1")
SEARCH = Asked("/search", told({"q": "shoes"}))
CHAT = Asked("/chat/completions", told({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
Said = tuple[int, str]
"""A status and a body."""
BUSY: Said = (429, "slow down")


@dataclass(frozen=True)
class Series:
    """One request, asked again and again, and what it was answered."""

    asked: Asked
    answers: list[Said]
    rules: str = ""


SERIES = {
    "a rate limit": Series(POLL, [BUSY, (200, "done")]),
    "two kinds of trouble": Series(POLL, [(503, "down"), BUSY, (200, "done")]),
    "polling a job": Series(POLL, [(202, "queued"), (202, "running"), (202, "running"), (200, "done")]),
    "not there yet": Series(POLL, [(404, "no"), (404, "no"), (200, "done"), (410, "gone")]),
    "equal statuses": Series(POLL, [(200, "one"), (200, "two"), (200, "three")]),
    "a search by POST": Series(SEARCH, [BUSY, (200, "found")], 'reads = ["POST /search"]\n'),
    "a model's two answers to one question": Series(CHAT, [(200, "yes"), (200, "no")], 'preset = "openai"\n'),
}


def saying(answers: list[Said]) -> Handler:
    """A service that says one after the other."""
    left = list(answers)

    async def answer(request: web.Request) -> web.StreamResponse:
        status, text = left.pop(0)
        return web.Response(status=status, text=text, headers={"Retry-After": "1"} if status == 429 else {})

    return answer


def said(answer: Answer) -> Said:
    return answer.status, answer.body.decode()


@pytest.mark.req(173)
@pytest.mark.parametrize("kind", SERIES)
async def test_answers_come_in_recorded_order_and_then_the_last_which_is_counted(project: Project, kind: str) -> None:
    series = SERIES[kind]
    async with recording(project, saying(series.answers), series.rules) as run:
        for _ in series.answers:
            await ask(run, series.asked)
    async with session(project, "t", "replay") as run:
        answers = [await ask(run, series.asked) for _ in range(len(series.answers) + 2)]
        summary = await run.close()
    assert [said(answer) for answer in answers] == series.answers + series.answers[-1:] * 2
    assert [answer.values("retry-after") for answer in answers] == [
        ["1"] if answer.status == 429 else [] for answer in answers
    ]
    assert (summary.hits, summary.repeated, exit_status(summary)) == (len(answers), 2, 0)


async def test_a_declared_write_is_answered_as_often_as_it_was_recorded_and_then_misses(project: Project) -> None:
    pay = Asked("/pay", told({"sum": 5}))
    async with recording(project, saying([BUSY, (201, "paid")]), 'writes = ["POST /pay"]\n') as run:
        for _ in range(2):
            await ask(run, pay)
    async with session(project, "t", "replay") as run:
        answers = [await ask(run, pay) for _ in range(3)]
        summary = await run.close()
    assert [answer.status for answer in answers] == [429, 201, 422]
    assert [(miss.code, miss.count) for miss in summary.misses] == [("used_up", 1)]


async def test_each_session_begins_at_the_first_answer(project: Project) -> None:
    async with recording(project, saying([BUSY, (200, "done")])) as run:
        for _ in range(2):
            await ask(run, POLL)
    for _ in range(2):
        async with session(project, "t", "replay") as run:
            assert [(await ask(run, POLL)).status for _ in range(2)] == [429, 200]


async def test_two_series_at_the_same_time_do_not_move_each_other(project: Project) -> None:
    one, other = Asked("/jobs?id=1"), Asked("/jobs?id=2")
    order = [one, other, one, other]
    async with recording(project, saying([BUSY, (202, "of 2"), (200, "of 1"), (200, "of 2")])) as run:
        for each in order:
            await ask(run, each)
    async with session(project, "t", "replay") as run:
        got = [said(await ask(run, each)) for each in (one, one, one, other, other)]
    assert got == [BUSY, (200, "of 1"), (200, "of 1"), (202, "of 2"), (200, "of 2")]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_that_waits_for_200_comes_to_it(project: Project, client: str) -> None:
    async with recording(project, saying([BUSY, (503, "down"), (200, "done")])) as run:
        for _ in range(3):
            await CLIENTS[client]("GET", run.url("desk", "/jobs/1"), b"", {})
    async with session(project, "t", "replay") as run:
        statuses: list[int] = []
        while 200 not in statuses and len(statuses) < 9:
            statuses.append((await CLIENTS[client]("GET", run.url("desk", "/jobs/1"), b"", {})).status)
    assert statuses == [429, 503, 200]


async def test_a_series_that_ends_in_a_rate_limit_makes_no_tape(project: Project) -> None:
    async with serving(saying([(200, "done"), BUSY])) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            for _ in range(2):
                await ask(run, POLL)
            summary = await run.close()
    assert (summary.sealed, "429" in "".join(summary.aside_reasons)) == ("", True)
    assert not project.layout.cassette("t").exists()
