"""D5: an SDK retried the miss error, and its later attempts went to the live service."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Collection

import aiohttp
import httpx
import openai
import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from tests.integration.cases.support import Asked, Numbering, ask, exit_status, recording_of, told
from tests.support import Project, serving, session

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
"""What clients retry by themselves."""
RECORDED = Asked("/chat/completions", told({"model": "m", "messages": [{"role": "user", "content": "recorded"}]}))
CHANGED = {"model": "m", "messages": [{"role": "user", "content": "changed"}]}


async def openai_async(url: str) -> int:
    """The SDK's own retries."""
    async with openai.AsyncOpenAI(base_url=url, api_key="sk-of-the-tests-0123456789", max_retries=3) as client:
        with pytest.raises(openai.UnprocessableEntityError, match="Proctor: desk POST /chat/completions"):
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "changed"}])
    return 1


async def openai_stream(url: str) -> int:
    """The same in a thread, for a stream."""

    def call() -> int:
        client = openai.OpenAI(base_url=url, api_key="sk-of-the-tests-0123456789", max_retries=3)
        with client, pytest.raises(openai.UnprocessableEntityError):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "changed"}], stream=True)
        return 1

    return await asyncio.to_thread(call)


def adapted(url: str, statuses: Collection[int]) -> int:
    """The status that requests ends with, by an adapter that retries such answers three times."""
    retries = Retry(total=3, status_forcelist=statuses, allowed_methods=None, backoff_factor=0)
    with requests.Session() as http:
        http.mount("http://", HTTPAdapter(max_retries=retries))
        return http.post(f"{url}/chat/completions", json=CHANGED, timeout=30).status_code


async def urllib3_adapter(url: str) -> int:
    """The statuses that such adapters are given in agents."""
    assert await asyncio.to_thread(adapted, url, RETRIED) == 422
    return 1


async def urllib3_adapter_of_every_error(url: str) -> int:
    """One that retries a 422 too."""
    with pytest.raises(requests.exceptions.RetryError):
        await asyncio.to_thread(adapted, url, range(400, 600))
    return 4


async def httpx_loop(url: str) -> int:
    """A loop around `raise_for_status` that tries three times, whatever the error."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        for _ in range(3):
            with pytest.raises(httpx.HTTPStatusError):
                (await http.post(f"{url}/chat/completions", json=CHANGED)).raise_for_status()
    return 3


async def aiohttp_at_once(url: str) -> int:
    """Four attempts at the same time."""
    async with aiohttp.ClientSession() as http:

        async def attempt() -> int:
            async with http.post(f"{url}/chat/completions", json=CHANGED) as got:
                return got.status

        assert await asyncio.gather(*(attempt() for _ in range(4))) == [422] * 4
    return 4


async def urllib_loop(url: str) -> int:
    """urllib, three times, each on a connection of its own."""

    def call() -> int:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        asked = urllib.request.Request(f"{url}/chat/completions", told(CHANGED), {"Content-Type": "application/json"})
        for _ in range(3):
            with pytest.raises(urllib.error.HTTPError) as refused:
                opener.open(asked, timeout=30)
            with refused.value:
                assert refused.value.code == 422
        return 3

    return await asyncio.to_thread(call)


CLIENTS: dict[str, Callable[[str], Awaitable[int]]] = {
    each.__name__: each
    for each in (
        openai_async,
        openai_stream,
        urllib3_adapter,
        urllib3_adapter_of_every_error,
        httpx_loop,
        aiohttp_at_once,
        urllib_loop,
    )
}


@pytest.mark.req(173)
@pytest.mark.parametrize("client", CLIENTS)
async def test_every_attempt_is_refused_and_the_miss_is_listed_once_with_its_count(
    project: Project, client: str
) -> None:
    llm = Numbering()
    async with serving(llm.answer) as url:
        async with recording_of(project, url, 'preset = "openai"\n') as run:
            key = ("Authorization: Bearer sk-of-the-tests-0123456789",)
            await ask(run, Asked(RECORDED.target, RECORDED.body, headers=key))
            await ask(run, RECORDED)
        async with session(project, "t", "replay") as run:
            attempts = await CLIENTS[client](run.url("desk"))
            summary = await run.close()
        assert len(llm.reached) == 2
    (miss,) = summary.misses
    assert (miss.count, summary.exchanges, exit_status(summary)) == (attempts, attempts, 3)
    assert 'body /messages/0/content: recorded "recorded", got "changed"' in miss.diff
