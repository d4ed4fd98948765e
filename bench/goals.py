"""What the bench demands: one table. A new figure needs one more line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Goal(NamedTuple):
    """A figure must not be above `must` (else the bench fails); `aim` is where it should be."""

    key: str
    must: float
    aim: float
    what: str


GOALS = (
    Goal("replay_ratio", 2.5, 1.5, "CPU of a replayed request, over a bare aiohttp server's"),
    Goal("record_ratio", 8.0, 5.0, "CPU of a recorded request, over a bare aiohttp server's"),
    Goal("first_byte_added_p50_ms", 2.0, 1.0, "what recording adds to the time until a stream's first event"),
    Goal("first_byte_added_p99_ms", 10.0, 4.0, "the same, of the slowest in a hundred"),
    Goal("stream_ratio", 2.5, 1.5, "CPU of an event relayed and recorded, over a bare aiohttp relay's"),
    Goal("timing_error_p95_ms", 5.0, 2.0, "how far from its recorded time a replayed event comes"),
    Goal("size_ratio", 1.2, 1.05, "CPU of a replayed request, with 10,000 interactions loaded over 100"),
    Goal("world_ratio", 1.5, 1.2, "CPU of a world's answer, over a replayed one's"),
    Goal("reset_ratio", 2.0, 1.2, "CPU of resetting a world of 10,000 entities, over one of 10"),
    Goal("trial_cpu_ratio", 2.0, 1.3, "CPU of a trial in a run, its agent included, over the agent run bare"),
    Goal("open_first_ratio", 1.3, 1.1, "CPU of opening a tape of 10,000, over yaml.CSafeLoader on the same file"),
    Goal("open_cached_ratio", 0.3, 0.1, "the same, with the tape's cache"),
    Goal("help_ratio", 1.0, 0.6, "wall time of `proctor --help`, over that of importing aiohttp"),
    Goal("start_ratio", 4.0, 2.5, "wall time of `proctor replay ... -- true`, over that of importing aiohttp"),
)


def table(figures: Mapping[str, float]) -> str:
    """Every goal with its figure, for a person."""
    lines = [f"{'':24}{'figure':>8}{'must':>7}{'aim':>6}"]
    for goal in GOALS:
        verdict = "FAILED" if not _met(goal.must, figures[goal.key]) else ""
        missed = verdict or ("" if _met(goal.aim, figures[goal.key]) else "over aim")
        lines.append(f"{goal.key:24}{figures[goal.key]:8.2f}{goal.must:7.2f}{goal.aim:6.2f}  {missed:9} {goal.what}")
    return "\n".join(lines)


def failures(figures: Mapping[str, float]) -> list[str]:
    """The musts that do not hold, in words."""
    return [
        f"{goal.key} is {figures[goal.key]}, must be at most {goal.must}: {goal.what}"
        for goal in GOALS
        if not _met(goal.must, figures[goal.key])
    ]


def _met(limit: float, figure: float) -> bool:
    return figure <= limit
