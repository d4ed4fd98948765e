"""The servers that are measured, each in a process of its own: `python -m bench.servers bare` or `... proxy FOLDER`.

The question `begin` collects garbage, so that every load starts from the same heap; any is answered with the CPU
seconds, user and system, that the process has used so far.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from bench.pipes import answer_questions
from bench.traffic import ANSWER_HEADERS, DISTINCT, answer_body, request_body


@asynccontextmanager
async def bare() -> AsyncIterator[dict[str, str]]:
    """A plain aiohttp server that knows the answers by heart. The yardstick, and the upstream of the recording."""
    known = {request_body(number): answer_body(number) for number in range(DISTINCT)}

    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=200, headers=ANSWER_HEADERS, body=known[await request.read()])

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
async def proxy(project: Path) -> AsyncIterator[dict[str, str]]:
    """Proctor's own proxy over a project's folder, as its command starts it."""
    from proctor.config import CONFIG_NAME, load_config
    from proctor.proxy.server import start_proxy

    running = await start_proxy(load_config(project / CONFIG_NAME))
    try:
        yield {"url": running.url, "token": running.token}
    finally:
        await running.close()


async def main(role: str, *folder: str) -> None:
    """Serve until stdin ends."""
    async with bare() if role == "bare" else proxy(Path(*folder)) as ready:
        await answer_questions(ready, _cpu_seconds)


async def _cpu_seconds(question: object) -> float:
    """Asked before and after each load. The bench's own collection is nobody's cost; the process's own ones are."""
    if question == "begin":
        gc.collect()
    return time.process_time()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
