"""A judging service in this process, on a folder of the test's, and a client of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from proctor.judge.service.server import Service, start_service
from proctor.judge.service.settings import Settings
from proctor.judge_client import JudgeClient
from proctor.judge_wire import BatchAccepted, BatchEnded, BatchTerms, VerdictCame
from proctor.trajectory import Trajectory
from tests.unit.judge.refunds import refund

OBEDIENT = "stand-in/obedient"


@asynccontextmanager
async def judge_service(folder: Path, *models: str, **settings: Any) -> AsyncIterator[tuple[Service, JudgeClient]]:
    """It runs while this is open, and is stopped without grace."""
    service = await start_service(Settings(folder, models or (OBEDIENT,), **{"grace": 0.0, **settings}))
    try:
        async with JudgeClient(service.url, service.token, at_once) as client:
            yield service, client
    finally:
        await service.close()


async def at_once(seconds: float) -> None:
    """Waits for nothing but whoever else has something to do."""
    await asyncio.sleep(0)


def run(name: str, **more: Any) -> Trajectory:
    """A run of that id; what the agent says differs from all others."""
    return refund(said=f"Refund R77 of {name} was issued.", **more).model_copy(update={"id": name})


async def batch(
    client: JudgeClient, runs: list[Trajectory], **terms: Any
) -> tuple[BatchAccepted, dict[str, VerdictCame], BatchEnded]:
    """All events of a batch: the first, the verdicts by what they are on, the last."""
    events = [event async for event in client.batch(BatchTerms(**terms), runs)]
    first, *between, last = events
    assert isinstance(first, BatchAccepted)
    assert isinstance(last, BatchEnded)
    verdicts = [event for event in between if isinstance(event, VerdictCame)]
    assert [event.answer.trajectory for event in verdicts] == list({event.answer.trajectory: 0 for event in verdicts})
    return first, {event.answer.trajectory: event for event in verdicts}, last
