"""The control API: `/_proctor/...`, for whoever holds the run's token."""

from __future__ import annotations

import hmac

import orjson
from aiohttp import web
from pydantic import BaseModel, ValidationError

from proctor.errors import EXIT_PLATFORM, ProctorError, SessionError, UsageError
from proctor.journal import read_journal
from proctor.proxy.registry import Registry
from proctor.proxy.session import Session
from proctor.redacted_trace import redacted_rows, session_redactor
from proctor.wire import TOKEN_HEADER, CloseAnswer, CloseRequest, ErrorAnswer, SessionSpec, TraceAnswer

PREFIX = "/_proctor/"


class Control:
    """Answers the control API of one proxy.

        POST /_proctor/sessions              SessionSpec  -> SessionInfo (201)
        GET  /_proctor/sessions/ID                        -> SessionInfo
        GET  /_proctor/sessions/ID/trace                  -> TraceAnswer
        POST /_proctor/sessions/ID/close     CloseRequest -> CloseAnswer

    Errors are ErrorAnswers: 401 without the token, 404 for what is not there, 400 for what cannot be.
    """

    def __init__(self, registry: Registry, token: str, base_url: str) -> None:
        """`base_url` is how an agent reaches this proxy."""
        self._registry = registry
        self._token = token
        self._base_url = base_url

    async def answer(self, request: web.BaseRequest, path: str) -> web.Response:
        """Answer one control request; `path` is its target without the proxy's own address."""
        if not hmac.compare_digest(request.headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return _error(401, "token_wrong", f"the control API wants the run's token in {TOKEN_HEADER}")
        try:
            return await self._route(request.method, path[len(PREFIX) :].split("/"), await request.read())
        except SessionError as error:
            return _error(404, error.code, error.message, error.fix)
        except ProctorError as error:
            status = 500 if error.exit_code == EXIT_PLATFORM else 400
            return _error(status, error.code, error.message, error.fix, error.exit_code)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            return _error(400, "bad_request", f"{where}: {first['msg']}")

    async def _route(self, method: str, parts: list[str], body: bytes) -> web.Response:
        match method, parts:
            case "POST", ["sessions"]:
                session = self._registry.open(SessionSpec.model_validate_json(body))
                return _json(session.info(self._url(session)), 201)
            case "GET", ["sessions", session_id]:
                session = self._registry.find(session_id)
                return _json(session.info(self._url(session)))
            case "GET", ["sessions", session_id, "trace"]:
                return _json(TraceAnswer(rows=rows_so_far(self._registry.find(session_id))))
            case "POST", ["sessions", session_id, "close"]:
                asked = CloseRequest.model_validate_json(body or b"{}")
                return _json(CloseAnswer(summary=await self._registry.close(session_id, asked.command_status)))
        raise UsageError("unknown_route", f"the control API has no {method} /{'/'.join(parts)}")

    def _url(self, session: Session) -> str:
        return f"{self._base_url}/s/{session.id}"


def rows_so_far(session: Session) -> list[dict[str, object]]:
    """The trace rows of an open session; a recording's are redacted as sealing would, from what is known so far."""
    if session.journal is not None:
        content = read_journal(session.journal.path)
        return list(redacted_rows(content, session_redactor(content)))
    assert session.trace is not None
    session.trace.flush()
    return [orjson.loads(line) for line in session.trace.path.read_bytes().splitlines()]


def _json(model: BaseModel, status: int = 200) -> web.Response:
    return web.Response(status=status, body=model.model_dump_json().encode(), content_type="application/json")


def _error(status: int, code: str, message: str, fix: str = "", exit_code: int | None = None) -> web.Response:
    return _json(ErrorAnswer(code=code, message=message, fix=fix, exit_code=exit_code), status)
