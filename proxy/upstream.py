"""The source that asks the real service, relays the answer as it comes, and records it where that is the mode."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict
from yarl import URL

from proctor.effects import effect_of, tool_of
from proctor.interaction import Headers, Interaction, Request, Response, header, readable
from proctor.proxy import answers
from proctor.proxy.failing import Oversize, ProxyRefused, Refused, cut, failure
from proctor.proxy.hop import end_to_end, for_upstream, unsendable
from proctor.proxy.receiving import FAILURES, KEPT_BYTES, Received, abort, rest_of
from proctor.proxy.relay import Relay
from proctor.proxy.seams import Exchange, decoded_headers
from proctor.proxy.way import Way
from proctor.service_config import ServiceConfig
from proctor.summary import without_trailers
from proctor.wire import STAND_IN_HEADER

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_HEADER_BYTES = 64 * 1024
_LARGE = 2**20
_PIECE = 2**16

_CUT = ("answer_cut", "the real service broke off")
_UNENDED = ("answer_unended", "it had no end when the session closed; what had come is kept as cut")
_NOT_KEPT = frozenset({"host", "expect"})


def client_session() -> aiohttp.ClientSession:
    """The connection pool to real services: bytes untouched, no cookies, no redirects followed, nothing added."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=_AUTOMATIC,
        connector=aiohttp.TCPConnector(limit=0),
        max_line_size=_HEADER_BYTES,
        max_field_size=_HEADER_BYTES,
        max_headers=1024,
    )


class Upstream:
    """Answers one service of one session from the real thing."""

    def __init__(self, service: ServiceConfig, way: Way, client: aiohttp.ClientSession, *, record: bool) -> None:
        """`way` leads to the service."""
        self._service = service
        self._way = way
        self._options = way.options()
        self._client = client
        self._record = record
        self._coming: dict[int, aiohttp.ClientResponse] = {}
        """By exchange: the answers that are on their way."""

    @property
    def key_headers(self) -> tuple[str, ...]:
        """The headers of its requests that are declared to carry meaning, in lower case."""
        return tuple(name.lower() for name in self._service.key_headers)

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        url = self._way.url + exchange.target
        try:
            upstream = self._coming[exchange.index] = await self._send(exchange.request)
        except FAILURES as error:
            return self.unreachable(exchange, error)
        try:
            return await Relay(self, exchange, upstream, url).run()
        except Oversize as error:
            return self.unreachable(exchange, error)
        finally:
            del self._coming[exchange.index]
            upstream.release()

    async def ask(self, request: Request) -> Response:
        """The whole answer, or as much of it as came, to a request that nobody waits for. Raises one of FAILURES."""
        started = time.perf_counter()
        upstream = await self._send(request)
        try:
            response = await rest_of(Received(upstream, started))
        finally:
            upstream.release()
        if response.unkept:
            raise Oversize(f"its answer has {response.unkept} bytes, too many for a tape")
        return response

    def deliver(
        self, exchange: Exchange, recorded: Response, *, client_gone: bool, stopped: bool = False
    ) -> web.StreamResponse:
        """Journal a whole answer, then give it to the agent. Raises Oversize for one that was not kept."""
        if recorded.unkept:
            raise Oversize(f"its answer has {recorded.unkept} bytes, too many to be held for `rewrite`")
        url = self._way.url + exchange.target
        answer = exchange.session.rewriter.answer(exchange.service.name, exchange.target, url, recorded)
        self.finished(exchange, url, recorded, client_gone=client_gone, rewrites=answer.rewrites, stopped=stopped)
        if not recorded.complete:
            return abort(exchange)
        if answer.note:
            exchange.session.tally.notes[answer.note] = None
        sent = CIMultiDict(answer.headers)
        response = answers.Whole(status=recorded.status, reason=recorded.reason, headers=sent, body=answer.body)
        if answer.body and "Content-Length" not in sent and exchange.http.version >= (1, 1):
            response.enable_chunked_encoding()
        return response

    async def _send(self, request: Request) -> aiohttp.ClientResponse:
        way = self._way
        async with asyncio.timeout(None) as limit:
            upstream = await self._client.request(
                request.method,
                URL(way.url + request.target, encoded=True),
                headers=for_upstream(request.headers, way.sent),
                data=_payload(request.body, limit, way.read_seconds),
                allow_redirects=False,
                **self._options,
            )
        try:
            self._check_head(upstream)
        except Refused:
            upstream.close()
            raise
        return upstream

    def _check_head(self, upstream: aiohttp.ClientResponse) -> None:
        """Raise Refused for a head that is none of the service's, or that cannot be passed on."""
        if upstream.status < 200:
            raise Refused(f"status {upstream.status}, for which nobody asked")
        if upstream.status == 407 and self._way.proxy and not self._way.tunnelled:
            raise ProxyRefused("407")
        why = unsendable(upstream.reason or "", decoded_headers(upstream.raw_headers))
        if why:
            raise Refused(why)

    def finished(
        self,
        exchange: Exchange,
        url: str,
        response: Response,
        *,
        client_gone: bool,
        rewrites: Sequence[str],
        stopped: bool = False,
    ) -> None:
        """Journal or trace an answer that has come to its end, whole or cut; `rewrites` were made in it."""
        request = exchange.request
        path = request.target.partition("?")[0]
        tool = tool_of(self._service, request.method, path, request.headers)
        effect, why = effect_of(self._service, request.method, path, tool)
        interaction = Interaction(
            index=exchange.index,
            request=self._kept(exchange),
            response=response,
            url=url,
            effect=effect,
            effect_why=why,
            tool=tool,
            started=exchange.started - exchange.session.began,
            seconds=time.perf_counter() - exchange.started,
            beside=exchange.beside,
            after=exchange.after,
            stand_in=readable(header(response.headers, STAND_IN_HEADER) or "") or None,
        )
        session = exchange.session
        rewrites = (*exchange.rewrites, *rewrites)
        unkept = response.unkept + (len(request.body) if len(request.body) > KEPT_BYTES else 0)
        if unkept:
            session.unkept(interaction, unkept, kept=self._record, client_gone=client_gone, rewrites=rewrites)
        else:
            session.answered(interaction, kept=self._record, client_gone=client_gone, rewrites=rewrites)
        if _loses_bytes(request.headers) or _loses_bytes(response.headers):
            session.tally.notes[f"{request.service}: a header that is no UTF-8 lost bytes on its way"] = None
        if request.target.endswith("?"):
            session.tally.notes[f"{request.service}: an empty query (a trailing ?) was lost on its way"] = None
        if response.trailers and not self._record:  # of a recording, sealing tells
            session.tally.notes[without_trailers(interaction)] = None
        if not response.complete:
            self._cut(exchange, path, stopped=stopped)

    def _cut(self, exchange: Exchange, path: str, *, stopped: bool) -> None:
        """Say that an answer came to no end, and why."""
        coming = self._coming.get(exchange.index)
        code, told = _UNENDED if stopped else _CUT
        why = "" if stopped else cut(self._way, coming.content.exception() if coming is not None else None)
        request = f"{exchange.service.name} {exchange.http.method} {path}"
        exchange.session.failed(code, f"{request}: {told}: {why}" if why else f"{request}: {told}")

    def _kept(self, exchange: Exchange) -> Request:
        """The request as the tape has it; a body that is too large is left out."""
        request = request_without_hops(exchange)
        body = request.body if len(request.body) <= KEPT_BYTES else b""
        return replace(request, headers=self._way.kept(request.headers), body=body)

    def unreachable(self, exchange: Exchange, cause: BaseException) -> web.StreamResponse:
        """The answer where the real service gave none."""
        found = failure(self._way, cause)
        exchange.session.error_row(exchange, found.status, found.as_dict())
        return answers.refusal(found.status, found.as_dict(), self._service)

    def unreached(self, cause: BaseException) -> dict[str, str]:
        """The error where the real service gave no answer."""
        return failure(self._way, cause).as_dict()


