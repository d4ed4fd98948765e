"""`kill -9` in the middle of a recording: what had reached the agent is on the recovered tape, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import web

from tests.integration.proxy import exchanging_agent
from tests.property.counts import count
from tests.support import Project, clean_environment, services, serving

AGENT = str(Path(exchanging_agent.__file__))
EXCHANGES = 60
When = Literal["asked", "amid", "answered", "received"]
SEEDS = range(2026, 2026 + count(ci=5, soak=50))


@dataclass
class Desk:
    """A service with every way to send a body; kills the recorder's process at a chosen request."""

    rng: random.Random
    kill_at: int
    when: When
    recorder: asyncio.subprocess.Process | None = None
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer by the kind in the path; the pieces differ in number and length."""
        said = await request.read()
        self.asked.append(request.path.strip("/"))
        mine = len(self.asked) == self.kill_at
        self._kill(mine and self.when == "asked")
        kind = request.path.split("/")[1]
        pieces = [self.rng.randbytes(self.rng.randrange(1, 3000)) for _ in range(self.rng.randrange(2, 7))]
        if kind == "plain":
            self._kill(mine and self.when != "received")
            return web.json_response({"said": json.loads(said), "answer": "已收到"})
        response = web.StreamResponse()
        if kind in {"pieces", "bytes"}:
            response.content_length = sum(map(len, pieces))
        await response.prepare(request)
        for number, piece in enumerate(pieces):
            self._kill(mine and self.when == "amid" and number == 1)
            await response.write(piece)
        await response.write_eof()
        self._kill(mine and self.when == "answered")
        return response

    def _kill(self, now: bool) -> None:
        if now and self.recorder is not None and self.recorder.returncode is None:
            self.recorder.kill()


@dataclass(frozen=True)
class Left:
    """What a killed recording left with its agent: the requests it began, and the answers it had to the end."""

    begun: set[str]
    whole: dict[str, bytes]


async def record_until_killed(project: Project, desk: Desk, seed: int, kill_after: int = 0) -> Left:
    """Run `proctor record` with the agent until both are gone."""
    log = project.root / f"agent-{seed}.jsonl"
    agent = [sys.executable, AGENT, str(log), str(seed), str(EXCHANGES), str(kill_after)]
    desk.recorder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "record", "--cassette", "killed", "--", *agent),
        cwd=project.root,
        env=clean_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await desk.recorder.communicate()  # ends when the agent, which holds the pipe too, has ended
    assert desk.recorder.returncode == -signal.SIGKILL, output.decode()
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return Left(
        begun={event["begun"] for event in events if "begun" in event},
        whole={event["whole"]: base64.b64decode(event["body"]) for event in events if "whole" in event},
    )


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_answer_that_reached_the_agent_survives_a_kill(project: Project, seed: int) -> None:
    rng = random.Random(seed)
    whens: tuple[When, ...] = ("asked", "amid", "answered", "received")
    when, number = whens[seed % 4], rng.randrange(8, EXCHANGES - 4)
    desk = Desk(rng, 0 if when == "received" else number, when)
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        left = await record_until_killed(project, desk, seed, number if when == "received" else 0)
    assert left.whole, "the kill came before anything was received"
    assert len(left.begun) < EXCHANGES or when != "asked"
    told = await project.proctor("cassette", "recover")
    assert told.status == 0, told
    assert "sealed cassettes/killed.yaml" in told.stdout
    taped = {item.request.target.strip("/"): item.response.body for item in project.tape("killed").interactions}
    assert len(taped) == len(project.tape("killed").interactions), "an exchange is on the tape twice"
    assert taped.keys() >= left.whole.keys()
    assert {name: taped[name] for name in left.whole} == left.whole
    assert taped.keys() <= left.begun
    assert taped.keys() <= set(desk.asked)
    assert not list(project.layout.journals.iterdir())


async def test_a_recovered_tape_replaces_the_old_one_only_at_recovery(project: Project) -> None:
    desk = Desk(random.Random(1), 0, "received")
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        log = str(project.root / "first.jsonl")
        done = await project.proctor(
            *("record", "--cassette", "killed", "--", sys.executable, AGENT, log, "1", "8", "0")
        )
        assert done.status == 0, done
        old = project.layout.cassette("killed").read_bytes()
        left = await record_until_killed(project, desk, 2, kill_after=20)
    assert project.layout.cassette("killed").read_bytes() == old
    assert len(project.tape("killed").interactions) == 8
    assert (await project.proctor("cassette", "recover")).status == 0
    assert len(project.tape("killed").interactions) >= len(left.whole) >= 20


async def test_a_torn_last_line_is_left_out_and_said(project: Project) -> None:
    desk = Desk(random.Random(3), 0, "received")
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        await record_until_killed(project, desk, 3, kill_after=10)
    (journal,) = project.layout.journals.iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    told = await project.proctor("cassette", "recover")
    assert told.status == 0, told
    assert "the last line of the journal was cut off" in told.stdout
    assert len(project.tape("killed").interactions) == len(lines) - 2  # the head, and the torn one
    assert not journal.exists()


async def test_damage_before_the_last_line_is_refused_with_its_line(project: Project) -> None:
    desk = Desk(random.Random(4), 0, "received")
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        await record_until_killed(project, desk, 4, kill_after=10)
    (journal,) = project.layout.journals.iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][: len(lines[3]) // 2] + b"\n"
    journal.write_bytes(b"".join(lines))
    told = await project.proctor("cassette", "recover")
    assert told.status == 4
    assert "line 4 is damaged" in told.stderr
    assert journal.exists()
    assert not project.layout.cassette("killed").exists()


async def test_a_journal_without_a_finished_exchange_has_nothing_to_recover(project: Project) -> None:
    desk = Desk(random.Random(5), 1, "asked")
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        left = await record_until_killed(project, desk, 5)
    assert not left.whole
    told = await project.proctor("cassette", "recover")
    assert told.status == 3
    assert "there is nothing to recover" in told.stdout
    assert not list(project.layout.journals.iterdir())
    assert not project.layout.cassette("killed").exists()


@pytest.mark.parametrize("content", [b"", b'{"line":"session","cassette":"k'])
async def test_a_journal_without_its_first_line_is_refused_by_name(project: Project, content: bytes) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    project.layout.journals.mkdir(parents=True)
    (project.layout.journals / "k.abc.jsonl").write_bytes(content)
    told = await project.proctor("cassette", "recover")
    assert told.status == 4
    assert "journal_headless" in told.stderr
    assert "k.abc.jsonl" in told.stderr
    assert "nothing can be recovered" in told.stderr
    assert "Traceback" not in told.stderr


async def test_the_journal_is_readable_by_its_owner_only(project: Project) -> None:
    desk = Desk(random.Random(6), 0, "received")
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        await record_until_killed(project, desk, 6, kill_after=3)
    (journal,) = project.layout.journals.iterdir()
    assert os.stat(journal).st_mode & 0o777 == 0o600  # noqa: PTH116
