"""The source that answers from a tape. It makes no connection and no look-up, whatever is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp import web
from multidict import CIMultiDict

from proctor.credentials import CREDENTIAL_HEADERS
from proctor.effects import tool_of
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.matchkey import KEY_HEADERS, is_key_header
from proctor.proxy import answers, miss
from proctor.proxy.finding import RecordingFinder
from proctor.proxy.forgive import Conflict
from proctor.proxy.guarding import overdue, refused
from proctor.proxy.hop import for_client
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.live_secrets import Unbound
from proctor.proxy.order import Choice, Order
from proctor.proxy.playing import Pace, cut_at, play
from proctor.proxy.seams import Exchange
from proctor.proxy.state import SAME
from proctor.proxy.state_told import other_writes, under_way
from proctor.proxy.taking import take_over
from proctor.service_config import ServiceConfig
from proctor.stamp import JUDGE_SALT
from proctor.trace import body_value, interaction_fields, row_line
from proctor.wire import ATTEMPTS_HEADER

if TYPE_CHECKING:
    from proctor.proxy.session import Session


_SAID = (b"", b'"repeated":true,')
"""Of an answer that just comes from the tape: for the first time, and once more."""


class Playable(NamedTuple):
    """What answers an exchange: a recording, how it matches, and what the match forgave."""

    choice: Choice
    match: str
    forgiven: Sequence[str] = ()


Explained = Callable[[], dict[str, Any]]
"""Makes the error of a miss."""


class Replay:
    """Answers one service of one session from the session's tape."""

    def __init__(self, service: ServiceConfig, finder: RecordingFinder, order: Order, binder: IdentityBinder) -> None:
        """Take the service's finder, and the session's order and identities."""
        self._service = service
        self._finder = finder
        self._tape = finder.tape
        self._order = order
        self._binder = binder
        self._secrets = finder.secrets
        self._declared = frozenset(name.lower() for name in service.key_headers)
        watched = KEY_HEADERS | self._declared | CREDENTIAL_HEADERS - {"proxy-authorization"} | {"accept"}
        self._watched = frozenset(name.encode() for name in watched)
        self._prepared: dict[int, _Prepared] = {}
        self._headers: dict[Headers, CIMultiDict[str]] = {}

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        found = self.look(exchange, strict=exchange.session.spec.strict)
        if isinstance(found, Playable):
            return await self.play(exchange, found)
        # On a thread: comparing long conversations takes a while, and other sessions are being answered.
        return self._refuse(exchange, await asyncio.to_thread(found))

    def foretell(self, exchange: Exchange) -> Response | None:
        """See `Foretelling.foretell`. Without what an overlay changes."""
        key_headers, credentials = self._read(exchange)
        try:
            identity = self._binder.identity(exchange.service.name, credentials) if credentials else ()
            found = self._finder.exact(exchange, key_headers, identity)
            found = found or self._finder.by_meaning(exchange, key_headers, identity)
        except (Unbound, Conflict):
            return None
        choice = self._order.nearest(found.positions, lambda: self._finder.wider(found)) if found else None
        if choice is None:
            return None
        prepared = self._prepared.get(choice.position) or self._prepare(exchange.session, choice.position)
        return prepared.answer

    def look(self, exchange: Exchange, *, strict: bool) -> Playable | Explained:
        """The recording that answers, noted as played; else what tells why none does. `strict`: see `Order.choose`."""
        key_headers, credentials = self._read(exchange)
        spec = exchange.session.spec
        try:
            identity = self._binder.identity(exchange.service.name, credentials) if credentials else ()
            found = self._finder.exact(exchange, key_headers, identity)
            found = found or self._finder.by_meaning(exchange, key_headers, identity)
        except Unbound as reason:
            return partial(miss.unbound, self._tape, self._clean(exchange), str(reason), self._tool(exchange), spec)
        except Conflict as reason:
            return partial(miss.contradicting, self._clean(exchange), str(reason), self._tool(exchange))
        if found is None:
            return partial(miss.explain, self._tape, self._clean(exchange), identity, self._tool(exchange), spec)
        choice = self._order.choose(found.positions, lambda: self._finder.wider(found), strict=strict)
        if choice is None:
            return partial(miss.used_up, self._tape, found.positions, self._tool(exchange), spec)
        if choice.state.distance and strict:
            return partial(miss.other_state, self._tape, choice, self._tool(exchange), spec)
        return Playable(choice, *self._finder.matched(found, choice.position))

    def _read(self, exchange: Exchange) -> tuple[Headers, list[tuple[bytes, bytes]]]:
        """Key headers and credential headers of a request, in one pass over what few of them matter."""
        credentials: list[tuple[bytes, bytes]] = []
        key_headers: list[tuple[str, str]] = []
        for raw_name, raw_value in exchange.raw_headers:
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

    def _clean(self, exchange: Exchange) -> Request:
        """The request with placeholders for every secret in it."""
        return self._secrets.clean(exchange.request)

    async def play(self, exchange: Exchange, found: Playable) -> web.StreamResponse:
        """Answer from the tape, and leave the trace row."""
        session, (choice, match, forgiven) = exchange.session, found
        prepared = self._prepared.get(choice.position) or self._prepare(session, choice.position)
        if session.overlay:
            prepared = self._overlaid(session, choice.position, prepared)
        if session.spec.timing and exchange.limit is not None and prepared.interaction.seconds > exchange.limit:
            begun = cut_at(prepared.answer, exchange.limit)
            if begun is None:
                await Pace(exchange.started, session.closing).until(exchange.limit)
                return refused(exchange, overdue(exchange), matched=choice.position, match=match)
            prepared = self._cut(exchange, prepared, begun)
        if session.spec.over:
            take_over(exchange, self._tape, choice)
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
                self._said(choice, forgiven, exchange)
                if forgiven or choice.state is not SAME or exchange.fault
                else _SAID[choice.repeated],
                prepared.row_with(exchange.rewrites) if exchange.rewrites else prepared.row_rest,
            )
        )
        if prepared.plain and not session.spec.timing:
            return prepared.response(exchange.http)
        return await self._play_slowly(exchange, prepared)

    async def _play_slowly(self, exchange: Exchange, prepared: _Prepared) -> web.StreamResponse:
        """The answers that are not just sent: of several pieces, broken off, or at recorded times."""
        session, seconds = exchange.session, prepared.interaction.seconds
        pace = Pace(exchange.started, session.closing) if session.spec.timing else None
        if not prepared.plain:
            return await play(exchange.http, prepared.headers, prepared.answer, seconds, pace)
        if pace is not None:
            await pace.until(seconds)
        return prepared.response(exchange.http)

    def _said(self, choice: Choice, forgiven: Sequence[str], exchange: Exchange) -> bytes:
        """The part of a row that says in what the answer is not just the recording of this very call."""
        session = exchange.session
        said: dict[str, Any] = {**({"repeated": True} if choice.repeated else {}), **exchange.fault}
        if forgiven:
            said["forgiven"] = forgiven
            session.tally.forgave(self._tape.cassette.interactions[choice.position].request.service, forgiven)
        if choice.state.distance:
            said["state_distance"] = choice.state.distance
            said["state"] = other_writes(self._tape.cassette, choice.state)
            recorded = self._tape.cassette.interactions[choice.position]
            session.tally.from_other_state(recorded, choice.state.distance, said["state"])
        return row_line(said)[1:-2] + b"," if said else b""

    def _overlaid(self, session: Session, position: int, prepared: _Prepared) -> _Prepared:
        """The answer with what the case changes in it; counts the call."""
        changed, told = session.overlay.over(self._tape.cassette.interactions[position])
        if not told:
            return prepared
        session.tally.overlaid += 1
        shown = replace(prepared.interaction, response=changed.response)
        return self._made(session, changed, shown, {"overlaid": told})

    def _cut(self, exchange: Exchange, prepared: _Prepared, begun: Response) -> _Prepared:
        """What had `begun` to come of an answer when the call took too long."""
        stop = overdue(exchange)
        exchange.session.stopped(stop.code, stop.message, service=exchange.service.name, exchange=False)
        seconds, whole = exchange.limit or 0.0, prepared.interaction
        response = cut_at(whole.response, seconds) or replace(whole.response, body=b"", pieces=None, complete=False)
        shown = replace(whole, response=response, seconds=seconds)
        return _Prepared(shown, begun, prepared.headers, prepared.told, {"error": stop.as_dict()})

    def _prepare(self, session: Session, position: int) -> _Prepared:
        """The answer of a position, made when it is first needed."""
        recorded = self._tape.cassette.interactions[position]
        beside = under_way(self._tape.cassette, self._tape.state.beside(position))
        more = {"beside": beside} if beside and self._tape.effects[position].effect == "read" else {}
        prepared = self._prepared[position] = self._made(session, recorded, self._tape.shown(position), more)
        return prepared

    def _made(self, session: Session, recorded: Interaction, shown: Interaction, more: Mapping[str, Any]) -> _Prepared:
        """What the agent gets of an interaction, and what the trace shows of it; `more` are fields of its row."""
        request, response = recorded.request, recorded.response
        answer = session.rewriter.answer(request.service, request.target, recorded.url, response)
        if answer.note:
            session.tally.notes[answer.note] = None
        told = [self._tape.clean(text) for text in answer.rewrites]
        sent = response.rewritten(answer.headers, answer.body)
        headers = self._headers.get(answer.headers)
        if headers is None:
            headers = self._headers[answer.headers] = for_client(answer.headers)
        if recorded.attempts > 1 and JUDGE_SALT in self._tape.cassette.stamp:  # a verdict says how often it was asked
            headers = CIMultiDict(headers)
            headers[ATTEMPTS_HEADER] = str(recorded.attempts)
        return _Prepared(shown, sent, headers, told, more)

    def _refuse(self, exchange: Exchange, error: dict[str, Any]) -> web.StreamResponse:
        """Answer with a miss, and fail the session whatever the agent makes of it."""
        request = self._clean(exchange)
        row = {
            **exchange.row_head("refused", request),
            "tool": self._tool(exchange),
            "arguments": body_value(request.headers, request.body),
            "rewrites": exchange.rewrites or None,
            "status": answers.MISS_STATUS,
            "error": error,
            **exchange.fault,
        }
        exchange.session.missed({key: value for key, value in row.items() if value is not None})
        return answers.miss(self._service, error)

    def _tool(self, exchange: Exchange) -> str | None:
        path = exchange.target.partition("?")[0]
        return tool_of(self._service, exchange.http.method, path, exchange.headers)


