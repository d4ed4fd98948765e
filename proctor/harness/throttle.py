"""How many trials run at once: as many as the cap allows, and fewer once the platform fails several times in a row."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

IN_A_ROW = 3
"""Platform errors that halve the cap."""


@dataclass(frozen=True)
class Pace:
    """The cap on trials at once (at least 1), and how many platform errors came in a row under it."""

    cap: int
    errors: int = 0

    def after(self, platform_error: bool, begun_under: int) -> Pace:
        """The pace once a trial has ended that began when the cap was `begun_under`.

        An error of one that began under a higher cap says nothing of the present one: else the errors of a single
        moment, in which many trials ran, would halve it down to 1.
        """
        if not platform_error:
            return replace(self, errors=0)
        if begun_under > self.cap:
            return self
        if self.errors + 1 < IN_A_ROW:
            return replace(self, errors=self.errors + 1)
        return Pace(max(1, self.cap // 2))


class Throttle:
    """Lets trials begin, first come first served, so that never more run than the cap of that moment allows.

    A cap that shrinks ends no trial; the next one waits until there is room under the new cap. Of one event loop.
    """

    def __init__(self, cap: int) -> None:
        """Raises ValueError for a cap below 1."""
        if cap < 1:
            raise ValueError(f"a cap of {cap} would let no trial run")
        self._pace = Pace(cap)
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def cap(self) -> int:
        """How many may run now."""
        return self._pace.cap

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for a place and hold it; gives the cap under which the trial begins, which `ended` wants to know."""
        await self._begin()
        try:
            yield self.cap
        finally:
            self._leave()

    def ended(self, platform_error: bool, begun_under: int) -> bool:
        """Take in how a trial ended; tells whether that halved the cap."""
        before = self.cap
        self._pace = self._pace.after(platform_error, begun_under)
        return self.cap < before

    async def _begin(self) -> None:
        if self._running < self.cap and not self._waiting:
            self._running += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
            else:  # it was given its place in the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        self._running -= 1
        while self._waiting and self._running < self.cap:
            place = self._waiting.popleft()
            if not place.done():
                self._running += 1
                place.set_result(None)
