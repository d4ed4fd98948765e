"""The signals that end a server."""

from __future__ import annotations

import asyncio
import signal


def stop_signal() -> asyncio.Event:
    """Set by the first SIGINT or SIGTERM; a second one ends the process as ever, whatever it is about."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopped() -> None:
        stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped)
    return stop
