"""The source that asks the real service, relays the answer as it comes, and has it recorded where that is the mode."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

from proctor.interaction import Request, Response
from proctor.proxy import answers
from proctor.proxy.failing import Oversize, ProxyRefused, Refused, TooLong, failure
from proctor.proxy.guarding import overdue, refused
from proctor.proxy.hop import for_upstream, unsendable
from proctor.proxy.keeping import Keeper
from proctor.proxy.receiving import FAILURES, Received, rest_of
from proctor.proxy.relay import Relay
from proctor.proxy.seams import Exchange, decoded_headers
from proctor.proxy.way import Way
from proctor.service_config import ServiceConfig

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_HEADER_BYTES = 64 * 1024
_LARGE = 2**20
_PIECE = 2**16


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
        self.keeper = Keeper(service, way, record=record)

    @property
    def key_headers(self) -> tuple[str, ...]:
        """The headers of its requests that are declared to carry meaning, in lower case."""
        return tuple(name.lower() for name in self._service.key_headers)

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        try:
            async with _within(exchange.left()):
                upstream = await self._send(exchange.request)
        except FAILURES as error:
            return self.unreachable(exchange, error)
        try:
            return await Relay(self.keeper, exchange, upstream).run()
        except (Oversize, TooLong) as error:
            return self.unreachable(exchange, error)
        finally:
            upstream.release()

    async def ask(self, request: Request, limit: float | None = None) -> Response:
        """The whole answer, or as much of it as came, to a request that is not relayed. Raises one of FAILURES.

        It is TooLong where that takes more than `limit` seconds.
        """
        started = time.perf_counter()
        async with _within(limit):
            upstream = await self._send(request)
            try:
                response = await rest_of(Received(upstream, started))
            finally:
                upstream.release()
        if response.unkept:
            raise Oversize(f"its answer has {response.unkept} bytes, too many for a tape")
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

    def unreachable(self, exchange: Exchange, cause: BaseException) -> web.StreamResponse:
        """The answer where the real service gave none, or not in time."""
        if isinstance(cause, TooLong):
            return refused(exchange, overdue(exchange))
        found = failure(self._way, cause)
        exchange.session.error_row(exchange, found.status, found.as_dict())
        return answers.refusal(found.status, found.as_dict(), self._service)

    def unreached(self, cause: BaseException) -> dict[str, str]:
        """The error where the real service gave no answer."""
        return failure(self._way, cause).as_dict()


@asynccontextmanager
async def _within(seconds: float | None) -> AsyncIterator[None]:
    """Raise TooLong once so many seconds have passed; never for None."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise TooLong from None
        raise


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
