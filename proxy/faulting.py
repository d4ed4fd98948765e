"""The faults of one session: an exchange that meets one is answered by it in its source's stead, and never recorded.

Only `slow` lets the source answer. For every other kind no real service is asked, no recording is used up, and nothing
is written: what a tape would have answered is looked at only for the shape of an answer that is then spoilt.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from aiohttp import web

from proctor.config import Config
from proctor.effects import effect_of, tool_of
from proctor.errors import UsageError
from proctor.fault_plan import Fault, FaultPlanSpec
from proctor.fault_schedule import Call, Firing, Schedule, calls_on, drawn, resolved
from proctor.fault_text import fault_of_header
from proctor.interaction import Response
from proctor.proxy import answers
from proctor.proxy.fault_bodies import SPOILT, Spoilt, spoilt
from proctor.proxy.fault_made import error_answer, whole_answer, with_mark
from proctor.proxy.guarding import Stop, overdue
from proctor.proxy.hop import for_client
from proctor.proxy.playback import Tape
from proctor.proxy.playing import play
from proctor.proxy.receiving import abort
from proctor.proxy.seams import Exchange, Foretelling
from proctor.stamp import FAULTS
from proctor.trace import FaultFired, FaultUnfired, body_value
from proctor.wire import FAULT_HEADER, KEPT, SessionSpec

_LOOKING_SECONDS = 0.05
"""How often it is looked whether a client that waits in vain has left: the HTTP library does not tell."""
_WAITING = frozenset({"slow", "timeout"})
"""Kinds that take time."""
_RESET_AT_ONCE = struct.pack("ii", 1, 0)


class Faulting:
    """See `FaultPlan`. Without a plan it only sees to it that no request asks for a fault unheard."""

    def __init__(self, plan: FaultPlanSpec | None = None, tape: Sequence[Call] = (), *, looks: bool = True) -> None:
        """`tape` has the calls of the session's tape; with `looks`, spoilt answers are made from those it holds.

        Raises UsageError for a position that means no call.
        """
        self._plan = plan
        self._looks = looks
        self._schedule = Schedule(resolved(plan, tape) if plan else ())

    async def answer(self, exchange: Exchange) -> web.StreamResponse | None:
        """See `FaultPlan.answer`."""
        try:
            asked = self._asked_for(exchange) if FAULT_HEADER in exchange.http.headers else None
        except UsageError as error:
            exchange.session.error_row(exchange, 400, error.as_dict())
            return answers.refusal(400, error.as_dict(), exchange.service.config)
        if self._plan is None:
            return None
        planned = self._schedule.next(_call_of(exchange), taken=asked is not None)
        firing = asked or planned
        if firing is None:
            return None
        return await _Fault(exchange, firing, self._plan.seed, looks=self._looks).answer()

    def unfired(self) -> Iterable[FaultUnfired]:
        """See `FaultPlan.unfired`."""
        for planned, fired, calls in self._schedule.unfired():
            yield FaultUnfired(
                planned=planned.fault.told, first=planned.first, times=planned.fault.times, fired=fired, calls=calls
            )

    def _asked_for(self, exchange: Exchange) -> Firing:
        """What the header of a request asks for; it goes no further. Raises UsageError where that cannot be."""
        value = exchange.http.headers[FAULT_HEADER]
        name = FAULT_HEADER.encode()
        exchange.raw_headers = tuple(pair for pair in exchange.raw_headers if pair[0].lower() != name)
        if self._plan is None or not self._plan.by_header:
            told = f"a request asks for the fault {value!r}, and its session does not let requests ask"
            fix = 'let it: --faults header, or "by_header": true in the plan; or leave the header out'
            raise UsageError("fault_header_refused", told, fix)
        fault = fault_of_header(value, exchange.service.name)
        check_recorded(fault, exchange.session.spec.modes.values())
        return Firing(fault, f"{FAULT_HEADER}: {value}", 1)


def faults_of(spec: SessionSpec, tape: Tape | None, config: Config) -> Faulting:
    """The faults of a session; raises UsageError for a position that means no call.

    A tape that was recorded under faults is not looked at: the same plan then gives the bytes that it gave there.
    """
    if spec.faults is None:
        return Faulting()
    calls = calls_on(tape.cassette.interactions, config.services) if tape else ()
    return Faulting(spec.faults, calls, looks=tape is None or not tape.cassette.stamp.get(FAULTS))


def left_out(spec: SessionSpec, tape: Tape | None) -> str:
    """What to say of a replay without the faults that the tape was recorded under; empty where there is nothing."""
    recorded = tape.cassette.stamp.get(FAULTS) if tape and spec.faults is None else None
    if not recorded:
        return ""
    return f"the tape was recorded under faults, and this replay has none: --faults '{', '.join(recorded)}'"


def check_recorded(fault: Fault, modes: Iterable[str]) -> None:
    """Raise UsageError for a fault that would let a source answer in a session that writes a tape."""
    if fault.kind == "slow" and not KEPT.isdisjoint(modes):
        told = f"fault {fault.told}: a slow answer is the real one, and no faulted exchange is kept on a tape"
        raise UsageError("fault_slow_recorded", told, "record without it, then replay with it")


class _Fault:
    """One fault on its way."""

    def __init__(self, exchange: Exchange, firing: Firing, seed: int, *, looks: bool) -> None:
        self._exchange = exchange
        self._fault, self._firing = firing.fault, firing
        service = exchange.service.config
        self._shape = service.preset_facts.error_shape if service.preset_facts else "plain"
        self._draw = partial(_drawn, seed, self._fault.kind, firing.planned, firing.call)
        self._looks = looks and KEPT.isdisjoint(exchange.session.spec.modes.values())
        self._seconds = 0.0
        self._begun = time.perf_counter()

    async def answer(self) -> web.StreamResponse | None:
        """The fault's answer; None after the wait of a slow one, whose source answers."""
        kind = self._fault.kind
        if kind in _WAITING:
            with self._exchange.session.held.holding():
                await self._wait(while_there=kind == "timeout")
            if self._overdue():
                return self._too_long(overdue(self._exchange))
        if kind == "slow":
            self._exchange.fault = {"fault": kind, "fault_seconds": round(self._seconds, 6)}
            self._tell(answered=False)
            return None
        if kind == "timeout":
            self._row(None)
            return abort(self._exchange)
        if kind == "reset":
            self._row(None)
            return _reset(self._exchange)
        response = with_mark(self._spoilt(cast(Spoilt, kind)) if kind in SPOILT else self._error(), kind)
        if self._exchange.http.method == "HEAD":
            response = replace(response, body=b"")
        self._row(response)
        return await play(self._exchange.http, for_client(response.headers), response, 0.0, None)

    def _overdue(self) -> bool:
        """Whether the wait was ended by the limit of a tool call."""
        left = self._exchange.left()
        return left is not None and left <= 0 and self._seconds < self._fault.lasting

    def _too_long(self, stop: Stop) -> web.StreamResponse:
        """The guard's answer to a call that the fault kept waiting; the fault has fired all the same."""
        exchange = self._exchange
        self._row(None, stop)
        exchange.session.stopped(
            stop.code, stop.message, stop.fix, service=exchange.service.name, exchange=False, spoils=False
        )
        return answers.refusal(stop.status, stop.as_dict(), exchange.service.config)

    def _error(self) -> Response:
        return error_answer(self._shape, self._fault)

    def _spoilt(self, kind: Spoilt) -> Response:
        """From what the tape holds for this request, else from nothing."""
        source = self._exchange.service.source
        whole = source.foretell(self._exchange) if self._looks and isinstance(source, Foretelling) else None
        made = spoilt(kind, whole, self._draw) if whole is not None and whole.body else None
        if made is None:
            made = spoilt(kind, whole_answer(self._shape, self._exchange.request), self._draw)
        assert made is not None  # what is made from nothing is in no coding
        return made

    async def _wait(self, *, while_there: bool = False) -> None:
        """Let the fault's seconds pass, or until the client leaves, the session closes, or the call took too long."""
        closing, until = self._exchange.session.closing, self._begun + self._fault.lasting
        if self._exchange.limit is not None:
            until = min(until, self._exchange.started + self._exchange.limit)
        while (left := until - time.perf_counter()) > 0 and not closing.is_set():
            if while_there and self._exchange.http.transport is None:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _LOOKING_SECONDS) if while_there else left):
                    await closing.wait()
        self._seconds = time.perf_counter() - self._begun

    def _row(self, response: Response | None, stop: Stop | None = None) -> None:
        """The trace row; `response` is None where the agent got none, or `stop`."""
        exchange, request = self._exchange, self._exchange.session.secrets.learnt_request(self._exchange.request)
        path = request.target.partition("?")[0]
        tool = tool_of(exchange.service.config, request.method, path, request.headers)
        effect, why = effect_of(exchange.service.config, request.method, path, tool)
        row: dict[str, Any] = {
            **exchange.row_head("fault", request),
            "tool": tool,
            "arguments": body_value(request.headers, request.body),
            "result": body_value(response.headers, response.body) if response else None,
            "status": response.status if response else stop.status if stop else None,
            "error": stop.as_dict() if stop else None,
            "effect": effect,
            "effect_why": why,
            "fault": self._fault.kind,
            "fault_seconds": round(self._seconds, 6),
            "cut": (not response.complete if response else False) or None,
            "rewrites": exchange.rewrites or None,
            "client_gone": exchange.http.transport is None or None,
        }
        exchange.session.write_row({key: value for key, value in row.items() if value is not None})
        self._tell(answered=True)

    def _tell(self, *, answered: bool) -> None:
        call = _call_of(self._exchange)
        fired = FaultFired(
            planned=self._firing.planned,
            kind=self._fault.kind,
            service=call.service,
            name=call.name,
            call=self._firing.call,
            index=self._exchange.index,
            seconds=round(self._seconds, 6),
        )
        self._exchange.session.tally.faulted(fired, answered=answered)


def _call_of(exchange: Exchange) -> Call:
    service, method, path = exchange.service, exchange.http.method, exchange.target.partition("?")[0]
    tool = tool_of(service.config, method, path, exchange.headers)
    return Call(service.name, tool, method, path, llm=service.config.preset is not None)


def _drawn(seed: int, kind: str, planned: str, call: int, count: int) -> int:
    return drawn(count, seed, kind, planned, call)


def _reset(exchange: Exchange) -> web.StreamResponse:
    """End the connection by a reset: without lingering, the system sends one in place of a good end."""
    transport = exchange.http.transport
    connection = transport.get_extra_info("socket") if transport is not None else None
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_ONCE)
    return abort(exchange)
