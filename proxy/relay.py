"""An answer on its way from the real service to the agent, piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from proctor.interaction import readable
from proctor.proxy.answers import Streamed
from proctor.proxy.failing import TooLong
from proctor.proxy.hop import announced_length, end_to_end
from proctor.proxy.keeping import Ending, Keeper
from proctor.proxy.receiving import FAILURES, Received, abort, is_events, rest_of
from proctor.proxy.seams import Exchange, decoded_headers


class Relay:
    """One answer on its way from the service to the agent.

    Each piece goes on as it comes, save the one that ends the body: that waits for the journal. JSON in which addresses
    are to be rewritten is held until it is whole. An agent that leaves early does not end it: the rest is read, until
    the closing session waits no longer.
    """

    def __init__(self, keeper: Keeper, exchange: Exchange, upstream: aiohttp.ClientResponse) -> None:
        self._keeper = keeper
        self._exchange = exchange
        self._rewriter = exchange.session.rewriter
        self._upstream = upstream
        self._headers = end_to_end(decoded_headers(upstream.raw_headers))
        self._received = Received(upstream, exchange.started)
        self._client_gone = False

    async def run(self) -> web.StreamResponse:
        """Relay it; gives the answer as the agent got it. Raises TooLong where nothing went on in time."""
        relayed = self._exchange.session.relayed
        relayed.add(self._received)
        left = self._exchange.left()
        loop = asyncio.get_running_loop()
        timer = None if left is None else loop.call_later(left, self._received.overrun)
        try:
            if self._is_here() or self._rewriter.holds(self._exchange.service.name, self._headers):
                return await self._at_once()
            return await self._piecewise()
        finally:
            relayed.discard(self._received)
            if timer is not None:
                timer.cancel()

    def _is_here(self) -> bool:
        """Whether the whole answer has come already. Events keep their pieces also then."""
        return self._upstream.content.is_eof() and not is_events(self._upstream.headers)

    async def _at_once(self) -> web.StreamResponse:
        """The whole answer is here already, or must be before it goes on."""
        recorded = await rest_of(self._received)
        if self._received.overdue:
            raise TooLong
        return self._keeper.deliver(self._exchange, recorded, self._ending())

    async def _piecewise(self) -> web.StreamResponse:
        exchange, received = self._exchange, self._received
        url = self._keeper.url(exchange)
        answer = self._rewriter.headers(exchange.service.name, exchange.target, url, self._headers)
        sent = CIMultiDict(answer.headers)
        announced = announced_length(sent)
        reason = readable(self._upstream.reason or "")
        response = Streamed(status=self._upstream.status, reason=reason, headers=sent)
        await self._to_client(response.prepare(exchange.http))
        finished = False
        try:
            while part := await received.part():
                if received.size == announced:
                    self._finish(answer.rewrites, complete=True)
                    finished = True
                if not self._client_gone:
                    await self._to_client(response.write(part))
        except FAILURES:
            if not finished:
                self._finish(answer.rewrites, complete=False)
                return abort(exchange, response)
        if not finished:
            self._finish(answer.rewrites, complete=True)
            if received.stopped:
                return abort(exchange, response)
        if not self._client_gone:
            await self._to_client(response.write_eof())
        return response

    async def _to_client(self, sending: Awaitable[object]) -> None:
        """Send, unless the agent has hung up: its patience must not decide what is recorded."""
        try:
            await sending
        except ConnectionError:
            self._client_gone = True

    def _finish(self, rewrites: Sequence[str], *, complete: bool) -> None:
        self._keeper.finished(self._exchange, self._received.response(complete), self._ending(), rewrites)

    def _ending(self) -> Ending:
        gone = self._client_gone or self._exchange.http.transport is None
        received = self._received
        return Ending(gone, received.stopped, self._upstream.content.exception(), overdue=received.overdue)
