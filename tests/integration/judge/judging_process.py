"""`proctor judge serve` in a process of its own, and a provider that counts what it is asked and ends that process."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any, Literal

from proctor.judge.exchanges import key_of
from proctor.judge.stand_ins import stand_in
from proctor.judge_client import JudgeClient
from proctor.judge_wire import BatchHeader, BatchTerms
from proctor.model_call import Message, ModelCall
from proctor.trajectories.file import line_of
from proctor.trajectory import Trajectory
from tests.support import Finished, Project, clean_environment
from tools.stand_in_judge_server import Answer, Answering, Asked, by_model

MODEL = "openai/gpt-4.1-mini"
AT_ONCE = 5
"""Calls of one service, unless it is told otherwise."""
TERMS = BatchTerms(same_vendor="a stand-in answers")

_CARRIER = "authorization"

When = Literal["asked", "answered", "all on their way"]


@dataclass(frozen=True)
class Moment:
    """When a service is ended, and how: once so many different questions came to its provider."""

    questions: int
    when: When
    """As that one comes, as it is answered, or once every call that may be out is there."""
    stop: signal.Signals = signal.SIGKILL


@dataclass
class Judging:
    """A running `proctor judge serve --json`. `ready` is its first line."""

    process: asyncio.subprocess.Process
    ready: dict[str, Any]
    client: JudgeClient

    async def ended(self) -> Finished:
        """What it said, once it is gone."""
        stdout, stderr = await self.process.communicate()
        assert self.process.returncode is not None
        return Finished(self.process.returncode, stdout.decode(), stderr.decode())

    async def kill(self) -> None:
        """At once, as a power failure does."""
        self.process.kill()
        assert (await self.ended()).status == -signal.SIGKILL

    async def submit(self, runs: Sequence[Trajectory], terms: BatchTerms) -> str:
        """Have a batch accepted; gives its id."""
        async with self.client.http.post(f"{self.client.url}/v1/batches?wait=0", data=body_of(runs, terms)) as got:
            assert got.status == 202, await got.text()
            return str((await got.json())["id"])


@asynccontextmanager
async def judging(
    project: Project, model: str, *options: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[Judging]:
    """The real command, ready; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "judge", "serve", "--json", "--model", model, *options),
        cwd=project.root,
        env={**clean_environment(), **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, (await process.communicate())[1].decode()
        ready = json.loads(line)
        async with JudgeClient(ready["url"], ready["token"], wait=_at_once) as client:
            yield Judging(process, ready, client)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def body_of(runs: Sequence[Trajectory], terms: BatchTerms) -> bytes:
    """A batch as it goes over the wire."""
    return b"".join([BatchHeader(batch=terms).model_dump_json().encode() + b"\n", *map(line_of, runs)])


def stored(project: Project, question: str) -> list[tuple[Any, ...]]:
    """What the service's database says, whether or not a service is running."""
    with closing(sqlite3.connect(project.layout.judge / "judge.db")) as database:
        return database.execute(question).fetchall()


@dataclass
class Provider:
    """Answers as the obedient stand-in does. It knows each question by the key that the ledger has for it."""

    lives: list[Counter[str]] = field(default_factory=list)
    """For each process that asked: how often each question came."""
    _moment: Moment | None = None
    _process: asyncio.Future[asyncio.subprocess.Process] = field(default_factory=asyncio.Future)
    _held: int = 0
    _answering: Answering = field(default_factory=lambda: by_model(stand_in("stand-in/obedient")))

    @property
    def asked(self) -> Counter[str]:
        """How often each question came in all."""
        return sum(self.lives, Counter[str]())

    def another(self, url: str, until: Moment | None = None) -> dict[str, str]:
        """The environment of a process that is to ask at `url`, and is stopped at that moment.

        Its key tells whose a question is that is read only when its process is gone.
        """
        self.lives.append(Counter())
        self._moment, self._process, self._held = until, asyncio.Future(), 0
        return {"OPENAI_API_BASE": url, "OPENAI_API_KEY": f"life-{len(self.lives) - 1}"}

    def met(self, process: asyncio.subprocess.Process) -> None:
        """That process, which may have asked already."""
        self._process.set_result(process)

    async def __call__(self, asked: Asked) -> Answer:
        """See Answering."""
        life = next(int(value.rpartition("-")[2]) for name, value in asked.headers.items() if name.lower() == _CARRIER)
        self.lives[life][_key(asked)] += 1
        moment = self._moment
        if moment is not None and len(self.asked) >= moment.questions:
            process = await self._process
            self._held += 1
            if moment.when == "answered":
                asyncio.get_running_loop().call_soon(self._end, process, moment)
            elif moment.when == "asked" or self._held == AT_ONCE:
                self._end(process, moment)
            if moment.when != "answered" and moment.stop == signal.SIGKILL:
                await process.wait()
        return await self._answering(asked)

    def _end(self, process: asyncio.subprocess.Process, moment: Moment) -> None:
        if self._moment is moment:
            self._moment = None
            process.send_signal(moment.stop)


def _key(asked: Asked) -> str:
    body, schema = asked.body, asked.body["response_format"]["json_schema"]
    messages = tuple(Message(each["role"], each["content"]) for each in body["messages"])
    call = ModelCall(messages, schema["name"], schema["schema"], body["seed"], body["max_completion_tokens"], 0.0)
    return key_of(MODEL, call)


async def _at_once(seconds: float) -> None:
    """A client that does not wait for a service to come back."""
