"""A `dict` of a state as one call sees it: an entry is copied when it is first looked at."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from typing import Any

from proctor.world.values import ATOMS, copied

_ABSENT = object()


class Table(dict[Any, Any]):
    """Holds what is stored, as it is, until it is looked at; so a call costs what it touches, not what there is.

    Whatever reads a dict past its methods (a serialiser in C) finds every entry, though uncopied.
    """

    __slots__ = ("_gone", "_own", "rows")

    def __init__(self, rows: dict[Any, Any]) -> None:
        """`rows` stay as they are."""
        super().__init__(rows)
        self.rows = rows
        self._own: dict[Any, None] = {}
        self._gone: dict[Any, None] = {}

    def touched(self) -> list[Any]:
        """The keys whose entries may differ from what is stored, in the order of the first touch."""
        return list({**self._own, **self._gone})

    def plain(self) -> dict[Any, Any]:
        """What it holds, as an ordinary dict."""
        return {key: dict.__getitem__(self, key) for key in dict.keys(self)}

    def __getitem__(self, key: Any) -> Any:
        value = dict.__getitem__(self, key)
        if type(value) in ATOMS or key in self._own:
            return value
        value = copied(value)
        self[key] = value
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._own[key] = None
        dict.__setitem__(self, key, value)

    def __delitem__(self, key: Any) -> None:
        dict.__delitem__(self, key)
        self._own.pop(key, None)
        self._gone[key] = None

    def __iter__(self) -> Iterator[Any]:  # so that dict(table) and {**table} go by __getitem__
        return dict.__iter__(self)

    def get(self, key: Any, default: Any = None) -> Any:
        """As of a dict; the entry is the call's own."""
        return self[key] if dict.__contains__(self, key) else default

    def keys(self) -> KeysView[Any]:  # type: ignore[override]
        """As of a dict."""
        return KeysView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """As of a dict; each is the call's own."""
        return ValuesView(self)

    def items(self) -> ItemsView[Any, Any]:  # type: ignore[override]
        """As of a dict; each is the call's own."""
        return ItemsView(self)

    def clear(self) -> None:
        """As of a dict."""
        for key in list(self):
            del self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        """As of a dict; the entry is the call's own."""
        if default and not dict.__contains__(self, key):
            return default[0]
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[Any, Any]:
        """As of a dict: the last entry."""
        key = next(reversed(list(self)), _ABSENT)
        if key is _ABSENT:
            raise KeyError("popitem(): dictionary is empty")
        return key, self.pop(key)

    def copy(self) -> dict[Any, Any]:
        """An ordinary dict; each entry is the call's own."""
        return dict(self.items())

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __deepcopy__(self, _: Any) -> dict[Any, Any]:
        return {key: copied(value) for key, value in dict.items(self)}

    setdefault = MutableMapping.setdefault
    update = MutableMapping.update
