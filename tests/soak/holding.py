"""What a standing proxy holds: memory, open files and sockets, tasks; and that it holds no more than before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proctor.client import ControlClient
from tests.integration.serve.support import Serve, memory, samples

AT_ONCE = 6
"""Conversations at the same time. So many connections to services may be kept for the next one."""


@dataclass(frozen=True)
class Held:
    """What an idle proxy holds: memory in KiB, open files and sockets, tasks."""

    resident: int
    files: int
    tasks: float


async def held_by(on: Serve, control: ControlClient) -> Held:
    """What the proxy holds, once the system has ended what clients hung up."""
    descriptors = Path(f"/proc/{on.process.pid}/fd")
    files, before = 0, -1
    while files != before:
        before, files = files, len(list(descriptors.iterdir()))
        tasks = samples(await control.metrics())[("tasks",)]
    return Held(memory(on.process.pid, "VmRSS"), files, tasks)


def assert_no_more(late: Held, early: Held) -> None:
    """The measure. It is not to be loosened: what fails it is a leak."""
    assert late.resident <= 1.2 * early.resident, (early, late)
    assert late.files <= early.files + AT_ONCE, (early, late)
    assert late.tasks <= early.tasks, (early, late)
