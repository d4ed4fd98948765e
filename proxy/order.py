"""Which of several equal recordings answers next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from proctor.effects import EffectFound


class Choice(NamedTuple):
    """The position that answers; `repeated` where every equal recording had answered before."""

    position: int
    repeated: bool


class Order(Protocol):
    """Chooses among the equal recordings of a tape, for one session."""

    played: list[int]
    """By position: how often it has answered."""

    def choose(self, positions: Sequence[int], wider: Sequence[int] = ()) -> Choice | None:
        """The recording that answers next, noted as played; None where they are used up.

        `wider` holds the recordings that are equal in meaning: they answer once those equal in bytes are used up.
        """


@dataclass
class NextInLine:
    """In recorded order; then the last one again, save for a write that somebody vouches for: that happens once."""

    effects: Sequence[EffectFound]
    played: list[int] = field(init=False)
    _first_unplayed: dict[tuple[int, int], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing has answered yet."""
        self.played = [0] * len(self.effects)

    def choose(self, positions: Sequence[int], wider: Sequence[int] = ()) -> Choice | None:
        """See `Order.choose`."""
        for group in (positions, wider) if len(wider) > len(positions) else (positions,):
            position = self._next(group)
            if position is not None:
                return Choice(position, repeated=False)
        last = positions[-1]
        effect, why = self.effects[last]
        if effect == "write" and why != "guessed":
            return None
        self.played[last] += 1
        return Choice(last, repeated=True)

    def _next(self, positions: Sequence[int]) -> int | None:
        """The first that has not answered yet, which now has; None where all have."""
        group = (positions[0], len(positions))  # those equal in bytes are some of those equal in meaning: own count
        for offset in range(self._first_unplayed.get(group, 0), len(positions)):
            position = positions[offset]
            if not self.played[position]:
                self._first_unplayed[group] = offset + 1
                self.played[position] = 1
                return position
        self._first_unplayed[group] = len(positions)
        return None
