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
    after: frozenset[int] | None = None
    """Of an appended one: exactly the writes that came before it. None where that is all of its group before it."""


class Difference(NamedTuple):
    """How the state in which a recording was made differs from the session's, by positions of writes."""

    missing: tuple[int, ...] = ()
    """Came before it when it was recorded, and was not made in this session."""
    extra: tuple[int, ...] = ()
    """Was made in this session, and came after it when it was recorded."""
    again: tuple[int, ...] = ()
    """Was made more often than it was recorded, or in another order."""
    elsewhere: int = 0
    """How many writes the session made that are not on the tape at all."""

    @property
    def distance(self) -> int:
        """The number of writes that differ; 0 in the very same state."""
        return len(self.missing) + len(self.extra) + len(self.again) + self.elsewhere


SAME = Difference()
Before = int | frozenset[int]
"""The writes before a recording: the first so many of its group on the tape, or exactly these."""


@dataclass
class Tapestate:
    """Which writes precede each position of a tape. Pure; shared by every session that plays it."""

    recorded: Sequence[Recorded]
    writes: dict[str, list[int]] = field(default_factory=dict, init=False)
    """By group: the positions of its writes, in order."""
    _beside: dict[int, frozenset[int]] = field(default_factory=dict, init=False)
    """By position: the writes of its group that overlapped it, in either direction."""
    _appended: dict[str, list[int]] = field(default_factory=dict, init=False)
    """By group: the writes that were appended to the tape, in order."""

    def __post_init__(self) -> None:
        """Read off the order of all positions."""
        beside: dict[int, set[int]] = {}
        for position, each in enumerate(self.recorded):
            if each.is_write:
                self.writes.setdefault(each.group, []).append(position)
                if each.after is not None:
                    self._appended.setdefault(each.group, []).append(position)
            for other in each.beside:
                for one, two in ((position, other), (other, position)):
                    if self.recorded[two].is_write and self.recorded[two].group == self.recorded[one].group:
                        beside.setdefault(one, set()).add(two)
        self._beside = {position: frozenset(found) for position, found in beside.items()}

    def before(self, position: int) -> Before:
        """The writes before it: how many of its group come earlier on the tape, or just which."""
        group, _, _, after = self.recorded[position]
        writes = self.writes.get(group, ())
        return bisect_left(writes, position) if after is None else after.intersection(writes)

    def beside(self, position: int) -> frozenset[int]:
        """The writes that may have come before it or after it."""
        return self._beside.get(position, frozenset())

    def unordered(self, position: int) -> frozenset[int]:
        """Later writes on the tape that may as well be made before this one: they overlapped it, or never followed it.

        What was appended follows only the writes that it names.
        """
        appended = self._appended.get(self.recorded[position].group, ())
        loose = {later for later in appended if later > position and position not in (self.recorded[later].after or ())}
        return self.beside(position) | loose


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
    elsewhere: list[int] = field(default_factory=list, init=False)
    """Writes that are not on the tape, by the session's own numbers."""

    @property
    def made(self) -> tuple[int, ...]:
        """The positions of the tape's writes that were made, sorted."""
        return tuple(sorted(self._made))

    def wrote_elsewhere(self, index: int) -> None:
        """Note a write that is not on the tape: from now on no state of the tape is the session's."""
        self.version += 1
        self.elsewhere.append(index)

    def wrote(self, position: int, unordered: frozenset[int]) -> None:
        """Note a write; one that comes after a later one is out of order, save after those in `unordered`."""
        if position in self._made:
            self.version += position not in self._again
            self._again[position] = None
            return
        self.version += 1
        if any(later > position and later not in unordered for later in self._ahead):
            self._again[position] = None
        self._made.add(position)
        self._ahead.add(position)
        while self._prefix < len(self.writes) and self.writes[self._prefix] in self._ahead:
            self._ahead.discard(self.writes[self._prefix])
            self._prefix += 1

    def distance(self, before: Before, beside: frozenset[int]) -> int:
        """The distance of `difference`, quickly told where no write was left out."""
        if self._ahead or beside or isinstance(before, frozenset):
            return self.difference(before, beside).distance
        return abs(before - self._prefix) + len(self._again) + len(self.elsewhere)

    def difference(self, before: Before, beside: frozenset[int]) -> Difference:
        """From the state after the writes in `before`, of which those in `beside` do not matter."""
        again, elsewhere = tuple(w for w in self._again if w not in beside), len(self.elsewhere)
        if isinstance(before, frozenset):
            missing, extra = (sorted(found - beside) for found in (before - self._made, self._made - before))
            return Difference(tuple(missing), tuple(extra), again, elsewhere)
        if before == self._prefix and not self._ahead and not self._again and not elsewhere:
            return SAME
        missing = [w for w in self.writes[self._prefix : before] if w not in self._ahead and w not in beside]
        made_later = self.writes[before : self._prefix] if before < self._prefix else ()
        extra = [w for w in (*made_later, *sorted(self._ahead)) if w not in beside]
        came_before = set(self.writes[self._prefix : before])
        extra = [w for w in extra if w not in came_before]
        return Difference(tuple(missing), tuple(extra), again, elsewhere)
