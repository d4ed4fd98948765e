"""Real clients that read a stream piece by piece; each leaves when its generator is closed."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncGenerator, Callable, Iterator

import aiohttp
import httpx
import requests
from openai import AsyncOpenAI

StreamClient = Callable[[str], AsyncGenerator[bytes, None]]
"""Takes the service's address, reads `/chat/completions` below it, and gives what comes as it comes."""
PATH = "/chat/completions"


async def by_aiohttp(url: str) -> AsyncGenerator[bytes, None]:
    """aiohttp, whatever has arrived."""
    async with aiohttp.ClientSession() as http, http.post(url + PATH, json={"stream": True}) as got:
        async for piece in got.content.iter_any():
            yield piece


async def by_httpx(url: str) -> AsyncGenerator[bytes, None]:
    """httpx, raw."""
    async with httpx.AsyncClient() as http, http.stream("POST", url + PATH, json={"stream": True}) as got:
        async for piece in got.aiter_raw():
            yield piece


async def by_httpx_lines(url: str) -> AsyncGenerator[bytes, None]:
    """httpx, an event at each blank line, as SSE libraries read."""
    event = b""
    async with httpx.AsyncClient() as http, http.stream("POST", url + PATH, json={"stream": True}) as got:
        async for line in got.aiter_lines():
            event += line.encode() + b"\n"
            if not line:
                yield event
                event = b""


async def by_requests(url: str) -> AsyncGenerator[bytes, None]:
    """requests in a thread, chunk by chunk."""
    with requests.Session() as http:
        got = await asyncio.to_thread(http.post, url + PATH, json={"stream": True}, stream=True, timeout=30)
        with got:
            pieces: Iterator[bytes] = got.iter_content(None)
            while piece := await asyncio.to_thread(next, pieces, b""):
                yield piece


async def by_urllib(url: str) -> AsyncGenerator[bytes, None]:
    """urllib in a thread, line by line to the blank one."""
    asked = urllib.request.Request(url + PATH, b'{"stream": true}', {"Content-Type": "application/json"})
    with await asyncio.to_thread(urllib.request.urlopen, asked, timeout=30) as got:
        while line := await asyncio.to_thread(got.readline):
            yield line + await asyncio.to_thread(got.readline)


async def by_openai(url: str) -> AsyncGenerator[bytes, None]:
    """The openai SDK; it gives the words of each event, and stops at `[DONE]`."""
    async with (
        AsyncOpenAI(base_url=url, api_key="sk-of-the-tests-0123456789", max_retries=0) as client,
        await client.chat.completions.create(model="m", messages=[], stream=True) as stream,
    ):
        async for event in stream:
            yield (event.choices[0].delta.content or "").encode()


STREAM_CLIENTS: dict[str, StreamClient] = {
    each.__name__: each for each in (by_aiohttp, by_httpx, by_httpx_lines, by_requests, by_urllib, by_openai)
}
