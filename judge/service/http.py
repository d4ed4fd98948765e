"""What every request to the service goes through: token, rate, one form of errors, bodies of bounded size."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import BaseModel

from proctor.errors import EXIT_PLATFORM, ProctorError, ServiceBusy, UsageError
from proctor.http_server import carries_token
from proctor.wire import TOKEN_HEADER, ErrorAnswer

_LOG = logging.getLogger("proctor.judge")
_OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""For whoever starts and watches services: no token, and nothing that is secret."""
_STATUSES = {
    "token_wrong": 401,
    "unknown_route": 404,
    "unknown_verdict": 404,
    "unknown_batch": 404,
    "unknown_review": 404,
    "no_verdict": 404,
    "record_gone": 404,
    "review_taken": 409,
    "run_seen": 409,
    "repeated_label": 409,
    "not_labelled": 409,
    "not_the_third": 409,
    "no_gap": 409,
    "decided_already": 409,
    "method_not_allowed": 405,
    "body_too_large": 413,
    "line_too_long": 413,
    "batch_too_large": 413,
    "rate_limited": 429,
    "queue_full": 429,
    "service_stopping": 503,
    "not_writable": 503,
}
"""Of errors by code; any other is 400, or 500 where Proctor itself failed."""
RETRY_AFTER = {"queue_full": 5, "service_stopping": 5, "not_writable": 30}
"""Seconds."""
BURST_SECONDS = 10.0


class RateLimit:
    """So many requests a second on average, with `BURST_SECONDS` worth of them at once."""

    def __init__(self, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Full at the start."""
        self._a_second = a_second
        self._most = a_second * BURST_SECONDS
        self._left = self._most
        self._clock = clock
        self._at = clock()

    def wait(self) -> float:
        """Seconds until a request may be answered; 0 where it may be now, and is then counted."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._a_second)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._a_second


def guarding(token: str, rate: RateLimit) -> list[Middleware]:
    """The middlewares, outermost first."""

    @web.middleware
    async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except ProctorError as error:
            return told(error)
        except web.HTTPMethodNotAllowed as error:
            allowed = ", ".join(sorted(error.allowed_methods))
            answer = told(UsageError("method_not_allowed", f"{_path(request)} takes {allowed}, not {request.method}"))
            answer.headers["Allow"] = allowed
            return answer
        except web.HTTPNotFound:
            return told(UsageError("unknown_route", f"the service has no {_path(request)}", "see docs/service.md"))
        except web.RequestPayloadError:
            return told(UsageError("bad_body", "the body cannot be read: it is not encoded as its headers say"))
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            _LOG.error("a request failed inside the service", exc_info=error)
            platform = ErrorAnswer(
                code="platform_error", message=f"Proctor failed: {type(error).__name__}", exit_code=EXIT_PLATFORM
            )
            return answered(platform, 500)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in _OPEN_PATHS:
            if not carries_token(request, token):
                _LOG.warning("refused: %s %s without the token", request.method, _path(request))
                fix = "its start printed the token, or wrote it to --token-file; Authorization: Bearer carries it too"
                answer = told(UsageError("token_wrong", f"the service wants its token in {TOKEN_HEADER}", fix))
                answer.headers["WWW-Authenticate"] = "Bearer"
                return answer
            seconds = rate.wait()
            if seconds:
                answer = told(ServiceBusy("rate_limited", "too many requests at once", "send it again (Retry-After)"))
                answer.headers["Retry-After"] = str(math.ceil(seconds))
                return answer
        return await handler(request)

    return [errors, guard]


def _path(request: web.Request) -> str:
    """As it was sent, which has no line ends and nothing of the query, of bounded length."""
    return request.rel_url.raw_path[:200]


def told(error: ProctorError) -> web.Response:
    """The answer that carries an error."""
    ours = error.exit_code == EXIT_PLATFORM
    status = _STATUSES.get(error.code, 500 if ours else 400)
    answer = answered(ErrorAnswer.of(error), status)
    if error.code in RETRY_AFTER:
        answer.headers["Retry-After"] = str(RETRY_AFTER[error.code])
    return answer


def answered(model: BaseModel, status: int = 200) -> web.Response:
    """A value as JSON."""
    return web.Response(status=status, body=model.model_dump_json().encode(), content_type="application/json")


def flag_in(request: web.Request, name: str, *, otherwise: bool) -> bool:
    """A flag of the query. Raises UsageError for anything but 0 and 1."""
    return bool(number_in(request, name, int(otherwise), 1))


def number_in(request: web.Request, name: str, otherwise: int, most: int) -> int:
    """A whole number of the query. Raises UsageError for any other text."""
    given = request.query.get(name)
    if given is None:
        return otherwise
    if not given.isascii() or not given.isdecimal() or len(given) > 18 or int(given) > most:
        raise UsageError("bad_query", f"{name} is a whole number from 0 to {most}, not {given[:40]!r}")
    return int(given)
