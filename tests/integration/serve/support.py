"""A `proctor serve` of one's own, and plain HTTP to it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families

from tests.support import Finished, Project, clean_environment

TOKEN = "a-token-of-the-tests"


@dataclass(frozen=True)
class Serve:
    """A running `proctor serve --json`. `ready` is its first line."""

    process: asyncio.subprocess.Process
    ready: dict[str, Any]
    http: ClientSession

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """One control request as any language makes it: status, and the answer's JSON."""
        told = {"x-proctor-token": TOKEN, **headers}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        async with self.http.request(method, self.ready["control"] + path, data=data, headers=told) as answer:
            return answer.status, json.loads(await answer.read())

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> Finished:
        """End it by a signal; gives what it said after the first line."""
        self.process.send_signal(number)
        stdout, stderr = await self.process.communicate()
        assert self.process.returncode is not None
        return Finished(self.process.returncode, stdout.decode(), stderr.decode())


@asynccontextmanager
async def serve(project: Project, *options: str, env: Mapping[str, str] | None = None) -> AsyncIterator[Serve]:
    """The real command, ready; killed at the end if it still runs. Its token is `TOKEN` unless `env` says otherwise."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "serve", "--json", *options),
        cwd=project.root,
        env={**clean_environment(), **({"PROCTOR_TOKEN": TOKEN} if env is None else env)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, (await process.communicate())[1].decode()
        async with ClientSession() as http:
            yield Serve(process, json.loads(line), http)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


Samples = dict[tuple[str, ...], float]
"""Values by name and label values; samples that are 0 are left out."""


def samples(text: str) -> Samples:
    """A page of metrics as a Prometheus server reads it."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in {"counter", "gauge", "summary"}, family
        for sample in family.samples:
            key = (sample.name.removeprefix("proctor_"), *sample.labels.values())
            assert key not in found
            found[key] = sample.value
    return {key: value for key, value in found.items() if value}


def memory(pid: int, kind: Literal["VmRSS", "VmHWM"]) -> int:
    """The memory that a process holds now, or the most that it ever had, in KiB. Linux tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))
