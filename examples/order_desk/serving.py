"""How both servers of the example run: on loopback, one line on stdout, until a signal ends them."""

from __future__ import annotations

import asyncio
import signal
import sys

from aiohttp import web

HOST = "127.0.0.1"


def run(app: web.Application, port: int, announcement: str) -> int:
    """Serves `app` until SIGTERM or SIGINT; the exit code is 0 then, 1 when the port cannot be had.

    `port` 0 lets the system choose. `announcement` is printed once the socket listens, with `{url}`
    replaced by `http://127.0.0.1:PORT`; a launcher reads that line to learn the port.
    """
    try:
        asyncio.run(_serve(app, port, announcement))
    except OSError as error:
        print(f"cannot serve on {HOST}:{port}: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(app: web.Application, port: int, announcement: str) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        print(announcement.format(url=f"http://{HOST}:{runner.addresses[0][1]}"), flush=True)
        await stop.wait()
    finally:
        await runner.cleanup()
