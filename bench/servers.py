"""The servers of the bench, each in a process of its own: `python -m bench.servers ROLE [FOLDER or URL]`.

The question `begin` collects garbage, so that every load starts from the same heap; any is answered with the CPU
seconds, user and system, that the process has used so far.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from bench.pipes import answer_questions
from bench.traffic import ANSWER_HEADERS, DISTINCT, STREAM_HEADERS, answer_body, event, request_body


@asynccontextmanager
async def bare() -> AsyncIterator[dict[str, str]]:
    """A plain aiohttp server that knows the answers by heart. The yardstick, and the upstream of the recording."""
    known = {request_body(number): answer_body(number) for number in range(DISTINCT)}

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=200, headers=ANSWER_HEADERS, body=known[await request.read()])

    async with _serving(handle) as ready:
        yield ready


@asynccontextmanager
async def streaming() -> AsyncIterator[dict[str, str]]:
    """A service whose every answer is a stream: `?events=N&gaps=A,B` sends N events, the gaps (ms) in turns."""

    async def handle(request: web.Request) -> web.StreamResponse:
        gaps = [float(gap) / 1000 for gap in request.query["gaps"].split(",")]
        response = web.StreamResponse(headers=STREAM_HEADERS)
        await response.prepare(request)
        for number in range(int(request.query["events"])):
            if number:
                await asyncio.sleep(gaps[number % len(gaps)])
            await response.write(event(number))
        await response.write_eof()
        return response

    async with _serving(handle) as ready:
        yield ready


@asynccontextmanager
async def relay(upstream: str) -> AsyncIterator[dict[str, str]]:
    """The least that relays a stream with aiohttp: the yardstick for relaying and recording one."""
    async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None)) as client:

        async def handle(request: web.Request) -> web.StreamResponse:
            async with client.get(upstream + request.raw_path) as answer:
                response = web.StreamResponse(status=answer.status, headers=STREAM_HEADERS)
                await response.prepare(request)
                async for data in answer.content.iter_any():
                    await response.write(data)
                await response.write_eof()
                return response

        async with _serving(handle) as ready:
            yield ready


@asynccontextmanager
async def _serving(handle: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[dict[str, str]]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield {"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}
    finally:
        await runner.cleanup()


@asynccontextmanager
async def proxy(project: str) -> AsyncIterator[dict[str, str]]:
    """Proctor's own proxy over a project's folder, as its command starts it."""
    from proctor.config import CONFIG_NAME, load_config
    from proctor.proxy.server import start_proxy

    running = await start_proxy(load_config(Path(project) / CONFIG_NAME))
    try:
        yield {"url": running.url, "token": running.token}
    finally:
        await running.close()


ROLES: dict[str, Callable[..., AbstractAsyncContextManager[dict[str, str]]]] = {
    "bare": bare,
    "proxy": proxy,
    "streaming": streaming,
    "relay": relay,
}


async def main(role: str, *about: str) -> None:
    """Serve until stdin ends."""
    async with ROLES[role](*about) as ready:
        await answer_questions(ready, _cpu_seconds)


async def _cpu_seconds(question: object) -> float:
    """Asked before and after each load. The bench's own collection is nobody's cost; the process's own ones are."""
    if question == "begin":
        gc.collect()
    return time.process_time()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
