"""Ending every process that a trial started, those included that left its group."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "PROCTOR_TRIAL_MARK"
"""A variable that each process of a trial inherits."""


_PATIENCE = 5.0
"""Seconds for killed processes to be gone: one that waits for a disk goes when that has answered."""
_PAUSE = 0.005


def new_mark() -> str:
    """A value of `MARK` that no other trial has."""
    return secrets.token_hex(16)


def kill_group(group: int) -> None:
    """Kill a process group; one that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def kill_marked(mark: str) -> int:
    """Kill every process with this mark, and what those start meanwhile, and wait for their end; gives how many.

    A process that made itself a group and session of its own is found by its environment. Where there is no `/proc`
    none is found.
    """
    killed: set[int] = set()
    until = time.monotonic() + _PATIENCE
    while (found := set(_marked(mark))) and time.monotonic() < until:
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        killed |= found
        time.sleep(_PAUSE)
    return len(killed)


def _marked(mark: str) -> Iterator[int]:
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
        except OSError:  # it has ended, or is not ours
            continue
