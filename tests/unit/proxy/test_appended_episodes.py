"""What was appended to a tape stands after the writes that it names, and changes nothing for what was there before."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.effects import EffectFound
from proctor.proxy.order import StateAware
from proctor.proxy.state import Difference, Recorded, Tapestate

EFFECTS = {"r": EffectFound("read", "declared"), "w": EffectFound("write", "declared")}


def order(kinds: str, after: Mapping[int, set[int]]) -> StateAware:
    """A tape of `r`eads and `w`rites; those in `after` were appended."""
    appended = {at: frozenset(writes) for at, writes in after.items()}
    recorded = [Recorded("desk", kind == "w", after=appended.get(at)) for at, kind in enumerate(kinds)]
    return StateAware([EFFECTS[kind] for kind in kinds], Tapestate(recorded))


def test_an_appended_read_answers_after_its_own_writes_and_not_after_all_of_the_tape() -> None:
    made = order("rwwr", {3: {1}})
    assert made.choose([0, 3]) == (0, False, Difference())
    made.choose([1])
    assert made.choose([0, 3]) == (3, False, Difference())
    made.choose([2])
    assert made.choose([3]) == (3, True, Difference(extra=(2,)))


def test_an_appended_write_is_none_that_an_older_recording_waits_for() -> None:
    made = order("wrwrw", {4: {0}})
    for position in range(4):
        assert made.choose([position]) == (position, False, Difference())


def test_an_appended_write_that_was_made_is_another_state_for_older_recordings() -> None:
    made = order("wrw", {2: {0}})
    made.choose([0])
    assert made.choose([2]) == (2, False, Difference())
    assert made.choose([1]) == (1, False, Difference(extra=(2,)))


def test_an_appended_read_says_which_of_its_writes_is_missing() -> None:
    made = order("wwr", {2: {0, 1}})
    made.choose([0])
    assert made.choose([2]) == (2, False, Difference(missing=(1,)))


def test_of_equal_writes_the_one_nearest_in_state_answers_and_of_equals_the_earliest() -> None:
    made = order("wwww", {2: {0}, 3: set()})
    assert made.choose([1, 2, 3]) == (3, False, Difference()), "none was made, as when it was appended"
    other = order("wwww", {2: {0}, 3: set()})
    other.choose([0])
    assert other.choose([1, 2, 3]) == (1, False, Difference()), "two are of the very same state"


def test_an_older_write_after_an_appended_one_that_never_followed_it_is_not_out_of_order() -> None:
    made = order("wwwr", {2: {0}, 3: {0, 1, 2}})
    made.choose([0])
    made.choose([2])
    assert made.choose([1]) == (1, False, Difference(extra=(2,)))
    assert made.choose([3]) == (3, False, Difference())
    swapped = order("wwwr", {2: {0, 1}, 3: {0, 1, 2}})
    for position in (0, 2, 1):
        swapped.choose([position])
    assert swapped.choose([3]) == (3, False, Difference(again=(1,))), "it was appended after that write"


def test_a_write_that_is_not_on_the_tape_makes_every_recording_one_of_another_state() -> None:
    made = order("rwr", {})
    made.choose([1])
    made.wrote_elsewhere("desk", 7)
    assert made.choose([0, 2], strict=True) == (2, False, Difference(elsewhere=1))
    assert made.made("desk") == ((1,), (7,))


def test_a_write_where_the_tape_has_none_changes_the_state_too() -> None:
    made = order("r", {})
    assert made.choose([0]) == (0, False, Difference())
    made.wrote_elsewhere("desk", 1)
    assert made.choose([0], strict=True) == (0, True, Difference(elsewhere=1))
    assert made.played == [1]


def test_a_strict_order_repeats_no_write_not_even_a_guessed_one() -> None:
    guessed = StateAware([EffectFound("write", "guessed")], Tapestate([Recorded("desk", True)]))
    assert guessed.choose([0], strict=True) == (0, False, Difference())
    assert guessed.choose([0], strict=True) is None
