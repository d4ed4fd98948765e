"""An answer on its way from the real service to the agent, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from proctor.interaction import Response, readable
from proctor.proxy.hop import announced_length, end_to_end
from proctor.proxy.receiving import FAILURES, abort, response_of, rest_of
from proctor.proxy.seams import Exchange, decoded_headers


class Receiver(Protocol):
    """Keeps an answer that came to its end."""

    def finished(
        self, exchange: Exchange, url: str, response: Response, *, client_gone: bool, rewrites: Sequence[str]
    ) -> None:
        """Journal or trace it."""

    def deliver(self, exchange: Exchange, recorded: Response, *, client_gone: bool) -> web.StreamResponse:
        """Journal a whole answer, then give it to the agent."""


class Relay:
    """One answer on its way from the service to the agent.

    Each piece goes on as it comes, save the one that ends the body: that waits for the journal. JSON in which addresses
    are to be rewritten is held until it is whole.
    """

    def __init__(self, source: Receiver, exchange: Exchange, upstream: aiohttp.ClientResponse, url: str) -> None:
        self._source = source
        self._exchange = exchange
        self._rewriter = exchange.session.rewriter
        self._upstream = upstream
        self._url = url
        self._headers = end_to_end(decoded_headers(upstream.raw_headers))
        self._reason = readable(upstream.reason or "")
        self._pieces: list[bytes] = []
        self._client_gone = False

    async def run(self) -> web.StreamResponse:
        if self._upstream.content.is_eof() or self._rewriter.holds(self._exchange.service.name, self._headers):
            return await self._at_once()
        return await self._piecewise()

    async def _at_once(self) -> web.StreamResponse:
        """The whole answer is here already, or must be before it goes on."""
        recorded = response_of(self._upstream, *await rest_of(self._upstream))
        return self._source.deliver(self._exchange, recorded, client_gone=self._gone())

    async def _piecewise(self) -> web.StreamResponse:
        exchange = self._exchange
        answer = self._rewriter.headers(exchange.service.name, exchange.target, self._url, self._headers)
        sent = CIMultiDict(answer.headers)
        announced = announced_length(sent)
        response = web.StreamResponse(status=self._upstream.status, reason=self._reason, headers=sent)
        await self._to_client(response.prepare(exchange.http))
        received = 0
        finished = False
        try:
            while piece := await self._upstream.content.readany():
                self._pieces.append(piece)
                received += len(piece)
                if received == announced:
                    self._finish(self._recorded(complete=True), answer.rewrites)
                    finished = True
                await self._to_client(response.write(piece))
        except FAILURES:
            if not finished:
                self._finish(self._recorded(complete=False), answer.rewrites)
                return abort(exchange, response)
        if not finished:
            self._finish(self._recorded(complete=True), answer.rewrites)
        await self._to_client(response.write_eof())
        return response

    async def _to_client(self, sending: Any) -> None:
        """Send, unless the agent has hung up: its patience must not decide what is recorded."""
        if self._client_gone:
            sending.close()
            return
        try:
            await sending
        except ConnectionError:
            self._client_gone = True

    def _recorded(self, complete: bool) -> Response:
        """The answer in the real service's own words, as far as it has come."""
        return response_of(self._upstream, self._pieces, complete)

    def _finish(self, recorded: Response, rewrites: Sequence[str]) -> None:
        self._source.finished(self._exchange, self._url, recorded, client_gone=self._gone(), rewrites=rewrites)

    def _gone(self) -> bool:
        return self._client_gone or self._exchange.http.transport is None
