"""CPU of a world's answer over a replayed one, in turns under the same load; and of resets, by what a world holds."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from statistics import median

from bench.orders import Orders, state_of
from bench.pipes import BenchFailed, child
from bench.throughput import TAPE, Say, check_traced, open_session
from bench.traffic import LARGE, SERVICE
from proctor.config import CONFIG_NAME
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession

_ROUNDS = 9
_REQUESTS = 3000
_FEW = 10
_RESETS = 2000
_WRITES = 5
"""Calls that change something before each reset."""


async def measure_worlds(project: Path, say: Say) -> dict[str, float]:
    """Needs the tape that `measure_throughput` made; gives the medians of the rounds' ratios and raw figures."""
    (project / "bench_world.py").write_text("from bench.orders import Orders as Orders\n", encoding="utf-8")
    config = project / CONFIG_NAME
    config.write_text(config.read_text(encoding="utf-8") + 'world = "bench_world:Orders"\n', encoding="utf-8")
    async with (
        child("bench.load") as generator,
        open_session(project, TAPE, "replay") as (replay, replayed),
        open_session(project, TAPE, "world") as (world, acted),
    ):
        world.compact = True
        for target in (replay, world):
            await target.load(generator, _REQUESTS)
        rounds = []
        for _ in range(_ROUNDS):
            rounds.append([await target.load(generator, _REQUESTS) for target in (world, replay)])
        check_traced(await replayed(), replay.sent)
        summary = await acted()
        if summary.worlds != world.sent or summary.errors:
            raise BenchFailed(f"the world answered {summary.worlds} of {world.sent} requests: {summary}")
    say(f"a {SERVICE} world against its tape: " + ", ".join(f"{used[0] / used[1]:.2f}" for used in rounds))
    resets = await asyncio.to_thread(_resets, say)
    return {
        "world_ratio": round(median(used[0] / used[1] for used in rounds), 3),
        "world_cpu_us": round(median(used[0] for used in rounds), 1),
        "reset_ratio": resets,
    }


def _resets(say: Say) -> float:
    """CPU of resetting a large world over a small one, each after the same few writes; they take turns."""
    kind = WorldKind(Orders)
    large, small = (WorldSession(kind, 0, state_of(count)) for count in (LARGE, _FEW))
    used = {id(large): 0.0, id(small): 0.0}
    for _ in range(_RESETS):
        for world in (large, small):
            used[id(world)] += _reset_seconds(world)
    told = {"large": used[id(large)] / _RESETS * 1e6, "small": used[id(small)] / _RESETS * 1e6}
    say(f"resets: {LARGE} entities {told['large']:.1f} us, {_FEW} entities {told['small']:.1f} us")
    return round(told["large"] / told["small"], 3)


def _reset_seconds(world: WorldSession) -> float:
    for number in range(_WRITES):
        body = json.dumps({"order_id": f"ORD-{2026000 + number}"}).encode()
        if world.call("cancel_order", body).refused:
            raise BenchFailed("the world refused a write")
    began = time.process_time()
    world.reset()
    return time.process_time() - began
