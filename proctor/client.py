"""A typed client of the proxy's control API."""

from __future__ import annotations

from proctor.events import EventRow
from proctor.http_client import ApiClient
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import (
    CloseAnswer,
    CloseRequest,
    Current,
    HealthAnswer,
    SessionInfo,
    SessionsAnswer,
    SessionSpec,
    TraceAnswer,
    WorldAnswer,
    WorldReset,
)


class ControlClient(ApiClient):
    """Opens, reads and closes sessions of a running proxy. An async context manager.

    Every call raises UsageError for what the proxy refused as wrong, and PlatformError where it failed or is not there.
    """

    def __init__(self, url: str, token: str) -> None:
        """`url` is the proxy's address, or that of its control API (`.../_proctor`); `token` is the run's."""
        super().__init__(f"{url.rstrip('/').removesuffix('/_proctor')}/_proctor", token, "proxy")

    async def health(self) -> HealthAnswer:
        """The version of the proxy that answers; needs no token."""
        return await self.call("GET", "/health", HealthAnswer)

    async def open(self, spec: SessionSpec) -> SessionInfo:
        """Start a session."""
        return await self.call("POST", "/sessions", SessionInfo, spec)

    async def sessions(self) -> tuple[SessionInfo, ...]:
        """Every open session."""
        return (await self.call("GET", "/sessions", SessionsAnswer)).sessions

    async def session(self, session_id: str) -> SessionInfo:
        """An open session as it stands."""
        return await self.call("GET", f"/sessions/{session_id}", SessionInfo)

    async def bind_current(self, session_id: str | None) -> None:
        """Let `_current` in addresses stand for this session until it is bound anew; None lets it go."""
        await self.call("PUT", "/current", Current, Current(session=session_id))

    async def trace(self, session_id: str) -> list[TraceRow]:
        """The exchanges of an open session so far."""
        answer = await self.call("GET", f"/sessions/{session_id}/trace", TraceAnswer)
        return [TraceRow.model_validate(row) for row in answer.rows]

    async def world(self, session_id: str, service: str) -> WorldAnswer:
        """A world as it stands in an open session: its state, what differs from the start, and who wrote what."""
        return await self.call("GET", f"/sessions/{session_id}/worlds/{service}", WorldAnswer)

    async def reset_world(self, session_id: str, service: str) -> WorldReset:
        """Let a world be as at the start: state, log, ids, tokens and time."""
        return await self.call("POST", f"/sessions/{session_id}/worlds/{service}/reset", WorldReset)

    async def events(self, session_id: str) -> list[EventRow]:
        """What the agent of an open session has told so far."""
        answer = await self.call("GET", f"/sessions/{session_id}/trace", TraceAnswer)
        return [EventRow.model_validate(row) for row in answer.events]

    async def close(self, session_id: str, command_status: int | None = None) -> SessionSummary:
        """End a session; a recording is sealed if it was a clean run."""
        asked = CloseRequest(command_status=command_status)
        return (await self.call("POST", f"/sessions/{session_id}/close", CloseAnswer, asked)).summary

    async def metrics(self) -> str:
        """What the proxy has done since it started, in Prometheus' text format."""
        return (await self.fetch("GET", "/metrics")).decode()