def request_without_hops(exchange: Exchange) -> Request:
    """The request as the service saw it: without the headers of the agent's connection to the proxy."""
    request = exchange.request
    kept = tuple([pair for pair in end_to_end(request.headers) if pair[0].lower() not in _NOT_KEPT])
    return Request(request.service, request.method, request.target, kept, request.body)


def _loses_bytes(headers: Headers) -> bool:
    """Whether aiohttp drops bytes of a header when it sends it."""
    return any(not value.isascii() and readable(value) != value for _, value in headers)


class _Upload(aiohttp.Payload):
    """A large body, sent piece by piece without a copy of it, so that the loop is not held up.

    The service must take each piece in time: the client session would wait for that for ever.
    """

    def __init__(self, body: bytes, limit: asyncio.Timeout, seconds: float) -> None:
        super().__init__(body)
        self._size = len(body)
        self._limit = limit
        self._seconds = seconds

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self._value, encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        view, clock = memoryview(self._value), asyncio.get_running_loop().time
        for at in range(0, len(view), _PIECE):
            self._limit.reschedule(clock() + self._seconds)
            await writer.write(view[at : at + _PIECE])
            await asyncio.sleep(0)
        await writer.drain()
        self._limit.reschedule(None)  # from here on the client session itself waits in time


def _payload(body: bytes, limit: asyncio.Timeout, seconds: float) -> bytes | _Upload | None:
    """A body as the client session takes it."""
    return (_Upload(body, limit, seconds) if len(body) > _LARGE else body) or None
