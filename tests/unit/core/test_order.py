"""Among equal recordings the next in line answers; what happens when they are used up depends on the effect."""

from __future__ import annotations

import pytest

from proctor.effects import EffectFound
from proctor.proxy.order import NextInLine

READ, PURE = EffectFound("read", "method"), EffectFound("pure", "preset")
WRITE, GUESSED = EffectFound("write", "declared"), EffectFound("write", "guessed")


@pytest.mark.parametrize("effect", [READ, PURE, GUESSED, EffectFound("read", "guessed")])
def test_recordings_answer_in_order_and_the_last_one_again(effect: EffectFound) -> None:
    order = NextInLine([effect] * 5)
    chosen = [order.choose([0, 2, 4]) for _ in range(5)]
    assert chosen == [(0, False), (2, False), (4, False), (4, True), (4, True)]
    assert order.played == [1, 0, 1, 0, 3]


@pytest.mark.parametrize("why", ["declared", "method", "preset"])
def test_a_write_that_somebody_vouches_for_answers_once_a_recording(why: str) -> None:
    order = NextInLine([EffectFound("write", why)] * 2)  # type: ignore[arg-type]
    assert [order.choose([0, 1]) for _ in range(4)] == [(0, False), (1, False), None, None]
    assert order.played == [1, 1]


def test_groups_that_share_nothing_do_not_disturb_each_other() -> None:
    order = NextInLine([READ, WRITE, READ, WRITE])
    assert order.choose([0, 2]) == (0, False)
    assert order.choose([1, 3]) == (1, False)
    assert order.choose([0, 2]) == (2, False)
    assert order.choose([1, 3]) == (3, False)
    assert order.choose([1, 3]) is None
    assert order.choose([0, 2]) == (2, True)


def test_an_exact_group_and_the_canonical_one_around_it_share_what_was_played() -> None:
    order = NextInLine([READ] * 4)
    assert order.choose([1, 3]) == (1, False)  # exactly these bytes
    assert order.choose([0, 1, 2, 3]) == (0, False)
    assert order.choose([0, 1, 2, 3]) == (2, False)  # 1 has answered already
    assert order.choose([1, 3]) == (3, False)
    assert order.choose([0, 1, 2, 3]) == (3, True)
    assert order.choose([1, 3]) == (3, True)


def test_an_exact_group_that_begins_as_its_canonical_one_counts_for_itself() -> None:
    order = NextInLine([READ] * 3)
    assert order.choose([0, 1, 2]) == (0, False)
    assert order.choose([0, 2]) == (2, False)
    assert order.choose([0, 1, 2]) == (1, False)
    assert order.choose([0, 1, 2]) == (2, True)


def test_a_write_that_another_spelling_has_used_up_is_used_up() -> None:
    order = NextInLine([WRITE, WRITE])
    assert order.choose([0, 1]) == (0, False)
    assert order.choose([0]) is None
    assert order.choose([1]) == (1, False)
    assert order.choose([0, 1]) is None
