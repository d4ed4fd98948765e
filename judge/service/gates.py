"""How many calls go to each provider at once, and when it is left alone: one gate for all who ask it.

A refusal for the rate pauses the whole provider and halves the number at once; good answers raise it again, one by one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from proctor.judge.choosing import chosen_model
from proctor.model import provider_of
from proctor.model_call import Model, ModelCall, ModelFailure, Reply
from proctor.model_gate import Gate, leave
from proctor.model_route import FIRST_WAIT, LONGEST_WAIT, Wait

Clock = Callable[[], float]


@dataclass(frozen=True)
class GateState:
    """A provider's gate now, for metrics."""

    in_flight: int
    waiting: int
    at_once: int
    """Calls that may be under way now; `most` is what was configured."""
    most: int
    paused: float
    """Seconds for which nothing goes out yet; 0 where something may."""
    limited: int
    """Refusals for the rate since the start."""


class ProviderGates:
    """The gates of all providers, `at_once` calls each. They belong to one event loop."""

    def __init__(self, at_once: int, wait: Wait = asyncio.sleep, clock: Clock = time.monotonic) -> None:
        """`wait` waits out a pause by `clock`, both in seconds. Raises ValueError for less than one at once."""
        if at_once < 1:
            raise ValueError(f"at least one call at once, not {at_once}")
        self._at_once = at_once
        self._wait = wait
        self._clock = clock
        self._gates: dict[str, ProviderGate] = {}

    def of(self, provider: str) -> ProviderGate:
        """The one gate of that provider."""
        if provider not in self._gates:
            self._gates[provider] = ProviderGate(self._at_once, self._wait, self._clock)
        return self._gates[provider]

    def model(self, name: str) -> Model:
        """The model of that name behind its provider's gate. Raises UsageError for none."""
        gate = self.of(provider_of(name))
        model = chosen_model(name, gate)
        return GatedModel(model, gate) if model.is_stand_in else model

    def states(self) -> dict[str, GateState]:
        """Of each provider that was asked for."""
        return {provider: gate.state for provider, gate in self._gates.items()}


class ProviderGate:
    """See Gate. First come, first served: whoever stands at the door waits out the pause, then for a free place."""

    def __init__(self, at_once: int, wait: Wait, clock: Clock) -> None:
        self._most = self._at_once = at_once
        self._wait = wait
        self._clock = clock
        self._door = asyncio.Lock()
        self._changed = asyncio.Event()
        self._in_flight = self._waiting = self._good = self._limited = 0
        self._pauses = 0
        """In a row, with no good answer between them."""
        self._paused_until = 0.0
        self._jitter = Random()  # noqa: S311 - services that share a provider should not come back at one moment

    @property
    def state(self) -> GateState:
        """As it is now."""
        return GateState(self._in_flight, self._waiting, self._at_once, self._most, self._pause, self._limited)

    @property
    def _pause(self) -> float:
        return max(0.0, self._paused_until - self._clock())

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """See Gate."""
        self._waiting += 1
        try:
            async with self._door:
                await self._let_in()
                self._in_flight += 1  # nothing is awaited from here to the `try`: a cancellation cannot fall between
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._changed.set()

    async def _let_in(self) -> None:
        while True:
            if pause := self._pause:
                await self._wait(pause)
            elif self._in_flight >= self._at_once:
                self._changed.clear()
                await self._changed.wait()
            else:
                return

    def limited(self, after: float | None) -> None:
        """See Gate. Calls that were under way when a pause began tell of the same limit: they do not halve it again."""
        self._limited += 1
        self._good = 0
        if not self._pause:
            self._at_once = max(1, self._at_once // 2)
            self._pauses += 1
            after = after or self._drawn()
        if after is not None:
            self._paused_until = max(self._paused_until, self._clock() + min(after, LONGEST_WAIT))

    def _drawn(self) -> float:
        """Seconds, of a bound that doubles with each pause; at least half of it, since that was too short before."""
        bound = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self._pauses - 1, 30))
        return self._jitter.uniform(bound / 2, bound)

    def fine(self) -> None:
        """See Gate. During a pause it answers what went out before, which tells nothing of the limit now."""
        if self._pause:
            return
        self._pauses = 0
        self._good += 1
        if self._at_once < self._most and self._good >= self._at_once:
            self._at_once += 1
            self._good = 0
            self._changed.set()


class GatedModel:
    """A model that has no attempts of its own, such as a stand-in: each question is one turn."""

    def __init__(self, model: Model, gate: Gate) -> None:
        self._model = model
        self._gate = gate

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def is_stand_in(self) -> bool:
        """The model's."""
        return self._model.is_stand_in

    async def ask(self, call: ModelCall) -> Reply:
        """The model's reply. Raises ModelFailure."""
        async with self._gate.turn():
            await leave()
            try:
                reply = await self._model.ask(call)
            except ModelFailure as failure:
                if failure.cause == "rate_limited":
                    self._gate.limited(None)
                raise
            self._gate.fine()
            return reply
