"""A proxy for trials, in the event loop of whoever runs them: see `proctor.harness.sessions`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from proctor.cli.session_worlds import world_states
from proctor.config import Config
from proctor.events import Trace, trace_of
from proctor.harness.sessions import Sessions, SessionSeen, TrialSession
from proctor.proxy.registry import Registry
from proctor.proxy.server import Proxy, start_proxy
from proctor.proxy.session import Session
from proctor.wire import Cut, SessionInfo, SessionSpec


@asynccontextmanager
async def trial_sessions(
    config: Config, host: str = "127.0.0.1", port: int = 0, *, advertised: str = "", secrets: Iterable[str] = ()
) -> AsyncIterator[Sessions]:
    """A proxy that listens as `start_proxy` says, for as long as the block runs. Raises UsageError (PortInUse).

    `secrets` stand on no tape and in no trace, as if variables held them that say so.
    """
    proxy = await start_proxy(config, host, port, advertised=advertised)
    named = {f"ACCOUNT_{number}_SECRET": value for number, value in enumerate(secrets)}
    proxy.registry.environ = {**proxy.registry.environ, **named}
    try:
        yield _Sessions(proxy)
    finally:
        await proxy.close()


class _Sessions:
    """The sessions of one proxy. None that has ended is kept, but for its id and how many requests came late."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def open(self, spec: SessionSpec) -> TrialSession:
        """See `Sessions.open`."""
        registry = self._proxy.registry
        session = await registry.open(spec)
        return _Trial(registry, session, session.info(self._proxy.session_url(session.id)))

    def late(self) -> Mapping[str, int]:
        """See `Sessions.late`."""
        return dict(self._proxy.registry.late)


class _Trial:
    """One of them."""

    def __init__(self, registry: Registry, session: Session, info: SessionInfo) -> None:
        self._registry = registry
        self._session = session
        self._info = info

    @property
    def info(self) -> SessionInfo:
        """See `TrialSession.info`."""
        return self._info

    def now(self) -> float:
        """See `TrialSession.now`."""
        return time.perf_counter() - self._session.began

    def fault_seconds(self) -> float:
        """See `TrialSession.fault_seconds`."""
        return self._session.fault_seconds

    def states(self) -> dict[str, Any]:
        """See `TrialSession.states`."""
        return {name: world.state() for name, world in self._session.worlds.items()}

    def turn(self) -> None:
        """See `TrialSession.turn`."""
        self._session.guarding.turn()

    async def cut(self) -> Cut:
        """See `TrialSession.cut`."""
        return await self._session.guarding.cut()

    async def close(self, status: int | None = None) -> SessionSeen:
        """See `TrialSession.close`. Raises ProctorError where the session's files cannot be written."""
        closed = await self._registry.close(self._info.session, status)
        folder = self._registry.layout.sessions / self._info.session
        trace = _trace(folder / "trace.jsonl")
        return SessionSeen(closed.summary, trace.exchanges, trace.events, world_states(folder))


def _trace(path: Path) -> Trace:
    """What a session left; nothing where it could not even leave that, which its summary says."""
    return trace_of(path.read_bytes()) if path.exists() else Trace([], [])
