"""Among equal recordings the next in line answers; what happens when they are used up depends on the effect."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from proctor.effects import EffectFound
from proctor.proxy.order import Choice, StateAware
from proctor.proxy.state import Recorded, Tapestate

READ, PURE = EffectFound("read", "method"), EffectFound("pure", "preset")
WRITE, GUESSED = EffectFound("write", "declared"), EffectFound("write", "guessed")


def order_of(effects: Sequence[EffectFound]) -> StateAware:
    """Of a tape of one service, on which every call waited for the one before."""
    return StateAware(effects, Tapestate([Recorded("desk", effect.effect == "write") for effect in effects]))


def told(choice: Choice | None) -> tuple[int, bool] | None:
    """Position, and whether it had answered before."""
    return None if choice is None else choice[:2]


@pytest.mark.parametrize("effect", [READ, PURE, GUESSED, EffectFound("read", "guessed")])
def test_recordings_answer_in_order_and_the_last_one_again(effect: EffectFound) -> None:
    order = order_of([effect] * 5)
    chosen = [told(order.choose([0, 2, 4])) for _ in range(5)]
    assert chosen == [(0, False), (2, False), (4, False), (4, True), (4, True)]
    assert order.played == [1, 0, 1, 0, 3]


@pytest.mark.parametrize("why", ["declared", "method", "preset"])
def test_a_write_that_somebody_vouches_for_answers_once_a_recording(why: str) -> None:
    order = order_of([EffectFound("write", why)] * 2)  # type: ignore[arg-type]
    assert [told(order.choose([0, 1])) for _ in range(4)] == [(0, False), (1, False), None, None]
    assert order.played == [1, 1]


def test_where_strict_not_even_a_guessed_write_is_repeated() -> None:
    order = order_of([GUESSED])
    assert [told(order.choose([0], strict=True)) for _ in range(2)] == [(0, False), None]


def test_groups_that_share_nothing_do_not_disturb_each_other() -> None:
    order = order_of([READ, WRITE, READ, WRITE])
    assert told(order.choose([0, 2])) == (0, False)
    assert told(order.choose([1, 3])) == (1, False)
    assert told(order.choose([0, 2])) == (2, False)
    assert told(order.choose([1, 3])) == (3, False)
    assert told(order.choose([1, 3])) is None
    assert told(order.choose([0, 2])) == (2, True)


def test_an_exact_group_and_the_canonical_one_around_it_share_what_was_played() -> None:
    order = order_of([READ] * 4)
    assert told(order.choose([1, 3])) == (1, False)  # exactly these bytes
    assert told(order.choose([0, 1, 2, 3])) == (0, False)
    assert told(order.choose([0, 1, 2, 3])) == (2, False)  # 1 has answered already
    assert told(order.choose([1, 3])) == (3, False)
    assert told(order.choose([0, 1, 2, 3])) == (3, True)
    assert told(order.choose([1, 3])) == (3, True)


def test_an_exact_group_that_begins_as_its_canonical_one_counts_for_itself() -> None:
    order = order_of([READ] * 3)
    assert told(order.choose([0, 1, 2])) == (0, False)
    assert told(order.choose([0, 2])) == (2, False)
    assert told(order.choose([0, 1, 2])) == (1, False)
    assert told(order.choose([0, 1, 2])) == (2, True)


def test_a_write_that_another_spelling_has_used_up_is_used_up() -> None:
    order = order_of([WRITE, WRITE])
    assert told(order.choose([0, 1])) == (0, False)
    assert told(order.choose([0])) is None
    assert told(order.choose([1])) == (1, False)
    assert told(order.choose([0, 1])) is None
