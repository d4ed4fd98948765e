"""The child processes of the bench: one JSON line of question on stdin, one of answer on stdout, the end at EOF.

A child whose parent is gone reads EOF too, so none outlives the bench.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_ANSWER_SECONDS = 60.0
_ENDING_SECONDS = 5.0
_LINE_BYTES = 2**20


class BenchFailed(Exception):
    """The bench could not measure: a child failed, or an answer was not what it should be."""


class Child:
    """A running child process. `ready` is its first line."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Take a process whose stdin and stdout are pipes."""
        self.ready: Any = None
        self._name = name
        self._process = process

    async def ask(self, question: Any) -> Any:
        """Send one question and wait for its answer. Raises BenchFailed where the child ended or hangs."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        return await self.told()

    async def told(self) -> Any:
        """The child's next line."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), _ANSWER_SECONDS)
        except TimeoutError:
            raise BenchFailed(f"{self._name} did not answer within {_ANSWER_SECONDS:.0f} s") from None
        if not line:
            raise BenchFailed(f"{self._name} ended early; its own words stand above")
        return json.loads(line)


@asynccontextmanager
async def child(module: str, *arguments: str) -> AsyncIterator[Child]:
    """Run `python -m MODULE` for as long as the block lasts."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module, *arguments),
        cwd=ROOT,
        env=clean_environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    try:
        started = Child(" ".join((module, *arguments)), process)
        started.ready = await started.told()
        yield started
    finally:
        await _end(process)


def clean_environment() -> dict[str, str]:
    """The environment without proxy variables: the bench talks to loopback only."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


async def answer_questions(ready: Any, answer: Callable[[Any], Awaitable[Any]]) -> None:
    """The child's side: say `ready`, then answer each line until EOF."""
    reader = asyncio.StreamReader(limit=_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print(json.dumps(ready), flush=True)
    while line := await reader.readline():
        print(json.dumps(await answer(json.loads(line))), flush=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its stdin, and kill it where it does not take the hint."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _ENDING_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
