"""What becomes of a real service's answer that has come to its end: journal, trace, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aiohttp import web
from multidict import CIMultiDict

from proctor.effects import effect_of, tool_of
from proctor.interaction import Headers, Interaction, Request, Response, header, readable
from proctor.proxy import answers
from proctor.proxy.failing import Oversize, cut
from proctor.proxy.guarding import overdue
from proctor.proxy.hop import end_to_end
from proctor.proxy.receiving import KEPT_BYTES, abort
from proctor.proxy.seams import Exchange
from proctor.proxy.way import Way
from proctor.service_config import ServiceConfig
from proctor.summary import without_trailers
from proctor.wire import STAND_IN_HEADER

_CUT = ("answer_cut", "the real service broke off")
_UNENDED = ("answer_unended", "it had no end when the session closed; what had come is kept as cut")
_NOT_KEPT = frozenset({"host", "expect"})


@dataclass(frozen=True)
class Ending:
    """How an answer ended."""

    client_gone: bool
    stopped: bool = False
    """Proctor itself waited no longer for its end."""
    cause: BaseException | None = None
    """What broke it off, where that is known."""
    overdue: bool = False
    """It was stopped since the call took too long."""


class Keeper:
    """Keeps the answers of one service of one session."""

    def __init__(self, service: ServiceConfig, way: Way, *, record: bool) -> None:
        """`way` leads to the service; without `record` answers are only traced."""
        self._service = service
        self._way = way
        self._record = record

    def url(self, exchange: Exchange) -> str:
        """The real address of what was asked."""
        return self._way.url + exchange.target

    def deliver(self, exchange: Exchange, recorded: Response, ending: Ending) -> web.StreamResponse:
        """Journal a whole answer, then give it to the agent. Raises Oversize for one that was not kept."""
        if recorded.unkept:
            raise Oversize(f"its answer has {recorded.unkept} bytes, too many to be held for `rewrite`")
        rewriter = exchange.session.rewriter
        answer = rewriter.answer(exchange.service.name, exchange.target, self.url(exchange), recorded)
        self.finished(exchange, recorded, ending, answer.rewrites)
        if not recorded.complete:
            return abort(exchange)
        if answer.note:
            exchange.session.tally.notes[answer.note] = None
        sent = CIMultiDict(answer.headers)
        response = answers.Whole(status=recorded.status, reason=recorded.reason, headers=sent, body=answer.body)
        if answer.body and "Content-Length" not in sent and exchange.http.version >= (1, 1):
            response.enable_chunked_encoding()
        return response

    def finished(self, exchange: Exchange, response: Response, ending: Ending, rewrites: Sequence[str]) -> None:
        """Journal or trace an answer that has come to its end, whole or cut; `rewrites` were made in it."""
        request, session = exchange.request, exchange.session
        interaction = self._interaction(exchange, response)
        if ending.overdue and not response.complete:
            exchange.fault = {**exchange.fault, "error": overdue(exchange).as_dict()}
        rewrites = (*exchange.rewrites, *rewrites)
        unkept = response.unkept + (len(request.body) if len(request.body) > KEPT_BYTES else 0)
        gone = ending.client_gone
        if unkept:
            session.unkept(
                interaction, unkept, kept=self._record, client_gone=gone, rewrites=rewrites, fault=exchange.fault
            )
        else:
            session.answered(interaction, kept=self._record, client_gone=gone, rewrites=rewrites, fault=exchange.fault)
        if _loses_bytes(request.headers) or _loses_bytes(response.headers):
            session.tally.notes[f"{request.service}: a header that is no UTF-8 lost bytes on its way"] = None
        if request.target.endswith("?"):
            session.tally.notes[f"{request.service}: an empty query (a trailing ?) was lost on its way"] = None
        if response.trailers and not self._record:  # of a recording, sealing tells
            session.tally.notes[without_trailers(interaction)] = None
        if not response.complete:
            self._cut(exchange, ending)

    def _interaction(self, exchange: Exchange, response: Response) -> Interaction:
        request = exchange.request
        path = request.target.partition("?")[0]
        tool = tool_of(self._service, request.method, path, request.headers)
        effect, why = effect_of(self._service, request.method, path, tool)
        return Interaction(
            index=exchange.index,
            request=self._kept(exchange),
            response=response,
            url=self.url(exchange),
            effect=effect,
            effect_why=why,
            tool=tool,
            started=exchange.started - exchange.session.began,
            seconds=time.perf_counter() - exchange.started,
            beside=exchange.beside,
            after=exchange.after,
            stand_in=readable(header(response.headers, STAND_IN_HEADER) or "") or None,
        )

    def _cut(self, exchange: Exchange, ending: Ending) -> None:
        """Say that an answer came to no end, and why."""
        if ending.overdue:
            stop = overdue(exchange)
            exchange.session.stopped(stop.code, stop.message, service=exchange.service.name, exchange=False)
            return
        code, told = _UNENDED if ending.stopped else _CUT
        why = "" if ending.stopped else cut(self._way, ending.cause)
        request = f"{exchange.service.name} {exchange.http.method} {exchange.request.target.partition('?')[0]}"
        exchange.session.failed(code, f"{request}: {told}: {why}" if why else f"{request}: {told}")

    def _kept(self, exchange: Exchange) -> Request:
        """The request as the tape has it: as the service saw it; a body that is too large is left out."""
        request = exchange.request
        headers = tuple([pair for pair in end_to_end(request.headers) if pair[0].lower() not in _NOT_KEPT])
        body = request.body if len(request.body) <= KEPT_BYTES else b""
        return replace(request, headers=self._way.kept(headers), body=body)


def _loses_bytes(headers: Headers) -> bool:
    """Whether aiohttp drops bytes of a header when it sends it."""
    return any(not value.isascii() and readable(value) != value for _, value in headers)