class _Prepared:
    """A recorded answer, ready to be sent any number of times, with the part of its trace row that never changes."""

    __slots__ = ("_chunked", "_made", "_more", "answer", "headers", "interaction", "plain", "row_rest", "told")

    def __init__(
        self,
        interaction: Interaction,
        answer: Response,
        headers: CIMultiDict[str],
        told: Sequence[str],
        more: Mapping[str, Any],
    ) -> None:
        """`answer` is the recorded one with this proxy's addresses, `told` says what was rewritten."""
        self.interaction = interaction
        self.answer = answer
        self.headers = headers
        self.plain = answer.complete and answer.pieces is None
        """It can be sent as a whole."""
        self._made = web.Response if "Content-Type" in self.headers else answers.Whole
        self._chunked = "Content-Length" not in self.headers
        self.told = tuple(told)
        self._more = more
        self.row_rest = self.row_with(())

    def row_with(self, rewrites: Sequence[str]) -> bytes:
        """The rest of the row of a request in which these rewrites were made."""
        told = (*rewrites, *self.told)
        rewritten = {"rewrites": told} if told else {}
        return row_line({**interaction_fields(self.interaction), **rewritten, **self._more})[1:]

    def response(self, http: web.BaseRequest) -> web.Response:
        """A fresh response; chunked where the recorded one had no length, if the client's HTTP knows chunks."""
        answer = self.answer
        response = self._made(status=answer.status, reason=answer.reason, headers=self.headers, body=answer.body)
        if self._chunked and answer.body and http.version >= (1, 1):
            response.enable_chunked_encoding()
        return response
