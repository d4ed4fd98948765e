"""Servers that nobody here wrote, and programs that talk to them, in an environment of `make server-environment`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.placeholders import SHAPED
from tests.support import ROOT, Project, clean_environment

PYTHON = ROOT / ".venv-servers" / "bin" / "python"
PROGRAMS = Path(__file__).parent / "programs"

installed = pytest.mark.skipif(
    not PYTHON.exists(), reason="moto, boto3 and httpbin are not installed: make server-environment"
)

_ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+/s/[^/]+")


@dataclass(frozen=True)
class Server:
    """A server that runs: its address, and what else it said of itself when it started."""

    url: str
    told: dict[str, Any]


@asynccontextmanager
async def started(program: str) -> AsyncIterator[Server]:
    """A server program while it runs. Its first line says where it listens; it ends with its stdin."""
    process = await asyncio.create_subprocess_exec(
        *(str(PYTHON), str(PROGRAMS / program)),
        env=clean_environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=2**20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        yield Server(told["url"], told)
    finally:
        process.stdin.close()
        with contextlib.suppress(ConnectionError):
            await process.stdin.wait_closed()
        await process.wait()


@dataclass(frozen=True)
class Seen:
    """What a program saw, a step each, and the summary of the session in which it ran."""

    steps: list[tuple[str, Any]]
    summary: dict[str, Any]
    stderr: str

    @property
    def told(self) -> str:
        """What Proctor and the program said of a failure, without the long ends of lines."""
        return "\n".join(line[:300] for line in self.stderr.splitlines())

    def __getitem__(self, name: str) -> Any:
        (found,) = [seen for step, seen in self.steps if step == name]
        return found


async def record(
    project: Project, command: Sequence[str], env: Mapping[str, str] | None = None, *, tape: str = "t"
) -> Seen:
    """Record a program that prints a JSON line for each step it takes. Asserts that it became a tape."""
    seen = await run_program(project, ["record", "--cassette", tape], command, env)
    assert seen.summary["status"] == 0, seen.told
    return seen


async def replay(
    project: Project, command: Sequence[str], env: Mapping[str, str] | None = None, *, tape: str = "t"
) -> Seen:
    """Replay the same program. Asserts that nothing was missed, repeated or answered from another state."""
    seen = await run_program(project, ["replay", "--cassette", tape, "--strict"], command, env)
    assert seen.summary["status"] == 0, seen.told
    return seen


def program(name: str, *arguments: str) -> list[str]:
    """The command of one of the programs beside this module."""
    return [str(PYTHON), str(PROGRAMS / name), *arguments]


def comparable(value: Any, *secrets: str) -> str:
    """A value as text, a line each, in which secrets look like what stands for them, and sessions like one another."""
    text = _ADDRESS.sub("PROCTOR", json.dumps(value, sort_keys=True, indent=1))
    for secret in secrets:
        text = text.replace(secret, "SECRET")
    return SHAPED.sub("SECRET", text)


async def run_program(
    project: Project, how: Sequence[str], command: Sequence[str], env: Mapping[str, str] | None = None
) -> Seen:
    """Run a program under a command of Proctor's; `status` of its summary is the command's own."""
    done = await project.proctor(*how, "--json", "--", *command, env=env)
    assert done.stdout, done.stderr
    steps = [json.loads(line) for line in done.printed]
    summary = done.summary
    assert "error" not in summary, (summary, done.stderr)
    return Seen([(name, seen) for name, seen in steps], {**summary, "status": done.status}, done.stderr)
