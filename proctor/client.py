"""A typed client of the proxy's control API."""

from __future__ import annotations

from types import TracebackType
from typing import Self, TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from proctor.errors import EXIT_USAGE, PlatformError, ProctorError, UsageError
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import (
    TOKEN_HEADER,
    CloseAnswer,
    CloseRequest,
    Current,
    ErrorAnswer,
    HealthAnswer,
    SessionInfo,
    SessionsAnswer,
    SessionSpec,
    TraceAnswer,
)

_Model = TypeVar("_Model", bound=BaseModel)
_SECONDS = 600.0
"""Sealing a long recording takes a while."""


class ControlClient:
    """Opens, reads and closes sessions of a running proxy. An async context manager.

    Every call raises UsageError for what the proxy refused as wrong, and PlatformError where it failed or is not there.
    """

    def __init__(self, url: str, token: str) -> None:
        """`url` is the proxy's address, or that of its control API (`.../_proctor`); `token` is the run's."""
        self._url = f"{url.rstrip('/').removesuffix('/_proctor')}/_proctor"
        self._headers = {TOKEN_HEADER: token}
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the connection pool; proxies of the environment are not used."""
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        self._http = aiohttp.ClientSession(headers=self._headers, timeout=timeout, trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection pool."""
        if self._http is not None:
            await self._http.close()

    async def health(self) -> HealthAnswer:
        """The version of the proxy that answers; needs no token."""
        return await self._call("GET", "/health", HealthAnswer)

    async def open(self, spec: SessionSpec) -> SessionInfo:
        """Start a session."""
        return await self._call("POST", "/sessions", SessionInfo, spec)

    async def sessions(self) -> tuple[SessionInfo, ...]:
        """Every open session."""
        return (await self._call("GET", "/sessions", SessionsAnswer)).sessions

    async def session(self, session_id: str) -> SessionInfo:
        """An open session as it stands."""
        return await self._call("GET", f"/sessions/{session_id}", SessionInfo)

    async def bind_current(self, session_id: str | None) -> None:
        """Let `_current` in addresses stand for this session until it is bound anew; None lets it go."""
        await self._call("PUT", "/current", Current, Current(session=session_id))

    async def trace(self, session_id: str) -> list[TraceRow]:
        """The rows of an open session so far."""
        answer = await self._call("GET", f"/sessions/{session_id}/trace", TraceAnswer)
        return [TraceRow.model_validate(row) for row in answer.rows]

    async def close(self, session_id: str, command_status: int | None = None) -> SessionSummary:
        """End a session; a recording is sealed if it was a clean run."""
        asked = CloseRequest(command_status=command_status)
        return (await self._call("POST", f"/sessions/{session_id}/close", CloseAnswer, asked)).summary

    async def metrics(self) -> str:
        """What the proxy has done since it started, in Prometheus' text format."""
        return (await self._fetch("GET", "/metrics")).decode()

    async def _call(self, method: str, path: str, answer: type[_Model], body: BaseModel | None = None) -> _Model:
        content = await self._fetch(method, path, body)
        try:
            return answer.model_validate_json(content)
        except ValidationError:
            raise PlatformError("proxy_garbled", f"what answers at {self._url} is no proxy of this version") from None

    async def _fetch(self, method: str, path: str, body: BaseModel | None = None) -> bytes:
        assert self._http is not None, "use `async with`"
        data = body.model_dump_json() if body is not None else None
        try:
            async with self._http.request(method, self._url + path, data=data) as response:
                content = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError("proxy_unreachable", f"no proxy answers at {self._url}: {error}") from None
        if response.status >= 400:
            raise error_of(response.status, content)
        return content


def error_of(status: int, content: bytes) -> ProctorError:
    """What a proxy refused, by its own word: as UsageError, or as PlatformError where it failed."""
    try:
        told = ErrorAnswer.model_validate_json(content)
    except ValidationError:
        return PlatformError("proxy_garbled", f"the proxy answered {status} with no error of its own")
    usage = told.exit_code == EXIT_USAGE or (told.exit_code is None and status < 500)
    kind = UsageError if usage else PlatformError
    return kind(told.code, told.message, told.fix)
