"""In what state a recording was made, and in what state a session is: told by the writes before it.

The state of a service (or of several, by `state_group`) is the set of its writes so far. Two calls that overlapped
while they were recorded have no order: a write beside a read may have come before it or after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Recorded(NamedTuple):
    """One position of a tape, as far as state is concerned."""

    group: str
    is_write: bool
    beside: frozenset[int] = frozenset()
    """Earlier positions that had no answer yet when this one began."""


class Difference(NamedTuple):
    """How the state in which a recording was made differs from the session's, by positions of writes."""

    missing: tuple[int, ...] = ()
    """Came before it when it was recorded, and was not made in this session."""
    extra: tuple[int, ...] = ()
    """Was made in this session, and came after it when it was recorded."""
    again: tuple[int, ...] = ()
    """Was made more often than it was recorded, or in another order."""

    @property
    def distance(self) -> int:
        """The number of writes that differ; 0 in the very same state."""
        return len(self.missing) + len(self.extra) + len(self.again)


SAME = Difference()


@dataclass
class Tapestate:
    """Which writes precede each position of a tape. Pure; shared by every session that plays it."""

    recorded: Sequence[Recorded]
    writes: dict[str, list[int]] = field(default_factory=dict, init=False)
    """By group: the positions of its writes, in order."""
    _beside: dict[int, frozenset[int]] = field(default_factory=dict, init=False)
    """By position: the writes of its group that overlapped it, in either direction."""

    def __post_init__(self) -> None:
        """Read off the order of all positions."""
        beside: dict[int, set[int]] = {}
        for position, each in enumerate(self.recorded):
            if each.is_write:
                self.writes.setdefault(each.group, []).append(position)
            for other in each.beside:
                for one, two in ((position, other), (other, position)):
                    if self.recorded[two].is_write and self.recorded[two].group == self.recorded[one].group:
                        beside.setdefault(one, set()).add(two)
        self._beside = {position: frozenset(found) for position, found in beside.items()}

    def before(self, position: int) -> int:
        """How many writes of its group come earlier on the tape."""
        return bisect_left(self.writes.get(self.recorded[position].group, ()), position)

    def beside(self, position: int) -> frozenset[int]:
        """The writes that may have come before it or after it."""
        return self._beside.get(position, frozenset())

    def has_writes(self, position: int) -> bool:
        """Whether its group changes at all on this tape."""
        return self.recorded[position].group in self.writes


@dataclass
class GroupState:
    """The writes of one group that a session has made."""

    writes: Sequence[int]
    """Every write of the group on the tape, in order."""
    version: int = 0
    """Goes up with each write."""
    _made: set[int] = field(default_factory=set, init=False)
    _again: dict[int, None] = field(default_factory=dict, init=False)
    """Those that were made more often than recorded, or out of order, each once: a loop must not grow without end."""
    _prefix: int = field(default=0, init=False)
    """How many of `writes`, from the first on, have all been made."""
    _ahead: set[int] = field(default_factory=set, init=False)
    """What was made beyond that."""

    def wrote(self, position: int, beside: frozenset[int]) -> None:
        """Note a write; one that comes after a later one, which it did not overlap, is out of order."""
        if position in self._made:
            self.version += position not in self._again
            self._again[position] = None
            return
        self.version += 1
        if any(later > position and later not in beside for later in self._ahead):
            self._again[position] = None
        self._made.add(position)
        self._ahead.add(position)
        while self._prefix < len(self.writes) and self.writes[self._prefix] in self._ahead:
            self._ahead.discard(self.writes[self._prefix])
            self._prefix += 1

    def distance(self, before: int, beside: frozenset[int]) -> int:
        """The distance of `difference`, quickly told where no write was left out."""
        if self._ahead or beside:
            return self.difference(before, beside).distance
        return abs(before - self._prefix) + len(self._again)

    def difference(self, before: int, beside: frozenset[int]) -> Difference:
        """From the state after the first `before` writes of the tape, of which those in `beside` do not matter."""
        if before == self._prefix and not self._ahead and not self._again:
            return SAME
        missing = [w for w in self.writes[self._prefix : before] if w not in self._ahead and w not in beside]
        made_later = self.writes[before : self._prefix] if before < self._prefix else ()
        extra = [w for w in (*made_later, *sorted(self._ahead)) if w not in beside]
        came_before = set(self.writes[self._prefix : before])
        extra = [w for w in extra if w not in came_before]
        return Difference(tuple(missing), tuple(extra), tuple(w for w in self._again if w not in beside))
