"""The proxy itself: one port for the services' addresses, the control API, and whatever goes past both."""

from __future__ import annotations

import errno
import logging
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from yarl import URL

from proctor.config import Config, upstream_url
from proctor.errors import ConfigError, PortInUse, SessionError, nearest
from proctor.proxy import answers
from proctor.proxy.control import PREFIX, Control
from proctor.proxy.registry import Registry
from proctor.proxy.seams import Exchange, PathCarrier
from proctor.proxy.session import ServiceInSession, Session

_LOG = logging.getLogger("proctor.proxy")
_HEADER_BYTES = 64 * 1024
_ADDRESSES = "addresses read /s/SESSION/SERVICE/...; `proctor env` prints them"
_NO_SESSION = ("no session is named there", _ADDRESSES)
_NO_LIMIT = 0
"""Of a request's body: what the real service takes, the proxy takes."""


@dataclass
class Proxy:
    """A listening proxy. `url` is its address, `token` opens its control API."""

    registry: Registry
    url: str
    token: str
    _runner: web.ServerRunner

    async def close(self) -> None:
        """Stop listening, end what is open, keep the journals of recordings that nobody closed."""
        await self._runner.cleanup()
        await self.registry.aclose()


async def start_proxy(config: Config, host: str = "127.0.0.1", port: int = 0) -> Proxy:
    """Listen on loopback, on a port of the system's choice unless one is asked for. Raises PortInUse."""
    registry = Registry(config)
    token = secrets.token_urlsafe(24)
    dispatcher = _Dispatcher(registry)
    server = web.Server(
        dispatcher.handle,
        request_factory=_request,
        access_log=None,
        logger=_http_log(registry),
        auto_decompress=False,
        max_line_size=_HEADER_BYTES,
        max_field_size=_HEADER_BYTES,
        max_headers=1024,
    )
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        await runner.cleanup()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                "port_in_use",
                f"port {port} on {host} is taken by another program",
                "leave --port out: the system chooses",
            ) from None
        raise
    bound = runner.addresses[0][1]
    dispatcher.listen_at(host, bound, token)
    return Proxy(registry, f"http://{host}:{bound}", token, runner)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    return web.BaseRequest(message, payload, protocol, writer, task, task.get_loop(), client_max_size=_NO_LIMIT)


async def _body_of(request: web.BaseRequest) -> bytes:
    """The whole body; at once where it came with the head, as most do."""
    if request.content.is_eof():
        return request.content.read_nowait()
    return await request.read()


class _Dispatcher:
    """Tells requests apart by their target and sends each where it belongs."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._carrier = PathCarrier()
        self._own: tuple[str, ...] = ()
        self._control: Control | None = None

    def listen_at(self, host: str, port: int, token: str) -> None:
        """Know one's own address, once the system has chosen it."""
        self._own = tuple(f"http://{name}:{port}/" for name in (host, "localhost", "127.0.0.1", "[::1]"))
        self._control = Control(self._registry, token, f"http://{host}:{port}")
        self._registry.addresses = tuple(address.rstrip("/") for address in self._own)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request that reaches the port."""
        try:
            return await self._dispatch(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            return _failed_inside(self._registry.running, error)

    async def _dispatch(self, request: web.BaseRequest) -> web.StreamResponse:
        target = request.raw_path
        if request.method == "CONNECT":
            return self._past(request, target)
        if not target.startswith("/"):
            own = next((address for address in self._own if target.startswith(address)), None)
            if own is None:
                return self._past(request, _host_of(target), target)
            target = target[len(own) - 1 :]
        if target.startswith(PREFIX):
            assert self._control is not None
            return await self._control.answer(request, target.partition("?")[0])
        located = self._carrier.locate(target)
        if located is None:
            return _stray(self._registry.running, request.method, target, *_NO_SESSION)
        try:
            session = self._registry.find(located.session)
        except SessionError as error:
            if error.code == "session_closed":
                return answers.refusal(410, error.as_dict())
            return _stray(self._registry.running, request.method, target, error.message, error.fix or _ADDRESSES)
        service = session.services.get(located.service)
        if service is None:
            near = nearest(located.service, session.services)
            why = f'the session has no service "{located.service}"'
            return _stray((session,), request.method, target, why, near)
        return await self._exchange(request, session, service, located.target)

    async def _exchange(
        self, request: web.BaseRequest, session: Session, service: ServiceInSession, target: str
    ) -> web.StreamResponse:
        """One request of a session's agent; whatever fails in it is booked on that session."""
        started, index = time.perf_counter(), session.next_index()
        if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        exchange = Exchange(request, session, service, index, target, await _body_of(request), started)
        if "websocket" in request.headers.get("Upgrade", "").lower():
            refused = {"code": "websocket_refused", "message": "Proctor records HTTP, not WebSockets", "fix": ""}
            session.error_row(exchange, 501, refused)
            return answers.refusal(501, refused, service.config)
        try:
            return await session.exchange(exchange)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            return _failed_inside((session,), error)

    def _past(self, request: web.BaseRequest, host: str, target: str = "") -> web.StreamResponse:
        """A call to a host that is not addressed as a service: refused, and reported whatever the agent makes of it."""
        service = self._service_at(host, target)
        for session in self._registry.running:
            session.bypassed(host, request.method, service)
        told = f'the address of service "{service}", called directly' if service else "no service of proctor.toml"
        error = {
            "code": "host_refused",
            "message": f"{host} is {told}",
            "fix": "call it by the address in the service's variable; `proctor env` prints them",
        }
        return answers.refusal(403, error)

    def _service_at(self, host: str, target: str) -> str | None:
        """The service whose address was called directly, if any: by URL, else by host and port."""
        for name, service in self._registry.config.services.items():
            try:
                url = URL(upstream_url(name, service, self._registry.environ))
            except ConfigError:
                continue
            if target.startswith(str(url)) or host in {f"{url.host}:{url.port}", url.host}:
                return name
        return None


def _stray(sessions: Iterable[Session], method: str, target: str, why: str, fix: str) -> web.Response:
    """The answer to a request to the proxy's own address that belongs nowhere; it fails these sessions."""
    path = target.partition("?")[0]
    error = {"code": "stray_request", "message": f"{method} {path}: {why}", "fix": fix}
    for session in sessions:
        session.stray({"service": "", "method": method, "target": path, "status": 404, "error": error})
    return answers.refusal(404, error)


def _failed_inside(sessions: Iterable[Session], error: Exception) -> web.Response:
    """The answer to a request that broke Proctor itself; it fails these sessions."""
    _LOG.error("an exchange failed inside the proxy", exc_info=error)
    told = {"code": "platform_error", "message": f"Proctor failed: {type(error).__name__}: {error}"}
    for session in sessions:
        session.failed(told["code"], told["message"], exchange=True)
    return answers.refusal(500, told)


class _Unreadable(logging.Handler):
    """Books what the HTTP parser refuses: such a request never reaches the dispatcher."""

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry

    def emit(self, record: logging.LogRecord) -> None:
        """A parser's refusal, which names no session."""
        if record.exc_info is None or record.levelno < logging.ERROR:
            return
        told = f"a request could not be read as HTTP: {record.exc_info[1]}"
        for session in self._registry.running:
            session.failed("unreadable_request", told, exchange=True)


def _http_log(registry: Registry) -> logging.Logger:
    log = logging.Logger("proctor.proxy.http")
    log.addHandler(_Unreadable(registry))
    return log


def _host_of(target: str) -> str:
    try:
        url = URL(target, encoded=True)
        return f"{url.host}:{url.port}"
    except ValueError:
        return target
