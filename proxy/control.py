"""The control API: `/_proctor/...`, for whoever holds the run's token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

import orjson
from aiohttp import web

from proctor import __version__
from proctor.errors import EXIT_PLATFORM, ProctorError, SessionError, UsageError, nearest
from proctor.events import parted
from proctor.http_server import body_of, carries_token, parsed
from proctor.journal import read_journal
from proctor.prometheus import CONTENT_TYPE
from proctor.proxy import answers, worlds
from proctor.proxy.metrics import rendered
from proctor.proxy.registry import Registry
from proctor.proxy.session import Session
from proctor.redacted_trace import redacted_rows, session_redactor
from proctor.wire import (
    TOKEN_HEADER,
    CloseAnswer,
    CloseRequest,
    Current,
    ErrorAnswer,
    HealthAnswer,
    SessionsAnswer,
    SessionSpec,
    TraceAnswer,
)
from proctor.world.session import WorldSession

PREFIX = "/_proctor/"

_LOG = logging.getLogger("proctor.proxy")
_BODY_LIMIT = 2**20
_STATUSES = {
    "unknown_session": 404,
    "unknown_route": 404,
    "unknown_world": 404,
    "session_exists": 409,
    "current_bound": 409,
    "session_closed": 410,
    "body_too_large": 413,
    "proxy_stopping": 503,
}
"""Of errors by code; any other is 400, or 500 where Proctor itself failed."""

_Route = Callable[[bytes], Awaitable[web.Response]]


class Control:
    """Answers the control API of one proxy.

        GET  /_proctor/health                             -> HealthAnswer, without a token
        GET  /_proctor/metrics                            -> Prometheus' text format 0.0.4
        GET  /_proctor/sessions                           -> SessionsAnswer
        POST /_proctor/sessions              SessionSpec  -> SessionInfo (201)
        GET  /_proctor/sessions/ID                        -> SessionInfo
        GET  /_proctor/current                            -> Current
        PUT  /_proctor/current               Current      -> Current
        GET  /_proctor/sessions/ID/trace                  -> TraceAnswer
        GET  /_proctor/sessions/ID/worlds/SERVICE         -> WorldAnswer
        POST /_proctor/sessions/ID/worlds/SERVICE/reset   -> WorldReset
        POST /_proctor/sessions/ID/close     CloseRequest -> CloseAnswer

    The token comes in `x-proctor-token`, or as `Authorization: Bearer TOKEN`. Errors are ErrorAnswers: 400 for what
    cannot be, 401 without the token, 404 for what is not there, 405 for another method, 409 for an id that is taken,
    410 for a closed session, 413 for a body over 1 MiB, 500 where Proctor failed, 503 while it is being stopped.
    """

    def __init__(self, registry: Registry, token: str, address_of: Callable[[str], str]) -> None:
        """`address_of` gives the URL at which agents reach a session, from its id."""
        self._registry = registry
        self._token = token
        self._address_of = address_of

    async def answer(self, request: web.BaseRequest, path: str) -> web.Response:
        """Answer one control request; `path` is its target without the proxy's own address and the query."""
        parts = path[len(PREFIX) :].split("/")
        if parts != ["health"] and not carries_token(request, self._token):
            return answers.of_error(
                401,
                ErrorAnswer(code="token_wrong", message=f"the control API wants the run's token in {TOKEN_HEADER}"),
                {"WWW-Authenticate": "Bearer"},
            )
        routes = self._routes(parts)
        route = routes.get("GET" if request.method == "HEAD" else request.method)
        if routes and route is None:
            allowed = ", ".join(sorted({*routes, *(["HEAD"] if "GET" in routes else [])}))
            told = f"{path} takes {allowed}, not {request.method}"
            return answers.of_error(405, ErrorAnswer(code="method_not_allowed", message=told), {"Allow": allowed})
        try:
            if route is None:
                raise UsageError("unknown_route", f"the control API has no {path}", "see docs/serve.md")
            return await route(await body_of(request, _BODY_LIMIT))
        except ProctorError as error:
            return _told(error)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            # Whoever asked is told; it is no fault of the sessions that are open.
            _LOG.error("a control request failed inside the proxy", exc_info=error)
            told = f"Proctor failed: {type(error).__name__}: {error}"
            return answers.of_error(500, ErrorAnswer(code="platform_error", message=told, exit_code=EXIT_PLATFORM))

    def _routes(self, parts: list[str]) -> dict[str, _Route]:
        """What answers at a path, by method; nothing where there is no such path."""
        match parts:
            case ["health"]:
                return {"GET": self._health}
            case ["metrics"]:
                return {"GET": self._metrics}
            case ["sessions"]:
                return {"GET": self._list, "POST": self._open}
            case ["current"]:
                return {"GET": self._current, "PUT": self._bind}
            case ["sessions", session_id]:
                return {"GET": partial(self._show, session_id)}
            case ["sessions", session_id, "trace"]:
                return {"GET": partial(self._trace, session_id)}
            case ["sessions", session_id, "worlds", service]:
                return {"GET": partial(self._world, session_id, service)}
            case ["sessions", session_id, "worlds", service, "reset"]:
                return {"POST": partial(self._reset_world, session_id, service)}
            case ["sessions", session_id, "close"]:
                return {"POST": partial(self._close, session_id)}
        return {}

    async def _health(self, _: bytes) -> web.Response:
        return answers.of_model(HealthAnswer(proctor=__version__))

    async def _metrics(self, _: bytes) -> web.Response:
        sessions = self._registry.sessions.values()
        totals = self._registry.totals.with_open(session.tally for session in sessions)
        text = rendered(totals, len(sessions), len(asyncio.all_tasks()))
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def _list(self, _: bytes) -> web.Response:
        running = self._registry.running
        return answers.of_model(
            SessionsAnswer(sessions=tuple(each.info(self._address_of(each.id)) for each in running))
        )

    async def _open(self, body: bytes) -> web.Response:
        session = await self._registry.open(parsed(SessionSpec, body))
        return answers.of_model(session.info(self._address_of(session.id)), 201)

    async def _show(self, session_id: str, _: bytes) -> web.Response:
        session = self._registry.find(session_id)
        return answers.of_model(session.info(self._address_of(session.id)))

    async def _current(self, _: bytes) -> web.Response:
        return answers.of_model(Current(session=self._registry.bound))

    async def _bind(self, body: bytes) -> web.Response:
        self._registry.bind(parsed(Current, body).session)
        return answers.of_model(Current(session=self._registry.bound))

    async def _trace(self, session_id: str, _: bytes) -> web.Response:
        exchanges, events = parted(rows_so_far(self._registry.find(session_id)))
        return answers.of_model(TraceAnswer(rows=exchanges, events=events))

    async def _world(self, session_id: str, service: str, _: bytes) -> web.Response:
        world = world_of(self._registry.find(session_id), service)
        return answers.of_model(worlds.told(service, world))

    async def _reset_world(self, session_id: str, service: str, _: bytes) -> web.Response:
        world = world_of(self._registry.find(session_id), service)
        return answers.of_model(worlds.reset(service, world))

    async def _close(self, session_id: str, body: bytes) -> web.Response:
        asked = parsed(CloseRequest, body or b"{}")
        summary, end = await self._registry.close(session_id, asked.command_status)
        return answers.of_model(CloseAnswer(summary=summary, status=end.status, reasons=end.reasons))


def rows_so_far(session: Session) -> list[dict[str, object]]:
    """The trace rows of an open session; a recording's are redacted as sealing would, from what is known so far."""
    if session.journal is not None:
        content = read_journal(session.journal.path)
        return list(redacted_rows(content, session_redactor(content, session.layout)))
    assert session.trace is not None
    session.trace.flush()
    return [orjson.loads(line) for line in session.trace.path.read_bytes().splitlines()]


def world_of(session: Session, service: str) -> WorldSession:
    """The world behind a service of a session. Raises SessionError."""
    world = session.worlds.get(service)
    if world is None:
        told = f'the session has no world "{service}"'
        raise SessionError("unknown_world", told, nearest(service, session.worlds))
    return world


def _told(error: ProctorError) -> web.Response:
    """The answer that carries an error."""
    ours = error.exit_code == EXIT_PLATFORM
    status = _STATUSES.get(error.code, 500 if ours else 400)
    return answers.of_error(status, ErrorAnswer.of(error))
