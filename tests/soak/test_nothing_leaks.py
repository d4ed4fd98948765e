"""A standing proxy after many conversations of every kind holds no more than after the first of them."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession

from proctor.client import ControlClient
from proctor.wire import Mode, SessionSpec
from tests.integration.serve.support import TOKEN, Serve, samples, serve
from tests.property.counts import count
from tests.soak.exchanges import answer, chosen
from tests.support import Project, serving

CONVERSATIONS = count(120, 1_000)
FIRST = count(40, 100)
"""What is held after so many is the measure."""
SECONDS = count(0, 600)
"""A soak goes on until so much time has passed, too."""
AT_ONCE = 6
TAPES = 5

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@dataclass(frozen=True)
class Held:
    """What an idle proxy holds: memory in KiB, open files and sockets, tasks."""

    resident: int
    files: int
    tasks: float


@dataclass
class Load:
    """Conversations with one proxy."""

    on: Serve
    control: ControlClient

    async def tapes(self) -> None:
        """Something to replay."""
        async with ClientSession() as http:
            for number in range(TAPES):
                info = await self.control.open(SessionSpec(cassette=f"tape{number}", modes={"desk": "record"}))
                await ask(http, info.url, {f"/plain/{number}": 200, f"/stream/{number}": 200})
                assert (await self.control.close(info.session, 0)).sealed

    async def hold(self, numbers: range) -> None:
        """These conversations, some of them at once."""
        waiting = iter(numbers)
        async with ClientSession() as http:

            async def worker() -> None:
                for number in waiting:
                    await self._conversation(http, number)

            await asyncio.gather(*(worker() for _ in range(AT_ONCE)))

    async def _conversation(self, http: ClientSession, number: int) -> None:
        """Recorded, replayed or live, with misses, strays, cut answers and clients that leave early."""
        rng = random.Random(number)
        mode: Mode = rng.choice(("record", "replay", "live"))
        place = number % TAPES
        name = f"tape{place}" if mode == "replay" else f"new{number}"
        info = await self.control.open(SessionSpec(cassette=name, modes={"desk": mode}))
        if mode == "replay":
            await ask(http, info.url, {f"/plain/{place}": 200, f"/stream/{place}": 200, "/never": 422})
        else:
            for path, client in chosen(rng, 6):
                with contextlib.suppress(ClientError, ConnectionError):
                    await client(http, f"{info.url}/desk{path}")
        async with http.get(f"{self.on.ready['url']}/nowhere") as stray:
            assert stray.status == 404
        await self.control.close(info.session, rng.choice((0, 0, 1)))

    async def held(self) -> Held:
        """What the proxy holds, once the system has ended what clients hung up."""
        process = Path(f"/proc/{self.on.process.pid}")
        files, before = 0, -1
        while files != before:
            before, files = files, len(list((process / "fd").iterdir()))
            tasks = samples(await self.control.metrics())[("tasks",)]
        lines = (process / "status").read_text().splitlines()
        return Held(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")), files, tasks)


async def ask(http: ClientSession, url: str, targets: dict[str, int]) -> None:
    """Each target, which must be answered with its status."""
    for target, status in targets.items():
        async with http.get(f"{url}/desk{target}") as got:
            await got.read()
            assert got.status == status


@pytest.mark.timeout(1800)
async def test_memory_files_and_tasks_stay_as_they_were_after_a_tenth(project: Project) -> None:
    async with serving(answer) as url:
        project.configure(f'[services.desk]\nurl = "{url}"\nreads = ["*"]\n')
        async with serve(project) as on, ControlClient(on.ready["control"], TOKEN) as control:
            load = Load(on, control)
            await load.tapes()
            ends = time.monotonic() + SECONDS
            await load.hold(range(FIRST))
            early = await load.held()
            done = FIRST
            while done < CONVERSATIONS or time.monotonic() < ends:
                await load.hold(range(done, done + FIRST))
                done += FIRST
            late = await load.held()
    assert late.resident <= 1.2 * early.resident, (early, late)
    assert late.files <= early.files + AT_ONCE, (early, late)  # connections to the service are kept for the next one
    assert late.tasks <= early.tasks, (early, late)
