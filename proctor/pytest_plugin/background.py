"""A proxy on a thread of its own, for code that runs in no event loop, or in another one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from proctor.config import Config, load_config
from proctor.events import EventRow, parted
from proctor.proxy.conclude import summarised
from proctor.proxy.control import rows_so_far
from proctor.proxy.registry import Closed
from proctor.proxy.server import Proxy, start_proxy
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import SessionInfo, SessionSpec

_Result = TypeVar("_Result")


class _Running(NamedTuple):
    proxy: Proxy
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event


class BackgroundProxy:
    """A proxy that listens on loopback, at a port of the system's choice, until `stop`. Its calls may block."""

    def __init__(self, config: Config) -> None:
        """Start it and wait until it listens. Raises what `start_proxy` raises."""
        self.config = config
        self._ready: Future[_Running] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="proctor", daemon=True)
        self._thread.start()
        self._running = self._ready.result()

    def open(self, spec: SessionSpec) -> SessionInfo:
        """Start a session. Raises a typed error, leaving nothing behind."""
        return self._call(self._open(spec))

    def close(self, session_id: str, command_status: int) -> Closed:
        """End a session; a recording is sealed if it was a clean run. Raises ProctorError."""
        return self._call(self._running.proxy.registry.close(session_id, command_status))

    def summary(self, session_id: str) -> SessionSummary:
        """What an open session has done so far."""
        return self._call(self._summary(session_id))

    def trace(self, session_id: str) -> list[TraceRow]:
        """The exchanges of an open session so far."""
        return self._call(self._trace(session_id))

    def events(self, session_id: str) -> list[EventRow]:
        """What the agent of an open session has told so far."""
        return self._call(self._events(session_id))

    def stop(self) -> None:
        """End what is open, then the proxy and its thread."""
        self._running.loop.call_soon_threadsafe(self._running.stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        try:
            proxy = await start_proxy(self.config)
        except BaseException as error:
            self._ready.set_exception(error)
            return
        stop = asyncio.Event()
        self._ready.set_result(_Running(proxy, asyncio.get_running_loop(), stop))
        await stop.wait()
        await proxy.close()

    def _call(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._running.loop).result()

    async def _open(self, spec: SessionSpec) -> SessionInfo:
        proxy = self._running.proxy
        session = await proxy.registry.open(spec)
        return session.info(proxy.session_url(session.id))

    async def _summary(self, session_id: str) -> SessionSummary:
        return summarised(self._running.proxy.registry.find(session_id), None)

    async def _trace(self, session_id: str) -> list[TraceRow]:
        exchanges, _ = parted(rows_so_far(self._running.proxy.registry.find(session_id)))
        return [TraceRow.model_validate(row) for row in exchanges]

    async def _events(self, session_id: str) -> list[EventRow]:
        _, told = parted(rows_so_far(self._running.proxy.registry.find(session_id)))
        return [EventRow.model_validate(row) for row in told]


class Proxies:
    """The proxies of one test run, or of one xdist worker: one a project, started when a test first needs it."""

    def __init__(self) -> None:
        """None yet."""
        self._by_file: dict[Path, BackgroundProxy] = {}

    def of(self, file: Path) -> BackgroundProxy:
        """The proxy of the project with this `proctor.toml`. Raises ConfigError."""
        if file not in self._by_file:
            self._by_file[file] = BackgroundProxy(load_config(file))
        return self._by_file[file]

    def stop(self) -> None:
        """Stop them all."""
        while self._by_file:
            self._by_file.popitem()[1].stop()
