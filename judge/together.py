"""Several questions asked at the same time, of which one that cannot be asked ends the others."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Answer = TypeVar("Answer")


async def together(asked: Iterable[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """All answers, in the order given. The first exception ends the others, and is raised when they have ended."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in asked]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
