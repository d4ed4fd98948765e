"""For how long injected faults kept an agent waiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Held:
    """Adds up the wall time in which at least one fault holds an exchange; times of several at once count once."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self._now = 0
        self._since = 0.0
        self._before = 0.0

    @contextmanager
    def holding(self) -> Iterator[None]:
        """While a fault holds an exchange."""
        if not self._now:
            self._since = time.perf_counter()
        self._now += 1
        try:
            yield
        finally:
            self._now -= 1
            if not self._now:
                self._before += time.perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """So far, this moment included."""
        return self._before + (time.perf_counter() - self._since if self._now else 0.0)
