"""Streams: what recording adds to the first event and to the CPU of each, and how true a replay's timing is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.pipes import BenchFailed, Child, child
from bench.throughput import Say, open_session
from bench.traffic import SERVICE, project_toml
from proctor.cassette import load_cassette
from proctor.client import ControlClient
from proctor.config import CONFIG_NAME
from proctor.paths import Layout
from proctor.wire import SessionSpec

_PAIRS = 300
"""Streams asked for in turns, directly and through the proxy: 99 in 100 says something from here on."""
_ROUNDS = 5
_STREAMS, _EVENTS = 16, 100
"""At the same time, and of each: paced so that no event waits for another."""
_TIMED_EVENTS = 40
_TIMED_STREAMS, _TIMED_ROUNDS = 4, 5
_SETTLING_SECONDS = 0.25


async def measure_streams(parent: Path, say: Say) -> dict[str, float]:
    """Make a project of its own below `parent`, and measure in it."""
    project = parent / "streams"
    project.mkdir()
    async with child("bench.servers", "streaming") as upstream, child("bench.listening") as listener:
        (project / CONFIG_NAME).write_text(project_toml(upstream.ready["url"]), encoding="utf-8")
        figures = await _first_events(project, upstream, listener)
        say(
            f"a stream's first event: {figures['first_byte_direct_ms']} ms directly, "
            f"{figures['first_byte_added_p50_ms']} ms more while recording"
        )
        figures |= await _event_costs(project, upstream, listener, say)
        figures |= await _timing(project, listener)
        say(f"replay with recorded timing: off by {figures['timing_error_p95_ms']} ms in 95 of 100 events")
    return figures


async def _first_events(project: Path, upstream: Child, listener: Child) -> dict[str, float]:
    """In turns, so that what disturbs the one disturbs the other."""
    path = "/stream?events=2&gaps=1"
    direct: list[float] = []
    recorded: list[float] = []
    async with open_session(project, "first", "record") as (target, _):
        proxied = _in_session(target.path, path)
        for _ in range(_PAIRS):
            for server, at, found in ((upstream, path, direct), (target.server, proxied, recorded)):
                ((first, *_),) = await _heard(listener, server, at, events=2, count=1)
                found.append(first * 1000)
    (slow_direct, slow_recorded) = (quantiles(found, n=100)[98] for found in (direct, recorded))
    return {
        "first_byte_added_p50_ms": round(median(recorded) - median(direct), 3),
        "first_byte_added_p99_ms": round(slow_recorded - slow_direct, 3),
        "first_byte_direct_ms": round(median(direct), 3),
    }


async def _event_costs(project: Path, upstream: Child, listener: Child, say: Say) -> dict[str, float]:
    """CPU of the relaying process for each event, the bare relay and the recording proxy in turns."""
    path = f"/stream?events={_EVENTS}&gaps=4"
    async with (
        child("bench.servers", "relay", upstream.ready["url"]) as bare,
        open_session(project, "costs", "record") as (target, _),
    ):
        proxied = _in_session(target.path, path)
        await _cost(listener, bare, path)
        await _cost(listener, target.server, proxied)
        rounds = [
            (await _cost(listener, bare, path), await _cost(listener, target.server, proxied)) for _ in range(_ROUNDS)
        ]
    say("an event, relayed barely / recorded too: " + ", ".join(f"{a:.0f}/{b:.0f} us" for a, b in rounds))
    return {
        "stream_ratio": round(median(recorded / bare for bare, recorded in rounds), 3),
        "relay_cpu_us": round(median(bare for bare, _ in rounds), 1),
        "recorded_event_cpu_us": round(median(recorded for _, recorded in rounds), 1),
    }


async def _cost(listener: Child, server: Child, path: str) -> float:
    """CPU microseconds an event, the asking and the ending included."""
    before = await server.ask("begin")
    await _heard(listener, server, path, events=_EVENTS, count=_STREAMS)
    await asyncio.sleep(_SETTLING_SECONDS)
    used: float = await server.ask("end") - before
    return used / (_STREAMS * _EVENTS) * 1e6


async def _timing(project: Path, listener: Child) -> dict[str, float]:
    """Record one stream with uneven gaps, then hear it again at its recorded times."""
    path = f"/stream?events={_TIMED_EVENTS}&gaps=5,45,12,30,1"
    async with open_session(project, "timed", "record") as (target, close):
        await _heard(listener, target.server, _in_session(target.path, path), events=_TIMED_EVENTS, count=1)
        await close()
    pieces = load_cassette(Layout(project), "timed").interactions[0].response.pieces
    if pieces is None or len(pieces.at) != _TIMED_EVENTS:
        raise BenchFailed(f"{_TIMED_EVENTS} events were recorded as {pieces}")
    errors: list[float] = []
    async with (
        child("bench.servers", "proxy", str(project)) as server,
        ControlClient(server.ready["url"], server.ready["token"]) as control,
    ):
        info = await control.open(SessionSpec(cassette="timed", modes={SERVICE: "replay"}, timing=True))
        at = f"/s/{info.session}/{SERVICE}{path}"
        await _heard(listener, server, at, events=_TIMED_EVENTS, count=1)  # the answer is prepared then
        for _ in range(_TIMED_ROUNDS):
            heard = await _heard(listener, server, at, events=_TIMED_EVENTS, count=_TIMED_STREAMS)
            errors += [error for each in heard for error in _errors(each, pieces.at)]
        await control.close(info.session, 0)
    return {"timing_error_p95_ms": round(quantiles(errors, n=20)[18], 3)}


def _errors(heard: Sequence[float], recorded: Sequence[int]) -> list[float]:
    """Milliseconds between the moment at which each event came and its own, both since the request was sent."""
    return [abs(seconds * 1000 - at) for seconds, at in zip(heard, recorded, strict=True)]


def _in_session(tool_path: str, path: str) -> str:
    """A path of the service, in the session whose tool has `tool_path`."""
    return tool_path.rpartition("/tools/")[0] + path


async def _heard(listener: Child, server: Child, path: str, *, events: int, count: int) -> Any:
    return await listener.ask({"url": server.ready["url"], "path": path, "events": events, "count": count})
