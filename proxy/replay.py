"""The source that answers from a tape. It makes no connection and no look-up, whatever is asked."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from aiohttp import web
from multidict import CIMultiDict

from proctor.config import ServiceConfig
from proctor.credentials import CREDENTIAL_HEADERS
from proctor.effects import tool_of
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.matchkey import KEY_HEADERS, ExactKey, Identity, is_key_header
from proctor.proxy import answers, miss
from proctor.proxy.cut import play_cut
from proctor.proxy.hop import for_client
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.live_secrets import LiveSecrets, Unbound
from proctor.proxy.order import Choice, Order
from proctor.proxy.playback import Tape
from proctor.proxy.seams import Exchange
from proctor.proxy.state_told import other_writes
from proctor.trace import body_value, interaction_fields, row_line

if TYPE_CHECKING:
    from proctor.proxy.session import Session

Match = Literal["exact", "canonical"]


class Replay:
    """Answers one service of one session from the session's tape."""

    def __init__(
        self, service: ServiceConfig, tape: Tape, order: Order, binder: IdentityBinder, secrets: LiveSecrets
    ) -> None:
        """Take the session's tape, order, identities and secrets."""
        self._service = service
        self._tape = tape
        self._order = order
        self._binder = binder
        self._secrets = secrets
        self._declared = frozenset(name.lower() for name in service.key_headers)
        watched = KEY_HEADERS | self._declared | CREDENTIAL_HEADERS - {"proxy-authorization"} | {"accept"}
        self._watched = frozenset(name.encode() for name in watched)
        self._prepared: dict[int, _Prepared] = {}
        self._headers: dict[Headers, CIMultiDict[str]] = {}

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        key_headers, credentials = self._read(exchange)
        service = exchange.service.name
        try:
            identity = self._binder.identity(service, credentials) if credentials else ()
        except Unbound as reason:
            return await self._miss_unbound(exchange, str(reason))
        key = ExactKey(service, exchange.http.method, exchange.target, key_headers, identity, exchange.body)
        positions, match = self._tape.exact(key), "exact"
        if positions is None:
            try:
                positions, match = self._by_meaning(exchange, key_headers, identity)
            except Unbound as reason:
                return await self._miss_unbound(exchange, str(reason))
        if positions is None:
            return await self._miss(exchange, identity)
        choice = self._order.choose(positions, lambda: self._tape.twins(positions[0]))
        if choice is None:
            return self._refuse(
                exchange, miss.used_up(self._tape, positions, self._tool(exchange), exchange.session.again)
            )
        if choice.state.distance and exchange.session.spec.strict:
            return self._refuse(
                exchange, miss.other_state(self._tape, choice, self._tool(exchange), exchange.session.again)
            )
        if positions[min(bisect_left(positions, choice.position), len(positions) - 1)] != choice.position:
            match = "canonical"
        return await self._play(exchange, choice, match)

    def _read(self, exchange: Exchange) -> tuple[Headers, list[tuple[bytes, bytes]]]:
        """Key headers and credential headers of a request, in one pass over what few of them matter."""
        credentials: list[tuple[bytes, bytes]] = []
        key_headers: list[tuple[str, str]] = []
        for raw_name, raw_value in exchange.http.raw_headers:
            low = raw_name.lower()
            if low not in self._watched:
                continue
            name = low.decode()
            if name in CREDENTIAL_HEADERS:
                credentials.append((low, raw_value))
            value = raw_value.decode("utf-8", "surrogateescape")
            if is_key_header(name, value, self._declared):
                value = exchange.session.restorer.text(f"header {name}", value, exchange.rewrites)
                key_headers.append((name, value))
        key_headers.sort(key=lambda pair: pair[0])
        return tuple(key_headers), credentials

    def _by_meaning(
        self, exchange: Exchange, key_headers: Headers, identity: Identity
    ) -> tuple[list[int] | None, Match]:
        """Candidates for a request that differs in bytes: equal in meaning, then with placeholders for live secrets.

        Raises Unbound where only its secrets differ, and it is not clear for which of the tape's they stand.
        """
        positions = self._tape.canonical(exchange.request, key_headers, identity)
        if positions is not None or not self._tape.compares_identity:
            return positions, "canonical"  # looking for secrets takes far longer, so it comes last
        request = self._clean(exchange)
        if request.body != exchange.body or request.target != exchange.target:
            key = ExactKey(request.service, request.method, request.target, key_headers, identity, request.body)
            positions = self._tape.exact(key)
            if positions is not None:
                return positions, "exact"
        positions = self._tape.canonical(request, key_headers, identity)
        if positions is None:
            positions = self._secrets.positions(exchange.request, key_headers, identity)
            exchange.session.tally.notes.update(self._secrets.notes)
        return positions, "canonical"

    def _clean(self, exchange: Exchange) -> Request:
        """The request with placeholders for every secret in it."""
        return self._secrets.clean(exchange.request)

    async def _play(self, exchange: Exchange, choice: Choice, match: str) -> web.StreamResponse:
        session = exchange.session
        prepared = self._prepared.get(choice.position) or self._prepare(session, choice.position)
        session.tally.answered(prepared.interaction, "hits", choice.repeated)
        session.write_line(
            b'{"index":%d,"session":"%s","source":"replay","started":%.6f,"seconds":%.6f,"matched":%d,"match":"%s",%s%s'
            % (
                exchange.index,
                session.id.encode(),
                exchange.started - session.began,
                time.perf_counter() - exchange.started,
                choice.position,
                match.encode(),
                (b'"repeated":true,' if choice.repeated else b"") + self._state_of(choice, session),
                prepared.row_with(exchange.rewrites) if exchange.rewrites else prepared.row_rest,
            )
        )
        if not prepared.answer.complete:
            return await play_cut(exchange.http, prepared.headers, prepared.answer)
        return prepared.response(exchange.http)

    def _state_of(self, choice: Choice, session: Session) -> bytes:
        """The part of a row that says from what other state an answer is; empty for one of the very same."""
        if not choice.state.distance:
            return b""
        told = other_writes(self._tape.cassette, choice.state)
        session.tally.from_other_state(self._tape.cassette.interactions[choice.position], choice.state.distance, told)
        return row_line({"state_distance": choice.state.distance, "state": told})[1:-2] + b","

    def _prepare(self, session: Session, position: int) -> _Prepared:
        """The answer of a position, made when it is first needed."""
        recorded = self._tape.cassette.interactions[position]
        request, response = recorded.request, recorded.response
        answer = session.rewriter.answer(request.service, request.target, recorded.url, response)
        if answer.note:
            session.tally.notes[answer.note] = None
        told = [self._tape.clean(text) for text in answer.rewrites]
        sent = replace(response, headers=answer.headers, body=answer.body)
        headers = self._headers.get(answer.headers)
        if headers is None:
            headers = self._headers[answer.headers] = for_client(answer.headers)
        prepared = _Prepared(self._tape.shown(position), sent, headers, told)
        self._prepared[position] = prepared
        return prepared

    async def _miss(self, exchange: Exchange, identity: Identity) -> web.StreamResponse:
        request = self._clean(exchange)
        # On a thread: comparing long conversations takes a while, and other sessions are being answered.
        again = exchange.session.again
        error = await asyncio.to_thread(miss.explain, self._tape, request, identity, self._tool(exchange), again)
        return self._refuse(exchange, error)

    async def _miss_unbound(self, exchange: Exchange, reason: str) -> web.StreamResponse:
        request, again = self._clean(exchange), exchange.session.again
        return self._refuse(exchange, miss.unbound(self._tape, request, reason, self._tool(exchange), again))

    def _refuse(self, exchange: Exchange, error: dict[str, Any]) -> web.StreamResponse:
        """Answer with a miss, and fail the session whatever the agent makes of it."""
        request = self._clean(exchange)
        row = {
            "index": exchange.index,
            "session": exchange.session.id,
            "source": "refused",
            "started": round(exchange.started - exchange.session.began, 6),
            "seconds": round(time.perf_counter() - exchange.started, 6),
            "service": request.service,
            "method": request.method,
            "target": request.target,
            "tool": self._tool(exchange),
            "arguments": body_value(request.headers, request.body),
            "rewrites": exchange.rewrites or None,
            "status": answers.MISS_STATUS,
            "error": error,
        }
        exchange.session.missed({key: value for key, value in row.items() if value is not None})
        return answers.miss(self._service, error)

    def _tool(self, exchange: Exchange) -> str | None:
        path = exchange.target.partition("?")[0]
        return tool_of(self._service, exchange.http.method, path, exchange.headers)


