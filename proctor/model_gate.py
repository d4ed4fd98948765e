"""What each attempt to ask a model goes through: somebody who knows of all callers may hold it back for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

_leaving: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("leaving", default=None)


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


@contextmanager
def told_of_leaving(told: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """While this is open, `told` is awaited before each attempt of this task goes out. What it raises stops that one.

    Whoever keeps accounts of calls has to know which are out, and which still wait for their turn.
    """
    token = _leaving.set(told)
    try:
        yield
    finally:
        _leaving.reset(token)


async def leave() -> None:
    """To be awaited in each turn, before the attempt goes out."""
    if (told := _leaving.get()) is not None:
        await told()
