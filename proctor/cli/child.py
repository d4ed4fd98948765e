"""Running the agent's command: its signals, its status."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from proctor.cli.isolation import Isolation
from proctor.errors import UsageError


async def run_command(
    command: Sequence[str],
    variables: Mapping[str, str],
    folder: Path | None = None,
    output: IO[bytes] | None = None,
    isolation: Isolation | None = None,
) -> int:
    """Run a command with these variables set; gives its exit status, 128 + n where signal n ended it.

    It runs in `folder`, by default this process's; what it prints goes to `output`, by default where ours goes. Ctrl-C
    ends the agent, not the bookkeeping: a second one kills it. Raises UsageError for what is no program, and where it
    is to be isolated and cannot be.
    """
    # At a terminal the command stays in the foreground, where it may ask; else its group can be signalled whole.
    at_terminal = sys.stdin.isatty()
    try:
        process = await _started(
            command,
            isolation,
            env={**os.environ, **variables},
            cwd=folder,
            stdout=output,
            stderr=output,
            process_group=None if at_terminal else 0,
        )
    except OSError as error:
        raise UsageError(
            "command_not_runnable", f'cannot run "{command[0]}": {error.strerror}', "is it a program?"
        ) from None
    interrupts = _Interrupts(process, at_terminal=at_terminal)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupts.interrupt)
    loop.add_signal_handler(signal.SIGTERM, interrupts.terminate)
    try:
        status = await process.wait()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
    return status if status >= 0 else 128 - status


async def _started(command: Sequence[str], isolation: Isolation | None, **options: Any) -> asyncio.subprocess.Process:
    if isolation is not None:
        return await isolation.start(command, **options)
    return await asyncio.create_subprocess_exec(*command, **options)


class _Interrupts:
    """Passes signals on to the command."""

    def __init__(self, process: asyncio.subprocess.Process, *, at_terminal: bool) -> None:
        self._process = process
        self._at_terminal = at_terminal
        self._count = 0

    def interrupt(self) -> None:
        """The first Ctrl-C, which a terminal sends to the whole group itself, and the second."""
        self._count += 1
        if self._count > 1:
            self._send(signal.SIGKILL)
        elif not self._at_terminal:
            self._send(signal.SIGINT)

    def terminate(self) -> None:
        """As an orderly stop asks for."""
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        if self._process.returncode is not None:
            return
        if self._at_terminal:
            self._process.send_signal(number)
        else:
            os.killpg(self._process.pid, number)
