"""The proxy itself: one port for the services' addresses, the control API, and whatever goes past both."""

from __future__ import annotations

import logging
import secrets
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiohttp import web
from yarl import URL

from proctor.config import Config
from proctor.errors import ConfigError, SessionError, nearest
from proctor.listening import cannot_listen, local
from proctor.proxy import answers
from proctor.proxy.addresses import is_below
from proctor.proxy.addressing import Addressing, proxy_user
from proctor.proxy.carriers import (
    KEY,
    Claim,
    PathCarrier,
    claims_of,
    passed_on,
    real_credential,
    without_proxy_credentials,
)
from proctor.proxy.conclude import LeftOpen
from proctor.proxy.control import PREFIX, Control
from proctor.proxy.registry import Registry
from proctor.proxy.resources import RESOURCES, resource_answer
from proctor.proxy.seams import Exchange, RawHeaders
from proctor.proxy.session import ServiceInSession, Session, session_closed
from proctor.proxy.unreadable import http_log
from proctor.service_config import ServiceConfig, upstream_url
from proctor.wire import ASKED, CURRENT, ErrorAnswer

_LOG = logging.getLogger("proctor.proxy")
_HEADER_BYTES = 64 * 1024
_ADDRESSES = "addresses read /s/SESSION/SERVICE/...; `proctor env` prints them"
_NO_SESSION = ("no session is named there", _ADDRESSES)
_NO_LIMIT = 0
"""Of a request's body: what the real service takes, the proxy takes."""


@dataclass
class Proxy:
    """A listening proxy. `url` is its address on this machine, `token` opens its control API."""

    registry: Registry
    addressing: Addressing
    token: str
    _runner: web.ServerRunner

    @property
    def url(self) -> str:
        """See `Addressing.url`."""
        return self.addressing.url

    def session_url(self, session_id: str) -> str:
        """How agents reach a session: the base of its services' addresses."""
        return self.addressing.agents_url + PathCarrier(self.addressing.path_token).address(session_id)

    async def listen_at(self, listener: socket.socket) -> None:
        """Accept connections from one more socket, which was bound elsewhere, until the proxy is closed."""
        await web.SockSite(self._runner, listener).start()

    async def close(self) -> tuple[LeftOpen, ...]:
        """Stop listening, let closing sessions come to their end, then end what nobody closed; tells what it was."""
        for site in list(self._runner.sites):
            await site.stop()
        await self.registry.finish_endings()
        await self._runner.cleanup()
        return await self.registry.aclose()


