"""Whatever callers do at a gate, and whenever they are cancelled: never too many at once, and no place is lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.service.gates import ProviderGate
from tests.property.counts import examples
from tests.unit.judge.service.clocks import Time

ENDS = st.sampled_from(["fine", "limited", "failed"])


@dataclass(frozen=True)
class Caller:
    """It comes after some steps of the loop, stays for some, and is cancelled at a step if that comes first."""

    comes: int
    stays: int
    ends: str
    after: float | None
    cancelled: int | None


CALLERS = st.builds(
    Caller,
    st.integers(0, 12),
    st.integers(0, 8),
    ENDS,
    st.none() | st.floats(0, 200),
    st.none() | st.integers(0, 40),
)


@dataclass
class Watch:
    """How many are inside, and at which coming in there were too many."""

    gate: ProviderGate
    inside: int = 0
    wrong: int = 0

    async def call(self, caller: Caller) -> None:
        await steps(caller.comes)
        async with self.gate.turn():
            self.inside += 1
            state = self.gate.state
            self.wrong += self.inside > state.at_once or self.inside != state.in_flight or state.paused > 0
            try:
                await steps(caller.stays)
                if caller.ends == "failed":
                    raise ValueError
                self.gate.limited(caller.after) if caller.ends == "limited" else self.gate.fine()
            finally:
                self.inside -= 1


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def watched(at_once: int, callers: list[Caller]) -> Watch:
    watch = Watch(Time().gates(at_once).of("openai"))
    tasks = [asyncio.create_task(watch.call(caller)) for caller in callers]
    for step in range(41):
        for caller, task in zip(callers, tasks, strict=True):
            if caller.cancelled == step:
                task.cancel()
        await asyncio.sleep(0)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(each is None or isinstance(each, ValueError | asyncio.CancelledError) for each in ended)
    return watch


@given(st.integers(1, 4), st.lists(CALLERS, max_size=14))
@examples(ci=150, soak=20_000)
def test_never_more_than_the_number_at_once_and_no_place_is_lost(at_once: int, callers: list[Caller]) -> None:
    watch = asyncio.run(watched(at_once, callers))
    state = watch.gate.state
    assert watch.wrong == 0
    assert (state.in_flight, state.waiting) == (0, 0)
    assert 1 <= state.at_once <= state.most == at_once
