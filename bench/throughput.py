"""CPU per request: a bare server, the proxy in replay and the proxy in record mode, in turns, under the same load."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.pipes import BenchFailed, Child, child
from bench.traffic import DISTINCT, PATH, SERVICE, project_toml
from proctor.client import ControlClient
from proctor.config import CONFIG_NAME
from proctor.trace import SessionSummary
from proctor.wire import Mode, SessionSpec

TAPE = "bench"
SMALL_TAPE = "small"
_SMALL = 10
_ROUNDS = 9
_REPEATED = 3000
"""Requests a round to the bare server and in replay."""
_RECORDED = 1500
"""Requests a round in record mode: with warm-up and tapes under 20,000 in all."""
_SETTLING_SECONDS = 0.25
"""After a load, so that what a server writes in batches is counted too."""

Say = Callable[[str], None]


@dataclass
class Target:
    """A server under load. `sent` counts every request to it, warm-up included."""

    name: str
    server: Child
    path: str
    distinct: int = DISTINCT
    sent: int = 0
    compact: bool = False
    """It writes JSON without spaces, where the recorded service has some."""

    async def load(self, generator: Child, count: int) -> float:
        """Send `count` requests; gives CPU microseconds a request. Raises BenchFailed for any wrong answer."""
        before = await self.server.ask("begin")
        told = await generator.ask(
            {
                "url": self.server.ready["url"],
                "path": self.path,
                "count": count,
                "distinct": self.distinct,
                "compact": self.compact,
            }
        )
        if told["wrong"]:
            raise BenchFailed(f"{self.name}: {told['wrong']} wrong answer(s), the first: {told['example']}")
        await asyncio.sleep(_SETTLING_SECONDS)
        self.sent += count
        used: float = await self.server.ask("end") - before
        return used / count * 1e6


async def measure_throughput(project: Path, say: Say) -> dict[str, float]:
    """Make the project and its tapes, then measure; gives ratios and raw figures. The tapes stay for the commands."""
    async with child("bench.servers", "bare") as upstream, child("bench.load") as generator:
        (project / CONFIG_NAME).write_text(project_toml(upstream.ready["url"]), encoding="utf-8")
        await _record_tape(project, generator, TAPE, DISTINCT)
        await _record_tape(project, generator, SMALL_TAPE, _SMALL)
        say(f"recorded tapes of {DISTINCT} and {_SMALL} interactions")
        async with (
            child("bench.servers", "bare") as plain,
            open_session(project, TAPE, "replay") as (replay, replayed),
            open_session(project, "unsealed", "record") as (record, _),
        ):
            targets = (Target("bare", plain, PATH), replay, record)
            rounds = await _run_rounds(targets, generator, say)
            check_traced(await replayed(), replay.sent)
            _check_journal(project, record.sent)
    return _figures(rounds)


async def _record_tape(project: Path, generator: Child, name: str, count: int) -> None:
    """Record `count` requests and seal them, by the proxy itself."""
    async with open_session(project, name, "record", count) as (target, close):
        await target.load(generator, count)
        summary = await close()
    if not summary.sealed or summary.recorded != count:
        raise BenchFailed(f"tape {name} was not sealed: {summary.model_dump_json()}")


@asynccontextmanager
async def open_session(
    project: Path, tape: str, mode: Mode, distinct: int = DISTINCT
) -> AsyncIterator[tuple[Target, Callable[[], Any]]]:
    """A proxy of its own with one open session, and what closes that session."""
    async with (
        child("bench.servers", "proxy", str(project)) as server,
        ControlClient(server.ready["url"], server.ready["token"]) as control,
    ):
        info = await control.open(SessionSpec(cassette=tape, modes={SERVICE: mode}))
        path = f"/s/{info.session}/{SERVICE}{PATH}"
        yield Target(mode, server, path, distinct), lambda: control.close(info.session, 0)


async def _run_rounds(targets: tuple[Target, ...], generator: Child, say: Say) -> list[dict[str, float]]:
    """Warm each server up, then load them in turns; gives each round's microseconds a request by name."""
    for target in targets:
        await target.load(generator, DISTINCT)
    rounds = []
    for number in range(_ROUNDS):
        counts = {target.name: _RECORDED if target.name == "record" else _REPEATED for target in targets}
        rounds.append({target.name: await target.load(generator, counts[target.name]) for target in targets})
        told = ", ".join(f"{name} {used:.0f} us" for name, used in rounds[-1].items())
        say(f"round {number + 1} of {_ROUNDS}: {told} of CPU a request")
    return rounds


def check_traced(summary: SessionSummary, sent: int) -> None:
    """Replay must have answered from the tape, every time."""
    if summary.hits != sent or summary.misses or summary.errors:
        raise BenchFailed(f"replay answered {summary.hits} of {sent} requests: {summary.model_dump_json()}")


def _check_journal(project: Path, sent: int) -> None:
    """The recording must be on disk, with nothing left out: a line a request, and the head."""
    (journal,) = (project / ".proctor" / "journals").glob("*.jsonl")
    with journal.open("rb") as file:
        lines = sum(1 for _ in file)
    if lines != sent + 1:
        raise BenchFailed(f"the journal has {lines} lines after {sent} recorded requests")


def _figures(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Ratios within a round, then the median over rounds."""
    return {
        "replay_ratio": round(median(used["replay"] / used["bare"] for used in rounds), 3),
        "record_ratio": round(median(used["record"] / used["bare"] for used in rounds), 3),
        "bare_cpu_us": round(median(used["bare"] for used in rounds), 1),
        "replay_cpu_us": round(median(used["replay"] for used in rounds), 1),
        "record_cpu_us": round(median(used["record"] for used in rounds), 1),
    }