async def start_proxy(
    config: Config, host: str = "127.0.0.1", port: int = 0, *, advertised: str = "", token: str = ""
) -> Proxy:
    """Listen, on loopback and a port of the system's choice unless told otherwise. Raises UsageError (PortInUse).

    On a host that others can reach, agents' addresses carry an unguessable path token.
    """
    registry = Registry(config)
    token = token or secrets.token_urlsafe(24)
    path_token = "" if local(host) else secrets.token_urlsafe(24)
    dispatcher = _Dispatcher(registry, PathCarrier(path_token))
    server = web.Server(
        dispatcher.handle,
        request_factory=_request,
        access_log=None,
        logger=http_log(registry, path_token),
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
        raise cannot_listen(host, port, error) from None
    addressing = Addressing(host, runner.addresses[0][1], advertised, path_token)
    dispatcher.listen_at(addressing, token)
    return Proxy(registry, addressing, token, runner)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    return web.BaseRequest(message, payload, protocol, writer, task, task.get_loop(), client_max_size=_NO_LIMIT)


async def _body_of(request: web.BaseRequest) -> bytes:
    """The whole body; at once where it came with the head, as most do.

    `BytesIO` gives out what it gathered without copying it, so a large upload is in memory once.
    """
    content = request.content
    if content.is_eof():
        return content.read_nowait()
    gathered = BytesIO()
    while piece := await content.readany():
        gathered.write(piece)
    return gathered.getvalue()


def _unfit(request: web.BaseRequest, target: str) -> tuple[int, dict[str, str]] | None:
    """Status and error of what is refused in every mode; None for what can be recorded and replayed."""
    if "websocket" in request.headers.get("Upgrade", "").lower():
        return 501, {"code": "websocket_refused", "message": "Proctor records HTTP, not WebSockets", "fix": ""}
    if "#" in target:  # the client session would drop it and what follows, so the service would see another request
        return 400, {
            "code": "fragment_in_target",
            "message": 'the target of the request holds a raw "#", which HTTP does not allow there',
            "fix": "send %23 where the character is meant; where a fragment is meant, leave it out",
        }
    return None


class _Dispatcher:
    """Tells requests apart by their target and sends each where it belongs."""

    def __init__(self, registry: Registry, carrier: PathCarrier) -> None:
        self._registry = registry
        self._carrier = carrier
        self._addressing: Addressing | None = None
        self._control: Control | None = None

    def listen_at(self, addressing: Addressing, token: str) -> None:
        """Know one's own address, once the system has chosen it."""
        self._addressing = addressing
        self._registry.addresses, self._registry.carrier = addressing.own_urls, self._carrier
        self._control = Control(self._registry, token, lambda id_: addressing.agents_url + self._carrier.address(id_))

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
        if not target.startswith("/") or request.method == "CONNECT":
            own = self._own_target(request, target)
            if own is None:
                return self._past(request, target)
            target = own
        if target.startswith(PREFIX):
            assert self._control is not None
            return await self._control.answer(request, target.partition("?")[0])
        located = self._carrier.locate(target)
        if located is None:
            if not self._carrier.admits(target):
                return self._stranger(404)
            return self._stray(self._whose(request), request.method, target, *_NO_SESSION)
        claims = claims_of(located, request.headers)
        asked = self._registry.config.services.get(located.service)
        if len({claim.session for claim in claims}) > 1:
            return self._contradicted(request.method, target, claims, asked)
        named = claims[0].session if claims else CURRENT
        try:
            session = self._registry.find(named)
        except SessionError as error:
            if error.code == "session_closed":
                self._registry.came_late(named)
                return _closed(error, located.service, asked)
            fix = error.fix or _ADDRESSES
            return self._stray(self._whose(request), request.method, target, error.message, fix, service=asked)
        resource = RESOURCES.get(located.service)
        if resource is not None:
            return await resource_answer(resource, session, request, located.target.partition("?")[0])
        service = session.services.get(located.service)
        if service is None:
            names = RESOURCES if located.service.startswith("_") else session.services
            near = nearest(located.service, names)
            why = f'the session has no service "{located.service}"'
            return self._stray((session,), request.method, target, why, near)
        carried = [claim for claim in claims if claim.by != PathCarrier.told]
        return await self._exchange(request, session, service, located.target, carried)

    async def _exchange(
        self,
        request: web.BaseRequest,
        session: Session,
        service: ServiceInSession,
        target: str,
        carried: Sequence[Claim],
    ) -> web.StreamResponse:
        """One request of a session's agent; whatever fails in it is booked on that session.

        `carried` are the claims that its headers make.
        """
        started = time.perf_counter()
        index, beside = session.arrived()
        try:
            if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
                request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            try:
                body = await _body_of(request)
            except ConnectionError:
                return self._broken_off(request, session, service, target)
            if session.settled:
                self._registry.late[session.id] += 1
                return answers.refusal(410, session_closed(session.id).as_dict(), service.config)
            headers = without_proxy_credentials(request.raw_headers)
            exchange = Exchange(request, session, service, index, target, body, started, beside, raw_headers=headers)
            stopped = session.guarding.stopped(exchange)
            if stopped is not None:
                return stopped
            if carried:
                try:
                    exchange.raw_headers = self._passed_on(headers, session, service, carried)
                except SessionError as error:
                    session.error_row(exchange, 401, error.as_dict())
                    return answers.refusal(401, error.as_dict(), service.config)
            unfit = _unfit(request, target)
            if unfit is not None:
                status, refused = unfit
                session.error_row(exchange, status, refused)
                return answers.refusal(status, refused, service.config)
            return await session.exchange(exchange)
        except web.HTTPException:
            raise
        except Exception as error:
            return _failed_inside((session,), error, service.name)
        finally:
            session.left(index)

    @staticmethod
    def _broken_off(
        request: web.BaseRequest, session: Session, service: ServiceInSession, target: str
    ) -> web.StreamResponse:
        """Book a request that never became whole: nobody was asked, and a recording lacks it."""
        path = target.partition("?")[0]
        told = f"{service.name} {request.method} {path}: the agent broke off before its request was whole"
        fix = "see that it waits for its uploads to end"
        session.failed("request_cut", told, fix, exchange=True, service=service.name)
        return web.Response(status=400)  # to nobody

    def _passed_on(
        self, headers: RawHeaders, session: Session, service: ServiceInSession, carried: Sequence[Claim]
    ) -> RawHeaders:
        """The headers for the service's source. A tape itself knows whom a key stands for. Raises SessionError."""
        credential = ""
        if any(claim.by == KEY.told for claim in carried) and session.spec.modes[service.name] in ASKED:
            credential = real_credential(service.name, service.config, self._registry.environ)
        return passed_on(headers, credential)

    def _own_target(self, request: web.BaseRequest, target: str) -> str | None:
        """The path of a request that a client sent to this proxy by way of this proxy; None for any other host."""
        assert self._addressing is not None
        if request.method == "CONNECT" or request.transport is None:
            return None
        return self._addressing.origin_form(target, request.transport.get_extra_info("sockname")[0])

    def _past(self, request: web.BaseRequest, target: str) -> web.StreamResponse:
        """A call to a host that is not addressed as a service: refused, and reported whatever the agent makes of it."""
        assert self._addressing is not None
        if not self._addressing.may_proxy(request.remote, request.headers.get("Proxy-Authorization", "")):
            return self._stranger(407, {"Proxy-Authenticate": "Basic"})
        host = target if request.method == "CONNECT" else _host_of(target)
        service = self._service_at(host, target)
        self._registry.totals.past += 1
        for session in self._whose(request):
            session.bypassed(host, request.method, service)
        told = f'the address of service "{service}", called directly' if service else "no service of proctor.toml"
        error = {
            "code": "host_refused",
            "message": f"{host} is {told}",
            "fix": "call it by the address in the service's variable; `proctor env` prints them",
        }
        return answers.refusal(403, error)

    def _whose(self, request: web.BaseRequest) -> Sequence[Session]:
        """On which sessions a request is booked whose address names none.

        That is the one which its proxy credentials name, if it is open: the launcher's proxy variables have it so. Of a
        client that sends none, or an ended session's, it may be any one's.
        """
        session = self._registry.sessions.get(proxy_user(request.headers.get("Proxy-Authorization", "")))
        return self._registry.running if session is None or session.closed else (session,)

    def _service_at(self, host: str, target: str) -> str | None:
        """The service whose address was called directly, if any: by URL, else by host and port."""
        for name, service in self._registry.config.services.items():
            try:
                url = URL(upstream_url(name, service, self._registry.environ))
            except ConfigError:
                continue
            if is_below(target, str(url)) or host in {f"{url.host}:{url.port}", url.host}:
                return name
        return None

    def _contradicted(
        self, method: str, target: str, claims: Sequence[Claim], service: ServiceConfig | None
    ) -> web.StreamResponse:
        """The answer to a request that names two sessions: it may be either's, so it fails both."""
        named = {claim.session for claim in claims}
        sessions = [session for session in self._registry.running if session.id in named] or self._registry.running
        why = ", ".join(f'{claim.by} names session "{claim.session}"' for claim in claims)
        fix = f"let the address say {CURRENT} where a header or a key names the session"
        return self._stray(sessions, method, target, why, fix, "carriers_contradict", service)

    def _stray(
        self,
        sessions: Iterable[Session],
        method: str,
        target: str,
        why: str,
        fix: str,
        code: str = "stray_request",
        service: ServiceConfig | None = None,
    ) -> web.StreamResponse:
        """The answer to a request to the proxy's own address that belongs nowhere; it fails these sessions.

        It has the shape that clients of `service` read.
        """
        path = self._carrier.without_token(target).partition("?")[0]
        error = {"code": code, "message": f"{method} {path}: {why}", "fix": fix}
        self._registry.totals.strays += 1
        for session in sessions:
            session.stray({"service": "", "method": method, "target": path, "status": 404, "error": error})
        return answers.refusal(404, error, service)

    def _stranger(self, status: int, headers: dict[str, str] | None = None) -> web.StreamResponse:
        """The answer to whoever was given no address: it tells nothing, and no session has to do with it."""
        self._registry.totals.strangers += 1
        return web.Response(status=status, headers=headers)


def _failed_inside(sessions: Iterable[Session], error: Exception, service: str = "") -> web.Response:
    """The answer to a request that broke Proctor itself; it fails these sessions."""
    _LOG.error("an exchange failed inside the proxy", exc_info=error)
    told = {"code": "platform_error", "message": f"Proctor failed: {type(error).__name__}: {error}"}
    for session in sessions:
        session.failed(told["code"], told["message"], exchange=True, service=service)
    return answers.refusal(500, told)


def _closed(error: SessionError, service: str, asked: ServiceConfig | None) -> web.Response:
    """The answer to a request that names a session which has ended."""
    if service in RESOURCES:
        return answers.of_error(410, ErrorAnswer(code=error.code, message=error.message, fix=error.fix))
    return answers.refusal(410, error.as_dict(), asked)


def _host_of(target: str) -> str:
    try:
        url = URL(target, encoded=True)
        return f"{url.host}:{url.port}"
    except ValueError:
        return target