class _Prepared:
    """A recorded answer, ready to be sent any number of times, with the part of its trace row that never changes."""

    __slots__ = ("_chunked", "_told", "answer", "headers", "interaction", "row_rest")

    def __init__(
        self, interaction: Interaction, answer: Response, headers: CIMultiDict[str], told: Sequence[str]
    ) -> None:
        """`answer` is the recorded one with this proxy's addresses, `told` says what was rewritten."""
        self.interaction = interaction
        self.answer = answer
        self.headers = headers
        self._chunked = "Content-Length" not in self.headers
        self._told = tuple(told)
        self.row_rest = self.row_with(())

    def row_with(self, rewrites: Sequence[str]) -> bytes:
        """The rest of the row of a request in which these rewrites were made."""
        told = (*rewrites, *self._told)
        return row_line({**interaction_fields(self.interaction), **({"rewrites": told} if told else {})})[1:]

    def response(self, http: web.BaseRequest) -> web.Response:
        """A fresh response; chunked where the recorded one had no length, if the client's HTTP knows chunks."""
        answer = self.answer
        response = web.Response(status=answer.status, reason=answer.reason, headers=self.headers, body=answer.body)
        if self._chunked and answer.body and http.version >= (1, 1):
            response.enable_chunked_encoding()
        return response
