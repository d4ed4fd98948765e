"""Agents of a few lines, run under the real command, and what they leave behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from proctor.paths import Layout
from tests.support import Finished, Project, clean_environment

PRELUDE = '''
import json, os, signal, sys, urllib.error, urllib.request

def call(url, body=None, method=None, headers=()):
    """Status and body of one request, whatever the status; a broken connection is (0, reason)."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **dict(headers)}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except Exception as error:
        return 0, repr(error)

DESK, LINE = os.environ.get("DESK_URL", ""), os.environ.get("LINE_URL", "")
'''
PATH = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
"""So that `python` in a command is this one."""


@dataclass
class Desk:
    """A real service whose answer to each path can be set; it notes what reached it."""

    answers: dict[str, list[int]] = field(default_factory=dict)
    """Statuses for a path, in order; the last one stays. Any other path is 200."""
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle a request: say what was asked."""
        self.asked.append(request.path)
        statuses = self.answers.get(request.path, [200])
        status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
        return web.json_response({"path": request.path, "said": (await request.read()).decode()}, status=status)


async def break_off(request: web.Request) -> web.StreamResponse:
    """Announce 100 bytes, send a few, and hang up."""
    await request.read()
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(request)
    await response.write(b"the first part")
    assert request.transport is not None
    request.transport.abort()
    return response


def agent(source: str) -> tuple[str, ...]:
    """The command of an agent that has `call`, `DESK` and `LINE`."""
    return sys.executable, "-c", PRELUDE + source


async def record(
    project: Project, source: str, *options: str, tape: str = "t", env: Mapping[str, str] | None = None
) -> Finished:
    """`proctor record` with an agent; the JSON summary is the last line of stdout."""
    return await project.proctor("record", "--cassette", tape, "--json", *options, "--", *agent(source), env=env)


async def replay(
    project: Project, source: str, *options: str, tape: str = "t", env: Mapping[str, str] | None = None
) -> Finished:
    """`proctor replay` with an agent; the JSON summary is the last line of stdout."""
    return await project.proctor("replay", "--cassette", tape, "--json", *options, "--", *agent(source), env=env)


def kept(project: Project) -> list[str]:
    """Every file that a recording can leave: tapes (and half-written ones), journals, recordings put aside."""
    layout = project.layout
    folders = (layout.cassettes, layout.journals, layout.aside)
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(project.root).as_posix() for path in found)


def error_of(finished: Finished) -> dict[str, Any]:
    """The error of a command that was given `--json`: the one object on stdout, with code, message and fix."""
    (line,) = finished.stdout.splitlines()
    told: dict[str, Any] = json.loads(line)["error"]
    assert set(told) == {"code", "message", "fix"}
    assert "Traceback" not in finished.stderr
    return told


def put_aside(layout: Layout, tape: str = "t") -> str:
    """The text of a recording that sealing refused."""
    return (layout.aside / f"{tape}.yaml").read_text(encoding="utf-8")


@asynccontextmanager
async def started(
    project: Project, *arguments: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The real command while it runs, killed at the end if it still does."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", *arguments),
        cwd=project.root,
        env={**clean_environment(), **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def killed(
    project: Project, command: str, source: str, *options: str, env: Mapping[str, str] | None = None
) -> None:
    """Kill `proctor record` or `replay` with its agent, once the agent has done `source`."""
    waiting = f'{source}\nprint("done", os.getpid(), flush=True)\nwhile True: signal.pause()'
    async with started(project, command, *options, "--", *agent(waiting), env=env) as process:
        assert process.stdout is not None
        while not (line := await process.stdout.readline()).startswith(b"done "):
            assert line, "the agent ended early"
        process.kill()
        os.kill(int(line.split()[1]), signal.SIGKILL)
        await process.communicate()


def all_files(root: Path) -> list[Path]:
    """Every file below a folder, hidden ones too."""
    return [path for path in root.rglob("*") if path.is_file()]
