"""D6: a miss was a plain 404, so that a test which expects 404 passed for the wrong reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx
import openai
import pytest
import requests
from aiohttp import web

from tests.integration.cases.support import (
    CLIENTS,
    Asked,
    ask,
    by_urllib,
    exit_status,
    recording,
)
from tests.support import Project, session

OWN = {"/orders/7": 422, "/orders/8": 500, "/orders/9": 404}
"""What the real service refuses by itself."""


async def desk(request: web.Request) -> web.StreamResponse:
    status = OWN.get(request.path, 200)
    return web.json_response({"error": "of the service"} if status != 200 else {"id": 1}, status=status)


async def expects_404(url: str) -> bool:
    return (await by_urllib("GET", f"{url}/orders/2", b"", {})).status == 404


async def expects_404_of_head(url: str) -> bool:
    got = await by_urllib("HEAD", f"{url}/orders/2", b"", {})
    assert (got.status, got.values("x-proctor-miss"), got.body) == (422, ["not_recorded"], b"")
    return got.status == 404


async def expects_404_of_options(url: str) -> bool:
    return (await by_urllib("OPTIONS", f"{url}/orders/2", b"", {})).status == 404


async def expects_not_found_of_the_sdk(url: str) -> bool:
    async with openai.AsyncOpenAI(base_url=url, api_key="sk-of-the-tests-0123456789") as client:
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            await client.models.retrieve("gpt-deleted")
    return isinstance(refused.value, openai.NotFoundError)


async def takes_any_refusal_for_gone(url: str) -> bool:
    def call() -> bool:
        try:
            requests.get(f"{url}/orders/2", timeout=30).raise_for_status()
        except requests.HTTPError:
            return True
        return False

    return await asyncio.to_thread(call)


async def swallows_everything(url: str) -> bool:
    async with httpx.AsyncClient() as http:
        try:
            return bool((await http.delete(f"{url}/orders/2")).raise_for_status())
        except Exception:
            return True


AGENTS: dict[str, tuple[Callable[[str], Awaitable[bool]], bool]] = {
    "expects 404": (expects_404, False),
    "expects 404 of HEAD": (expects_404_of_head, False),
    "expects 404 of OPTIONS": (expects_404_of_options, False),
    "expects NotFoundError of the SDK": (expects_not_found_of_the_sdk, False),
    "takes any refusal for gone": (takes_any_refusal_for_gone, True),
    "swallows everything": (swallows_everything, True),
}


@pytest.mark.parametrize("kind", AGENTS)
async def test_a_miss_fails_the_run_whether_the_agent_is_content_or_not(project: Project, kind: str) -> None:
    agent, content = AGENTS[kind]
    async with recording(project, desk) as run:
        await ask(run, Asked("/orders/1"))
    async with session(project, "t", "replay") as run:
        assert await agent(run.url("desk")) is content
        summary = await run.close()
    assert [miss.count for miss in summary.misses] == [1]
    assert exit_status(summary) == 3


@pytest.mark.parametrize("client", CLIENTS)
async def test_status_header_and_body_of_a_miss_say_so_to_every_client(project: Project, client: str) -> None:
    async with recording(project, desk) as run:
        await ask(run, Asked("/orders/1"))
    async with session(project, "t", "replay") as run:
        got = await CLIENTS[client]("GET", run.url("desk", "/orders/2"), b"", {})
    assert (got.status, got.values("x-proctor-miss")) == (422, ["not_recorded"])
    assert got.values("x-should-retry") == ["false"]
    for said in (b"not_recorded", b"Proctor: desk GET /orders/2", b"proctor record --cassette t", b"/orders/1"):
        assert said in got.body


@pytest.mark.parametrize("target", OWN)
async def test_a_refusal_that_the_service_itself_made_is_none(project: Project, target: str) -> None:
    async with recording(project, desk, "expected_status = [500]\n") as run:
        await ask(run, Asked(target))
    async with session(project, "t", "replay") as run:
        answer = await ask(run, Asked(target))
        summary = await run.close()
    assert (answer.status, answer.values("x-proctor-miss"), answer.body) == (
        OWN[target],
        [],
        b'{"error": "of the service"}',
    )
    assert (summary.misses, exit_status(summary)) == ((), 0)


async def test_one_miss_among_hits_fails_the_run(project: Project) -> None:
    async with recording(project, desk) as run:
        await ask(run, Asked("/orders/1"))
    async with session(project, "t", "replay") as run:
        statuses = [(await ask(run, Asked(f"/orders/{n}"))).status for n in (1, 2, 1)]
        summary = await run.close()
    assert (statuses, summary.hits, exit_status(summary)) == ([200, 422, 200], 2, 3)
