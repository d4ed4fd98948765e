"""What each attempt to ask a model goes through: somebody who knows of all callers may hold it back for a while."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol


class Gate(Protocol):
    """One for all calls that share a limit. An attempt holds a turn; a wait between attempts holds none."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Entered when the attempt may go out, left when it has ended, however it ended."""
        ...

    def limited(self, after: float | None) -> None:
        """An attempt was refused for its rate; the provider asks to be left alone for `after` seconds, if it says."""
        ...

    def fine(self) -> None:
        """An attempt was answered."""
        ...


class _Open:
    def turn(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def limited(self, after: float | None) -> None:
        pass

    def fine(self) -> None:
        pass


OPEN: Gate = _Open()
"""Lets everybody through at once."""
