"""Which of several equal recordings answers next.

Next in line is how most recorders answer, and it is wrong as soon as an agent asks once more or once less than it did:
the answer is then one from before, or after, a change. Here a read is answered from the state in which the session is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from proctor.effects import EffectFound
from proctor.proxy.state import SAME, Difference, GroupState, Tapestate

Wider = Callable[[], Sequence[int]]
"""Looks up the recordings that are equal in meaning; called only where those equal in bytes do not answer."""


def _none() -> Sequence[int]:
    return ()


class Choice(NamedTuple):
    """The position that answers; `repeated` where every equal recording of that state had answered before."""

    position: int
    repeated: bool
    state: Difference = SAME
    """From the state in which it was recorded to that of the session."""


class Order(Protocol):
    """Chooses among the equal recordings of a tape, for one session."""

    played: list[int]
    """By position: how often it has answered."""

    def choose(self, positions: Sequence[int], wider: Wider = _none, *, strict: bool = False) -> Choice | None:
        """The recording that answers next, noted as played; None where they are used up.

        Where `strict`, a choice of another state is given, but not noted, and no write is repeated.
        """

    def nearest(self, positions: Sequence[int], wider: Wider = _none) -> Choice | None:
        """The recording that would answer next; nothing is noted."""


@dataclass
class _Near:
    """Of equal recordings those in the state nearest to the session's; `next` is the first that may be unplayed."""

    positions: list[int]
    state: Difference
    next: int = 0


@dataclass
class StateAware:
    """Answers a read from the recording made after exactly the writes of this session, else from the nearest one.

    A write answers once a recording, of several the one nearest in state, in recorded order; one whose effect is only
    guessed repeats the last.
    What depends on no state (an LLM) answers in recorded order, the last one again.
    """

    effects: Sequence[EffectFound]
    tape: Tapestate
    played: list[int] = field(init=False)
    _groups: dict[str, GroupState] = field(init=False, default_factory=dict)
    _first_unplayed: dict[tuple[int, int], int] = field(init=False, default_factory=dict)
    _nearest: dict[tuple[int, int, int], _Near] = field(init=False, default_factory=dict)
    """By candidates and version of the state."""

    def __post_init__(self) -> None:
        """Nothing has answered yet."""
        self.played = [0] * len(self.effects)
        self._groups = {name: GroupState(writes) for name, writes in self.tape.writes.items()}

    def choose(self, positions: Sequence[int], wider: Wider = _none, *, strict: bool = False) -> Choice | None:
        """See `Order.choose`."""
        first = positions[0]
        effect, group = self.effects[first].effect, self.tape.recorded[first].group
        choice = self.nearest(positions, wider)
        if choice is None or (strict and choice.state.distance):
            return choice
        if strict and choice.repeated and effect == "write":
            return None
        self.played[choice.position] += 1
        if effect == "write":
            self._groups[group].wrote(choice.position, self.tape.unordered(choice.position))
        return choice

    def nearest(self, positions: Sequence[int], wider: Wider = _none) -> Choice | None:
        """See `Order.nearest`."""
        effect, group = self.effects[positions[0]].effect, self.tape.recorded[positions[0]].group
        if effect == "read" and group in self._groups:
            return self._read(positions, wider)
        return self._write(positions, wider) if effect == "write" else self._in_line(positions, wider)

    def made(self, group: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The writes of a group so far: those of the tape by position, and the session's numbers of all others."""
        state = self._groups.get(group)
        return (state.made, tuple(state.elsewhere)) if state else ((), ())

    def wrote_elsewhere(self, group: str, index: int) -> None:
        """Note a write that is not on the tape, by the session's own number."""
        self._groups.setdefault(group, GroupState(())).wrote_elsewhere(index)

    def _write(self, positions: Sequence[int], wider: Wider) -> Choice | None:
        """Of the recordings that have not answered the nearest one, of equals the earliest."""
        choice = self._in_line(positions, wider)
        if choice is None:
            return None
        choice = choice._replace(state=self._difference(choice.position))
        if choice.repeated or not choice.state.distance:
            return choice
        left = [p for p in sorted({*positions, *wider()}) if not self.played[p]]
        nearest = min(left, key=lambda p: (self._difference(p).distance, p != choice.position, p))
        return Choice(nearest, repeated=False, state=self._difference(nearest))

    def _difference(self, position: int) -> Difference:
        """In what the session's state is not that of a recording. A repeated write does not differ from itself."""
        state = self._groups[self.tape.recorded[position].group]
        return state.difference(self.tape.before(position), self.tape.beside(position) | {position})

    def _read(self, positions: Sequence[int], wider: Wider) -> Choice:
        near = self._near(positions)
        position = self._unplayed(near) if not near.state.distance else None
        if position is None:
            all_equal = wider()
            wide = self._near(all_equal) if len(all_equal) > len(positions) else near
            if wide.state.distance < near.state.distance:
                near = wide
            position = self._unplayed(wide if not wide.state.distance else near)
        if position is not None:
            return Choice(position, repeated=False, state=near.state)
        return Choice(near.positions[-1], repeated=True, state=near.state)

    def _near(self, positions: Sequence[int]) -> _Near:
        """The recordings of the state that differs in the fewest writes; where it is not the very same, the latest."""
        state = self._groups[self.tape.recorded[positions[0]].group]
        key = (positions[0], len(positions), state.version)
        known = self._nearest.get(key)
        if known is None:
            distances = [state.distance(self.tape.before(p), self.tape.beside(p)) for p in positions]
            least = min(distances)
            nearest = [p for p, distance in zip(positions, distances, strict=True) if distance == least]
            latest = nearest[-1]
            known = self._nearest[key] = _Near(nearest if not least else [latest], self._difference(latest))
        return known

    def _unplayed(self, near: _Near) -> int | None:
        """The first of these that has not answered yet; None where all have."""
        while near.next < len(near.positions):
            if not self.played[near.positions[near.next]]:
                return near.positions[near.next]
            near.next += 1
        return None

    def _in_line(self, positions: Sequence[int], wider: Wider) -> Choice | None:
        position = self._next(positions)
        if position is None:
            all_equal = wider()
            position = self._next(all_equal) if len(all_equal) > len(positions) else None
        if position is not None:
            return Choice(position, repeated=False)
        effect, why = self.effects[positions[-1]]
        return None if effect == "write" and why != "guessed" else Choice(positions[-1], repeated=True)

    def _next(self, positions: Sequence[int]) -> int | None:
        """The first that has not answered yet; None where all have."""
        group = (positions[0], len(positions))  # those equal in bytes are some of those equal in meaning: own count
        for offset in range(self._first_unplayed.get(group, 0), len(positions)):
            if not self.played[positions[offset]]:
                self._first_unplayed[group] = offset
                return positions[offset]
        self._first_unplayed[group] = len(positions)
        return None
