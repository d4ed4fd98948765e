"""The guard of one session: when its agent is answered an error in place of what it asked, and when it is cut off.

`Watch` decides, and knows only calls; `Guarding` does what it says to exchanges.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, NamedTuple

from aiohttp import web

from proctor.checks.repeats import FINE
from proctor.effects import effect_of, tool_of
from proctor.matching.values import canonical
from proctor.proxy import answers
from proctor.proxy.seams import Exchange, decoded_headers
from proctor.summary import CUTS
from proctor.trace import body_value
from proctor.wire import Cut, Guard

_CUT_STATUS = 429
_HINT_STATUS = 422
"""The clients of the SDKs do not retry it."""
_LATE_STATUS = 504


class Stop(NamedTuple):
    """An error that the agent is answered, with the HTTP status of that."""

    status: int
    code: str
    message: str
    fix: str

    def as_dict(self) -> dict[str, str]:
        """See `ProctorError.as_dict`."""
        return {"code": self.code, "message": self.message, "fix": self.fix}


class Called(NamedTuple):
    """A call of a tool: what makes two of them the same, and what a person calls it."""

    same: Hashable
    told: str


class Watch:
    """Counts the calls of one run, and says at which of them its agent is stopped. Pure."""

    def __init__(self, guard: Guard) -> None:
        """Nothing has been called yet."""
        self._guard = guard
        self._steps = 0
        self._made: dict[Hashable, int] = {}
        self._hinted = False
        self._end: Stop | None = None

    def turn(self) -> None:
        """The user says something new: what was called before may be called again for it."""
        self._made.clear()

    def next(self, called: Called | None) -> Stop | None:
        """Count one exchange; `called` is the tool that it calls, if any. None lets it go on."""
        if self._end is not None:
            return self._end
        self._steps += 1
        most = self._guard.steps
        if most is not None and self._steps > most:
            self._end = Stop(_CUT_STATUS, "step_limit", f"the agent made {most} calls, its limit; it was cut off", "")
            return self._end
        if called is None or self._guard.on_loop is None:
            return None
        times = self._made[called.same] = self._made.get(called.same, 0) + 1
        return self._looped(called.told, times) if times > FINE else None

    def _looped(self, tool: str, times: int) -> Stop:
        if self._guard.on_loop == "hint" and not self._hinted:
            self._hinted = True
            told = f"{tool} was called {FINE} times with the same arguments, and its answer will not change"
            fix = "change the arguments, do something else, or tell the user"
            return Stop(_HINT_STATUS, "loop_hint", told, fix)
        told = f"{tool} was called {times} times with the same arguments, {FINE} are fine; the agent was cut off"
        self._end = Stop(_CUT_STATUS, "loop_stopped", told, "")
        return self._end


class Guarding:
    """A session's guard at work."""

    def __init__(self, guard: Guard | None) -> None:
        """Without a guard nothing is ever stopped."""
        self._watch = Watch(guard) if guard is not None else None
        self._loops = guard is not None and guard.on_loop is not None
        self._tool_seconds = guard.tool_seconds if guard is not None else None
        self._over = asyncio.Event()
        self._why: Cut | None = None

    def turn(self) -> None:
        """See `Watch.turn`."""
        if self._watch is not None:
            self._watch.turn()

    async def cut(self) -> Cut:
        """Wait until the agent is cut off; tells why."""
        await self._over.wait()
        assert self._why is not None
        return self._why

    def stopped(self, exchange: Exchange) -> web.StreamResponse | None:
        """Count an exchange. The answer to one that goes no further, which is traced; None for any other."""
        if self._watch is None:
            return None
        if exchange.service.config.preset is None:
            exchange.limit = self._tool_seconds
        stop = self._watch.next(_called(exchange) if self._loops else None)
        if stop is None:
            return None
        if self._why is None and stop.code in CUTS:
            self._why = CUTS[stop.code]
            self._over.set()
        return refused(exchange, stop)


def refused(exchange: Exchange, stop: Stop, **more: Any) -> web.StreamResponse:
    """Trace and count an exchange that is answered by the guard; gives the answer. `more` are fields of its row."""
    session, request = exchange.session, exchange.request
    path = request.target.partition("?")[0]
    tool = tool_of(exchange.service.config, request.method, path, request.headers)
    effect, why = effect_of(exchange.service.config, request.method, path, tool)
    row = {
        **exchange.row_head("refused", request),
        "tool": tool,
        "arguments": body_value(request.headers, request.body),
        "effect": effect,
        "effect_why": why,
        "rewrites": exchange.rewrites or None,
        "status": stop.status,
        "error": stop.as_dict(),
        **exchange.fault,
        **more,
    }
    session.write_row({key: value for key, value in row.items() if value is not None})
    session.stopped(stop.code, stop.message, stop.fix, service=request.service)
    return answers.refusal(stop.status, stop.as_dict(), exchange.service.config)


def overdue(exchange: Exchange) -> Stop:
    """The error of a tool call that took too long."""
    method, path = exchange.http.method, exchange.target.partition("?")[0]
    tool = tool_of(exchange.service.config, method, path, exchange.headers) or f"{method} {path}"
    told = f"{exchange.service.name} {tool} gave no whole answer within {exchange.limit:g} s, the limit of a tool call"
    return Stop(_LATE_STATUS, "tool_timeout", told, "")


def _called(exchange: Exchange) -> Called | None:
    """The tool that an exchange calls; None for a model, and for what names no tool.

    The exchange's own headers are not looked at yet: others may still leave out some of them.
    """
    config = exchange.service.config
    if config.preset is not None:
        return None
    path, _, query = exchange.target.partition("?")
    headers = decoded_headers(exchange.raw_headers)
    tool = tool_of(config, exchange.http.method, path, headers)
    if tool is None:
        return None
    name = exchange.service.name
    return Called((name, tool, query, canonical(body_value(headers, exchange.body))), f"{name} {tool}")
