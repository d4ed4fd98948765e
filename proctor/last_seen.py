"""Keeping what was worked out for one value while it is looked at again and again."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Made = TypeVar("Made")


class LastSeen(Generic[Key, Made]):
    """What `make` gave for the last object asked about; of an equal but other object it knows nothing."""

    def __init__(self, make: Callable[[Key], Made]) -> None:
        """`make` is pure, and costly enough to be kept."""
        self._make = make
        self._last: tuple[weakref.ref[Key], Made] | None = None

    def of(self, value: Key) -> Made:
        """What belongs to this very object."""
        kept = self._last
        if kept is not None and kept[0]() is value:
            return kept[1]
        made = self._make(value)
        self._last = (weakref.ref(value), made)
        return made
