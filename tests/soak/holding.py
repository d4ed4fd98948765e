"""What a standing proxy holds: memory, open files and sockets, tasks; and that it holds no more than before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proctor.client import ControlClient
from tests.integration.serve.support import Serve, memory, samples

AT_ONCE = 6
"""Conversations at the same time. So many connections to services may be kept for the next one."""
SAME = 50
"""Looks in a row that must find the same."""


@dataclass(frozen=True)
class Held:
    """What an idle proxy holds: memory in KiB, open files and sockets, tasks."""

    resident: int
    files: int
    tasks: float


async def held_by(on: Serve, control: ControlClient) -> Held:
    """What the proxy holds, once nothing changes any more: it may still be at the end of what clients hung up."""
    descriptors = Path(f"/proc/{on.process.pid}/fd")
    seen: list[tuple[int, float]] = []
    while len(seen) < SAME or len(set(seen[-SAME:])) > 1:
        seen.append((len(list(descriptors.iterdir())), samples(await control.metrics())[("tasks",)]))
    files, tasks = seen[-1]
    return Held(memory(on.process.pid, "VmRSS"), files, tasks)


def assert_no_more(late: Held, early: Held) -> None:
    """The measure. It is not to be loosened: what fails it is a leak."""
    assert late.resident <= 1.2 * early.resident, (early, late)
    assert late.files <= early.files + AT_ONCE, (early, late)
    assert late.tasks <= early.tasks, (early, late)
