"""What a diff of two tapes found, as values, as lines for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from proctor.diff import ABSENT, shown_value
from proctor.tape_reading import Reading

_LISTED = 40
"""Interactions that are told unless all are asked for."""
_FIELDS = 20
"""Differences of one interaction that are told unless all are asked for."""

Kind = Literal["changed", "added", "removed", "moved"]
_SIGNS: dict[Kind, str] = {"changed": "~", "added": "+", "removed": "-", "moved": ">"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One field. `old` and `new` are plain values; ABSENT where a side has none."""

    where: str
    """As `request body /order_id`, `answer status`, `effect`, `environment`."""
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.where}: {shown_value(self.old, self.new)} -> {shown_value(self.new, self.old)}"

    def as_json(self) -> dict[str, Any]:
        """`where`, and `old` and `new` where there is one."""
        sides = {"old": self.old, "new": self.new}
        return {"where": self.where, **{side: value for side, value in sides.items() if value is not ABSENT}}


@dataclass(frozen=True, slots=True)
class Change:
    """An interaction that is not as it was. `changed` may have moved too."""

    kind: Kind
    old: Reading | None
    new: Reading | None
    differences: tuple[Difference, ...] = ()
    moved: bool = False

    def lines(self, most: int | None) -> Iterator[str]:
        """What a person reads of it."""
        one = self.new or self.old
        assert one is not None
        places = [f"#{side.index}" for side in (self.old, self.new) if side]
        moved = ", in another order" if self.moved else ""
        yield f"{_SIGNS[self.kind]} {' -> '.join(dict.fromkeys(places))} {one.service} {one.name}: {self.kind}{moved}"
        told = self.differences if most is None else self.differences[:most]
        yield from (f"    {difference}" for difference in told)
        if len(told) < len(self.differences):
            yield f"    ... and {len(self.differences) - len(told)} more fields"

    def as_json(self) -> dict[str, Any]:
        """One object; `old` and `new` are indexes, null where that tape has none."""
        one = self.new or self.old
        assert one is not None
        return {
            "kind": self.kind,
            "moved": self.moved,
            "old": self.old.index if self.old else None,
            "new": self.new.index if self.new else None,
            "service": one.service,
            "name": one.name,
            "differences": [difference.as_json() for difference in self.differences],
        }


@dataclass(frozen=True, slots=True)
class TapeDiff:
    """What really changed, in the order of the new tape; what was removed stands where it had been."""

    changes: tuple[Change, ...]
    total: int
    """Interactions of both sides, a pair counted once."""
    head: tuple[Difference, ...] = ()
    """What changed in the circumstances: environment, addresses, tool schemas."""
    told: tuple[Difference, ...] = ()
    """What else the tapes say of their recordings; no change."""
    hidden: int = 0
    """Values that differ, and that the configuration declares as `ignore` or `volatile`; no change."""

    @property
    def changed(self) -> int:
        """How many interactions changed, were added, removed or moved."""
        return len(self.changes)

    @property
    def different(self) -> bool:
        """Whether anything is a change."""
        return bool(self.changes or self.head)

    def lines(self, *, everything: bool = False) -> Iterator[str]:
        """What a person reads, the count first."""
        yield f"{self.changed} of {self.total} interactions really changed"
        yield from (f"* {difference}" for difference in self.head)
        yield from (f"  {difference}" for difference in self.told)
        if self.hidden:
            yield f"  {self.hidden} values differ as ignore and volatile in proctor.toml say, and are not shown"
        most, fields = (None, None) if everything else (_LISTED, _FIELDS)
        for change in self.changes[:most]:
            yield from change.lines(fields)
        if most is not None and self.changed > most:
            yield f"... and {self.changed - most} more interactions"

    def as_json(self) -> dict[str, Any]:
        """Everything, as one object."""
        return {
            "changed": self.changed,
            "total": self.total,
            "different": self.different,
            "head": [difference.as_json() for difference in self.head],
            "hidden": self.hidden,
            "told": [difference.as_json() for difference in self.told],
            "interactions": [change.as_json() for change in self.changes],
        }
