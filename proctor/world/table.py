"""A `dict` of a state: its entries are stored as JSON texts, and a call reads the ones it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Any

from proctor.world.patch import ABSENT

Texts = Mapping[Any, bytes]


class Rows:
    """What is stored of a table: the start's entries, which sessions share, and what this session made of them.

    An entry of the start that is deleted and made again stands where it stood, from the next call on.
    """

    __slots__ = ("_base", "over")

    def __init__(self, base: Texts) -> None:
        """`base` is never changed."""
        self._base = base
        self.over: dict[Any, Any] = {}
        """By key: what differs from the start; `ABSENT` for an entry that is gone."""

    def get(self, key: Any) -> Any:
        """The text of an entry; `ABSENT` for none."""
        found = self.over.get(key)
        return self._base.get(key, ABSENT) if found is None else found

    def begun(self, key: Any) -> Any:
        """That of the start; `ABSENT` for none."""
        return self._base.get(key, ABSENT)

    def put(self, key: Any, text: Any) -> None:
        """Store an entry, or `ABSENT`."""
        if text is self.begun(key) or text == self.begun(key):
            self.over.pop(key, None)
        else:
            self.over[key] = text

    def items(self) -> Iterator[tuple[Any, bytes]]:
        """Every entry: those of the start, then those that came."""
        return ((key, self.get(key)) for key in self)

    def __iter__(self) -> Iterator[Any]:
        over, base = self.over, self._base
        yield from (key for key in base if over.get(key) is not ABSENT)
        yield from (key for key in over if key not in base)

    def __len__(self) -> int:
        """How many entries there are; costs what the session changed, not what there is."""
        changed = self.over.items()
        return len(self._base) + sum(-(text is ABSENT) if key in self._base else 1 for key, text in changed)


class Table(MutableMapping[Any, Any]):
    """A mapping that does what a dict does. A call costs what it touches, not what there is."""

    __slots__ = ("_gone", "_own", "_read", "rows")

    def __init__(self, rows: Rows, read: Callable[[bytes], Any]) -> None:
        """`rows` stay as they are; `read` makes an entry of a text."""
        self.rows = rows
        self._read = read
        self._own: dict[Any, Any] = {}
        self._gone: dict[Any, None] = {}

    def touched(self) -> list[tuple[Any, Any]]:
        """The keys whose entries may differ from what is stored, with those entries; `ABSENT` for one that is gone."""
        own = list(self._own.items())
        return own + [(key, ABSENT) for key in self._gone] if self._gone else own

    def copy(self) -> dict[Any, Any]:
        """A dict with the call's own entries."""
        return dict(self.items())

    def __getitem__(self, key: Any) -> Any:
        value = self._own.get(key, ABSENT)
        if value is ABSENT:
            text = ABSENT if key in self._gone else self.rows.get(key)
            if text is ABSENT:
                raise KeyError(key)
            value = self._own[key] = self._read(text)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._own[key] = value
        self._gone.pop(key, None)

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self._own.pop(key, None)
        if self.rows.get(key) is not ABSENT:
            self._gone[key] = None

    def __contains__(self, key: object) -> bool:
        return key in self._own or (key not in self._gone and self.rows.get(key) is not ABSENT)

    def __iter__(self) -> Iterator[Any]:
        yield from (key for key in self.rows if key not in self._gone)
        yield from (key for key in list(self._own) if self.rows.get(key) is ABSENT)

    def __len__(self) -> int:
        return len(self.rows) - len(self._gone) + sum(self.rows.get(key) is ABSENT for key in self._own)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def popitem(self) -> tuple[Any, Any]:
        """The last entry, as of a dict."""
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("popitem(): dictionary is empty")

    def __eq__(self, other: object) -> bool:
        return self.copy() == (other.copy() if isinstance(other, Table) else other)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> dict[Any, Any]:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> dict[Any, Any]:
        return dict(other) | self.copy()

    def __ior__(self, other: Any) -> Table:
        self.update(other)
        return self

    def __repr__(self) -> str:
        return repr(self.copy())

    def __deepcopy__(self, memo: Any) -> dict[Any, Any]:
        return deepcopy(self.copy(), memo)
