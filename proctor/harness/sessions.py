"""What the harness needs of a proxy: sessions to run trials in. The command line fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.events import EventRow
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import Cut, SessionInfo, SessionSpec


@dataclass(frozen=True)
class SessionSeen:
    """All that a session which has ended saw."""

    summary: SessionSummary
    rows: Sequence[TraceRow]
    told: Sequence[EventRow]
    """What the agent told."""
    worlds: Mapping[str, Any]
    """By service: the state of its world at the end."""


class TrialSession(Protocol):
    """One open session: a trial's isolated use of the proxy."""

    @property
    def info(self) -> SessionInfo:
        """As the control API tells of it."""

    def now(self) -> float:
        """Seconds since the session began, on the clock of its trace rows."""

    def fault_seconds(self) -> float:
        """For how long at least one injected fault kept the agent waiting, that of this moment included."""

    def states(self) -> dict[str, Any]:
        """By service: the state of its world now, as plain data that nothing changes any more."""

    def turn(self) -> None:
        """The user says something new: calls of earlier turns do not count towards a loop any more."""

    async def cut(self) -> Cut:
        """Wait until the session's guard cuts the agent off; tells why."""

    async def close(self, status: int | None = None) -> SessionSeen:
        """End it; `status` is that of the agent's command, where there was one. A recording is sealed."""


class Sessions(Protocol):
    """A proxy, as far as trials need it."""

    async def open(self, spec: SessionSpec) -> TrialSession:
        """Start a session. Raises a typed error, leaving nothing behind."""

    def late(self) -> Mapping[str, int]:
        """By session that has ended: how many requests still named it. Those without any are not there."""
