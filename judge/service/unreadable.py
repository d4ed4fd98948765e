"""What is no request that our handlers ever see: answered and told in our own words, never in the sender's.

aiohttp shows the bytes where it stopped reading, in its answer and in its log; they may be a token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from proctor.errors import PlatformError, UsageError
from proctor.wire import ErrorAnswer

_LOG = logging.getLogger("proctor.judge")
_NO_HTTP = "this is no HTTP request that can be read, or a line of its header is too long"


class Runner(web.AppRunner):
    """Runs an application whose protocol answers as it says above."""

    @property
    def server(self) -> Any:
        """What makes the protocol of each connection."""
        made = super().server
        return None if made is None else partial(_protocol, made)


def _protocol(server: Callable[[], RequestHandler]) -> RequestHandler:
    """aiohttp lets nobody choose the class of its protocols; ours has no state of its own."""
    protocol = server()
    protocol.__class__ = _Protocol
    return protocol


class _Protocol(RequestHandler):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """aiohttp's answer with our words in it."""
        response = super().handle_error(request, status, exc, message)
        if isinstance(response, web.Response):
            ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
            error = PlatformError("platform_error", "Proctor failed") if ours else UsageError("bad_http", _NO_HTTP)
            response.body = ErrorAnswer.of(error).model_dump_json().encode()
            response.content_type = "application/json"
        return response


class _Told(logging.Handler):
    """What aiohttp has to tell of it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell it in our own words."""
        error = record.exc_info[1] if record.exc_info is not None and record.levelno >= logging.ERROR else None
        if isinstance(error, HttpProcessingError | web.RequestPayloadError):
            _LOG.warning("refused: a request that is no HTTP, or with too long a header")
        elif error is not None and not isinstance(error, ConnectionError):  # whoever asked has left
            _LOG.error("an answer could not be written: %s", type(error).__name__)


def quiet() -> logging.Logger:
    """aiohttp's log of one service."""
    log = logging.Logger("proctor.judge.http")
    log.addHandler(_Told())
    return log
