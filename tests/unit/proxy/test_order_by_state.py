"""Which recording of a read answers, by the writes that came before it when it was made and those made now."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.effects import EffectFound
from proctor.proxy.order import Choice, StateAware
from proctor.proxy.state import Difference, Recorded, Tapestate

READ, WRITE = EffectFound("read", "declared"), EffectFound("write", "declared")
GUESSED = EffectFound("write", "guessed")


def order(kinds: str, beside: dict[int, set[int]] | None = None, groups: str = "") -> StateAware:
    """A tape of `r`eads, `w`rites and `g`uessed writes; `beside` overlapped, `groups` names each one's state."""
    effects = [{"r": READ, "w": WRITE, "g": GUESSED}[kind] for kind in kinds]
    recorded = [
        Recorded(groups[at] if groups else "desk", kind != "r", frozenset((beside or {}).get(at, set())))
        for at, kind in enumerate(kinds)
    ]
    return StateAware(effects, Tapestate(recorded))


def play(made: StateAware, *positions: Sequence[int]) -> list[Choice | None]:
    """The choices for these candidates, one after the other."""
    return [made.choose(list(each)) for each in positions]


def test_a_read_that_is_asked_once_more_is_answered_from_before_the_write_until_it_is_made() -> None:
    reads = [0, 2]
    assert play(order("rwr"), reads, reads, [1], reads, reads) == [
        (0, False, Difference()),
        (0, True, Difference()),
        (1, False, Difference()),
        (2, False, Difference()),
        (2, True, Difference()),
    ]


def test_a_read_that_is_left_out_before_a_write_does_not_shift_the_others() -> None:
    assert play(order("rwr"), [1], [0, 2]) == [(1, False, Difference()), (2, False, Difference())]


def test_within_one_state_the_next_in_line_answers_and_the_last_again() -> None:
    reads = [0, 1, 2, 4]
    made = order("rrrwr")
    assert [choice[:2] for choice in play(made, *[reads] * 4) if choice] == [
        (0, False),
        (1, False),
        (2, False),
        (2, True),
    ]


def test_where_none_was_made_in_that_state_the_nearest_answers_and_says_which_writes_differ() -> None:
    assert play(order("rw"), [1], [0]) == [(1, False, Difference()), (0, False, Difference(extra=(1,)))]
    assert play(order("wwr"), [2]) == [(2, False, Difference(missing=(0, 1)))]
    assert play(order("rwwr"), [1], [0, 3])[1] == (3, False, Difference(missing=(2,))), "of equally far ones the latest"


def test_a_write_says_what_came_before_it_too() -> None:
    assert play(order("ww"), [1], [0]) == [
        (1, False, Difference(missing=(0,))),
        (0, False, Difference(extra=(1,))),
    ]


def test_writes_in_another_order_are_another_state_although_they_are_the_same_ones() -> None:
    assert play(order("wwr"), [1], [0], [2])[2] == (2, False, Difference(again=(0,)))


def test_overlapping_writes_have_no_order() -> None:
    made = play(order("wwr", {1: {0}}), [1], [0], [2])
    assert made == [(1, False, Difference()), (0, False, Difference()), (2, False, Difference())]


def test_a_read_that_overlapped_a_write_answers_on_either_side_of_it() -> None:
    made = play(order("wr", {1: {0}}), [1], [0], [1])
    assert made == [(1, False, Difference()), (0, False, Difference()), (1, True, Difference())]


def test_a_write_that_began_during_a_read_counts_as_overlapping_too() -> None:
    beside = {1: {0}}
    assert play(order("rwr", beside), [1], [0])[1] == (0, False, Difference())


def test_a_guessed_write_that_is_repeated_is_another_state() -> None:
    assert play(order("rgr"), [1], [1], [0, 2])[1:] == [
        (1, True, Difference()),
        (2, False, Difference(again=(1,))),
    ]


def test_a_guessed_write_that_loops_is_one_difference_however_often() -> None:
    looping = order("rgr")
    play(looping, *[[1]] * 1000)
    assert play(looping, [0, 2]) == [(2, False, Difference(again=(1,)))]


def test_services_of_their_own_do_not_change_each_others_state() -> None:
    assert play(order("rwr", groups="aba"), [1], [0, 2], [0, 2]) == [
        (1, False, Difference()), (0, False, Difference()), (2, False, Difference()),
    ]  # fmt: skip


def test_recordings_equal_in_meaning_answer_where_those_equal_in_bytes_are_of_another_state() -> None:
    made = order("rwr")
    made.choose([1])
    assert made.choose([0], lambda: [0, 2]) == (2, False, Difference())
    asked: list[int] = []
    assert made.choose([2], lambda: asked or [0, 2]) == (2, True, Difference())


def test_a_strict_order_gives_another_state_but_does_not_note_it() -> None:
    made = order("rwrw")
    assert made.choose([2], strict=True) == (2, False, Difference(missing=(1,)))
    assert made.choose([3], strict=True) == (3, False, Difference(missing=(1,)))
    assert made.played == [0, 0, 0, 0]
    assert play(made, [1], [2], [3]) == [(1, False, Difference()), (2, False, Difference()), (3, False, Difference())]


def test_a_long_tape_is_looked_through_once_a_state() -> None:
    size = 2000
    made = order("rw" * size)
    reads = list(range(0, 2 * size, 2))
    for at in range(size):
        assert made.choose(reads) == (2 * at, False, Difference())
        assert made.choose([2 * at + 1]) == (2 * at + 1, False, Difference())
