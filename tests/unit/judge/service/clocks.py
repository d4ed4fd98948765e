"""Time that passes only where somebody waits for it."""

from __future__ import annotations

import asyncio

from proctor.judge.service.gates import ProviderGates


class Time:
    """A clock that goes on only while somebody waits; `waits` are the seconds that were waited."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def gates(self, at_once: int) -> ProviderGates:
        return ProviderGates(at_once, self.wait, self.clock)


async def settled() -> None:
    """Everything that can go on without anybody's doing has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)
