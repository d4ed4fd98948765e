"""Both servers as commands: the one line they print, the port, and how they end."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession

from tests.integration.order_desk.support import EXAMPLE, ROOT, run

SERVER = "order desk listening on "
MODEL = "stand-in model (rules, not an LLM) listening on "
COMMANDS = [
    ([str(EXAMPLE / "server.py")], SERVER, "/health"),
    (["-m", "examples.order_desk.server"], SERVER, "/health"),
    ([str(EXAMPLE / "stand_in_model.py"), "--port", "0"], MODEL, "/models"),
    (["-m", "examples.order_desk.stand_in_model"], MODEL, "/models"),
]


@asynccontextmanager
async def started(arguments: list[str]) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The command, once it has printed its line; it is killed if the test did not end it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        yield process, line.decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("arguments", "opening", "path"), COMMANDS)
async def test_command_serves_until_a_signal(
    arguments: list[str], opening: str, path: str, number: signal.Signals
) -> None:
    async with started(arguments) as (process, line):
        found = re.fullmatch(re.escape(opening) + r"(http://127\.0\.0\.1:\d+(?:/v1)?)\n", line)
        assert found is not None, line
        headers = {"Authorization": "Bearer any"}
        async with ClientSession() as session, session.get(found[1] + path, headers=headers) as answer:
            assert answer.status == 200
        process.send_signal(number)
        out, err = await asyncio.wait_for(process.communicate(), 10)
        assert (process.returncode, out, err) == (0, b"", b"")


async def test_a_taken_port_is_a_readable_error() -> None:
    async with started([str(EXAMPLE / "server.py")]) as (_, line):
        port = line.strip().rpartition(":")[2]
        finished = await run([str(EXAMPLE / "server.py"), "--port", port], {})
    assert finished.code == 1
    assert f"cannot serve on 127.0.0.1:{port}" in finished.err
    assert "Traceback" not in finished.err
