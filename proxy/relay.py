"""An answer on its way from the real service to the agent, piece by piece."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from proctor.interaction import Response, readable
from proctor.proxy.answers import Streamed
from proctor.proxy.hop import announced_length, end_to_end
from proctor.proxy.receiving import FAILURES, Received, abort, is_events, rest_of
from proctor.proxy.seams import Exchange, decoded_headers


class Receiver(Protocol):
    """Keeps an answer that came to its end."""

    def finished(
        self,
        exchange: Exchange,
        url: str,
        response: Response,
        *,
        client_gone: bool,
        rewrites: Sequence[str],
        stopped: bool,
    ) -> None:
        """Journal or trace it. `stopped` says that Proctor itself waited no longer for its end."""

    def deliver(
        self, exchange: Exchange, recorded: Response, *, client_gone: bool, stopped: bool
    ) -> web.StreamResponse:
        """Journal a whole answer, then give it to the agent."""


class Relay:
    """One answer on its way from the service to the agent.

    Each piece goes on as it comes, save the one that ends the body: that waits for the journal. JSON in which addresses
    are to be rewritten is held until it is whole. An agent that leaves early does not end it: the rest is read, until
    the closing session waits no longer.
    """

    def __init__(self, source: Receiver, exchange: Exchange, upstream: aiohttp.ClientResponse, url: str) -> None:
        self._source = source
        self._exchange = exchange
        self._rewriter = exchange.session.rewriter
        self._upstream = upstream
        self._url = url
        self._headers = end_to_end(decoded_headers(upstream.raw_headers))
        self._received = Received(upstream, exchange.started)
        self._client_gone = False

    async def run(self) -> web.StreamResponse:
        """Relay it; gives the answer as the agent got it."""
        relayed = self._exchange.session.relayed
        relayed.add(self._received)
        try:
            if self._is_here() or self._rewriter.holds(self._exchange.service.name, self._headers):
                return await self._at_once()
            return await self._piecewise()
        finally:
            relayed.discard(self._received)

    def _is_here(self) -> bool:
        """Whether the whole answer has come already. Events keep their pieces also then."""
        return self._upstream.content.is_eof() and not is_events(self._upstream.headers)

    async def _at_once(self) -> web.StreamResponse:
        """The whole answer is here already, or must be before it goes on."""
        recorded = await rest_of(self._received)
        gone, stopped = self._gone(), self._received.stopped
        return self._source.deliver(self._exchange, recorded, client_gone=gone, stopped=stopped)

    async def _piecewise(self) -> web.StreamResponse:
        exchange, received = self._exchange, self._received
        answer = self._rewriter.headers(exchange.service.name, exchange.target, self._url, self._headers)
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
        self._source.finished(
            self._exchange,
            self._url,
            self._received.response(complete),
            client_gone=self._gone(),
            rewrites=rewrites,
            stopped=self._received.stopped,
        )

    def _gone(self) -> bool:
        return self._client_gone or self._exchange.http.transport is None
