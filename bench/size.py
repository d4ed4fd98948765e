"""CPU per replayed request with a large tape loaded, over a small one: every recording of each is asked for."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from bench.large import write_tape
from bench.opening import TAPE
from bench.pipes import child
from bench.throughput import Say, check_traced, open_session
from bench.traffic import LARGE, LARGE_AGAINST

_ROUNDS = 15
_REQUESTS = 5000


async def measure_size(project: Path, say: Say) -> dict[str, float]:
    """Load both in turns; gives the median of the rounds' ratios. Needs the tape that `measure_opening` made."""
    write_tape(project, "hundred", LARGE_AGAINST)
    async with (
        child("bench.load") as generator,
        open_session(project, "hundred", "replay", LARGE_AGAINST) as (small, small_closed),
        open_session(project, TAPE, "replay", LARGE) as (large, large_closed),
    ):
        for target in (
            small,
            large,
        ):  # every answer is prepared then, every repeat looked up
            await target.load(generator, 2 * LARGE)
        ratios = []
        for _ in range(_ROUNDS):
            used = [await target.load(generator, _REQUESTS) for target in (large, small)]
            ratios.append(used[0] / used[1])
        check_traced(await small_closed(), small.sent)
        check_traced(await large_closed(), large.sent)
    say(f"{LARGE} interactions loaded against {LARGE_AGAINST}: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    return {"size_ratio": round(median(ratios), 3)}
