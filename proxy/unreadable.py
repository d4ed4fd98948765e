"""What fails outside the dispatcher, as the HTTP library's log tells of it."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

from proctor.proxy.registry import Registry


class _Unreadable(logging.Handler):
    """Books what fails outside the dispatcher: what the HTTP parser refuses, and what cannot be written.

    On a proxy that others can reach, a request that was refused is a stranger's, unless what the parser shows of it has
    the path token. An answer that cannot be written is our own.
    """

    def __init__(self, registry: Registry, path_token: str) -> None:
        super().__init__()
        self._registry = registry
        self._token = path_token

    def emit(self, record: logging.LogRecord) -> None:
        """A failure, which names no session."""
        error = record.exc_info[1] if record.exc_info is not None and record.levelno >= logging.ERROR else None
        if error is None or isinstance(error, ConnectionError):  # whoever asked has left; the dispatcher booked that
            return
        if not isinstance(error, HttpProcessingError):
            self._fail("platform_error", f"an answer could not be written: {type(error).__name__}: {error}")
        elif self._token not in str(error):
            self._registry.totals.strangers += 1
        else:
            told = str(error).replace(f"/p/{self._token}", "") if self._token else str(error)
            self._fail("unreadable_request", f"a request could not be read as HTTP: {told}")

    def _fail(self, code: str, told: str) -> None:
        for session in self._registry.running:
            session.failed(code, told, exchange=True)


def http_log(registry: Registry, path_token: str) -> logging.Logger:
    """The log of one proxy's HTTP server; see `_Unreadable`."""
    log = logging.Logger("proctor.proxy.http")
    log.addHandler(_Unreadable(registry, path_token))
    return log
