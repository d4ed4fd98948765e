"""Time in faults is wall time: what overlaps counts once."""

from __future__ import annotations

import time

import pytest

from proctor.proxy.held import Held


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", made)
    return made


def test_overlapping_waits_count_once_and_gaps_not_at_all(clock: Clock) -> None:
    held = Held()
    with held.holding():
        clock.now += 2
        with held.holding():
            clock.now += 3
        clock.now += 1
    clock.now += 50
    with held.holding():
        clock.now += 4
    assert held.seconds == 10


def test_a_wait_that_goes_on_counts_until_this_moment(clock: Clock) -> None:
    held = Held()
    assert held.seconds == 0
    with held.holding():
        clock.now += 2
        assert held.seconds == 2
        clock.now += 1
        assert held.seconds == 3


def test_a_wait_that_is_broken_off_counts_as_long_as_it_was(clock: Clock) -> None:
    held = Held()

    def broken() -> None:
        with held.holding():
            clock.now += 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    clock.now += 5
    assert held.seconds == 2
