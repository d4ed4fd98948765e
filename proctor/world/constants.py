"""A world's class attributes: every session shares them, so they must stay as they are."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

_PLAIN = (type(None), bool, int, float, str, bytes, tuple, frozenset, list, dict, set, bytearray, deque, BaseModel)


_UNLIKE: Any = object()
"""Stands for no value that could be compared."""


class Constants:
    """The data among the attributes of a class and of those it derives from, as it was when the class was read."""

    def __init__(self, world: type, base: type) -> None:
        """`base` is the class whose own attributes are left aside, with those of the ones that it derives from."""
        kinds = [kind for kind in world.__mro__ if kind not in base.__mro__]
        self._names = {kind: frozenset(vars(kind)) for kind in kinds}
        found = ((kind, name, value) for kind in kinds for name, value in vars(kind).items() if name[:2] != "__")
        self._were = [
            (kind, name, kept)
            for kind, name, value in found
            if isinstance(value, _PLAIN) and (kept := _copied(value)) is not _UNLIKE
        ]

    def put_back(self) -> str:
        """Let them be as they were; gives the name of one that was not, else an empty text."""
        changed = ""
        for kind, name, was in self._were:
            now = vars(kind).get(name, _UNLIKE)
            if now is not was and (type(now) is not type(was) or now != was):
                setattr(kind, name, deepcopy(was))
                changed = f"{kind.__name__}.{name}"
        for kind, names in self._names.items():
            if len(vars(kind)) != len(names):
                for name in [name for name in vars(kind) if name not in names and name[:2] != "__"]:
                    delattr(kind, name)
                    changed = f"{kind.__name__}.{name}"
        return changed


def _copied(value: Any) -> Any:
    """A copy, or `_UNLIKE` for what has no copy that is equal to it."""
    try:
        copy = deepcopy(value)
        return copy if copy == value or copy is value else _UNLIKE
    except Exception:
        return _UNLIKE
