"""The source that answers from a world: tools by POST, their list by GET. Nothing of it is recorded."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import orjson
from aiohttp import web
from multidict import CIMultiDict

from proctor.credentials import CREDENTIAL_HEADERS, credentials_of
from proctor.effects import tool_of
from proctor.encoding import decoded
from proctor.errors import WorldFailed
from proctor.interaction import Effect, EffectWhy, header
from proctor.proxy import answers
from proctor.proxy.seams import Exchange, decoded_headers
from proctor.service_config import ServiceConfig
from proctor.trace import body_value, row_line
from proctor.wire import WORLD_KEY
from proctor.world.openai_tools import openai_tools
from proctor.world.refusal import BusinessError
from proctor.world.session import Answer, WorldSession

_JSON = CIMultiDict({"Content-Type": "application/json"})
_WATCHED = frozenset(name.encode() for name in (*CREDENTIAL_HEADERS, "content-encoding"))
_LEARNT = 4096
"""So many different texts are remembered that were looked through for secrets."""


class _Refused(Exception):
    """A request that reaches no tool."""

    def __init__(self, error: BusinessError) -> None:
        super().__init__(error.message)
        self.error = error


class WorldSource:
    """Answers one service of one session from its world. Calls come one after the other: none waits for anything."""

    def __init__(self, service: ServiceConfig, world: WorldSession, environ: Mapping[str, str]) -> None:
        """`environ` has the credentials of the service's identities, where they are real ones."""
        self._service = service
        self._world = world
        self._method, _, template = service.tools.partition(" ")
        before, _, after = template.partition("{tool}")
        self._list = before.rstrip("/") if not after else ""
        self._callers = {WORLD_KEY + name: name for name in service.identities}
        named = service.identity_variables.items()
        self._callers |= {environ[variable]: name for name, variable in named if environ.get(variable)}
        self._learnt: set[bytes] = set()

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        path, _, query = exchange.target.partition("?")
        tool = tool_of(self._service, exchange.http.method, path)
        try:
            caller, body = self._read(exchange)
            if tool is not None:
                answer = self._world.call(tool, body, caller)
                self._learn(exchange, tool, body, answer.body)
                return self._called(exchange, tool, answer)
            listed = orjson.dumps(openai_tools(self._world.kind, self._distractors(exchange, path, query)))
            return self._listed(exchange, listed)
        except _Refused as refused:
            return self._refused(exchange, tool, refused.error)
        except WorldFailed as failed:
            return self._failed(exchange, tool, failed)

    def _read(self, exchange: Exchange) -> tuple[str, bytes]:
        """Who calls, and the body as plain bytes. Raises _Refused."""
        watched = [pair for pair in exchange.raw_headers if pair[0].lower() in _WATCHED]
        body = exchange.body
        caller = ""
        if watched:
            headers = decoded_headers(tuple(watched))
            caller = self._caller(exchange, [each.value for each in credentials_of(headers)])
            plain = decoded(body, header(headers, "content-encoding"))
            if plain is None:
                told = "the body cannot be unpacked as its Content-Encoding says"
                raise _Refused(BusinessError("arguments_not_json", told, "send plain JSON", status=400))
            body = plain
        return caller, body

    def _learn(self, exchange: Exchange, tool: str, asked: bytes, answered: bytes) -> None:
        """Learn what is secret in a call, to keep it out of the trace. A token of the world itself is none."""
        declared = self._world.kind.tools.get(tool)
        for data in (answered, asked):
            if data in self._learnt:
                continue
            if len(self._learnt) < _LEARNT:
                self._learnt.add(data)
            value = body_value((), data)
            if data is asked and declared and isinstance(value, dict):
                value = {name: given for name, given in value.items() if name != declared.declared.token}
            exchange.session.secrets.learn_row(value)

    def _caller(self, exchange: Exchange, values: list[str]) -> str:
        """The identity of a request's credentials; empty for none. Raises _Refused where it may be any one's."""
        known = exchange.session.secrets.known
        for value in values:
            if value not in known and not value.startswith(WORLD_KEY):
                exchange.session.secrets.learn_secret(value)
        found = {self._callers[value] for value in values if value in self._callers}
        if len(found) == 1:
            return found.pop()
        if not values or not self._service.identities:
            return ""
        if len(self._service.identities) == 1:
            return next(iter(self._service.identities))
        told = f"the credential is not that of one of the identities: {', '.join(self._service.identities)}"
        hint = f"send what a variable of an identity holds; by hand: Authorization: Bearer {WORLD_KEY}NAME"
        raise _Refused(BusinessError("credential_unknown", told, hint, status=401))

    def _distractors(self, exchange: Exchange, path: str, query: str) -> int:
        """How many near misses the list is to have. Raises _Refused for what is not a request for the list."""
        method = exchange.http.method
        if path.rstrip("/") != self._list or not self._list:
            told = f"{method} {path} is no tool"
            hint = f"{self._service.tools}, or GET {self._list} for the list"
            raise _Refused(BusinessError("path_unknown", told, hint, status=404))
        if method not in ("GET", "HEAD"):
            raise _Refused(BusinessError("method_not_allowed", f"{path} takes GET, not {method}", status=405))
        given = parse_qs(query).get("distractors", ["0"])[-1]
        if not given.isdecimal() or len(given) > 3:
            told = "distractors is a number from 0 to 999"
            raise _Refused(BusinessError("argument_value", told, "change distractors", "distractors", status=422))
        return int(given)

    def _called(self, exchange: Exchange, tool: str, answer: Answer) -> web.StreamResponse:
        """The answer of a tool, with its row."""
        why: EffectWhy = "declared" if answer.declared else "observed"
        changed = {"changed": [step["path"] for step in answer.patch]} if answer.patch else {}
        self._trace(exchange, tool, answer.status, answer.body, answer.effect, why, changed)
        return web.Response(status=answer.status, body=answer.body, headers=_JSON)

    def _listed(self, exchange: Exchange, listed: bytes) -> web.StreamResponse:
        self._trace(exchange, None, 200, listed, "read", "method", {})
        return web.Response(body=listed, headers=_JSON)

    def _refused(self, exchange: Exchange, tool: str | None, error: BusinessError) -> web.StreamResponse:
        body = orjson.dumps(error.body())
        self._trace(exchange, tool, error.status, body, "read", "observed", {})
        return web.Response(status=error.status, body=body, headers=_JSON)

    def _trace(
        self,
        exchange: Exchange,
        tool: str | None,
        status: int,
        body: bytes,
        effect: Effect,
        why: EffectWhy,
        more: Mapping[str, Any],
    ) -> None:
        """One row, with every known secret replaced, and one more answer in the count."""
        session = exchange.session
        arguments = _as_json(exchange)
        row = b'{"index":%d,"session":"%s","source":"world","started":%.6f,"seconds":%.6f,' % (
            exchange.index,
            session.id.encode(),
            exchange.started - session.began,
            time.perf_counter() - exchange.started,
        )
        facts = {
            "service": exchange.service.name,
            "method": exchange.http.method,
            "target": exchange.target,
            **({"tool": tool} if tool else {}),
            "status": status,
            "effect": effect,
            "effect_why": why,
            **more,
            **({"rewrites": exchange.rewrites} if exchange.rewrites else {}),
        }
        rest = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")
        line = b'%s%s%s,"result":%s}\n' % (row, rest[1:-1], arguments, body)
        session.write_line(line if session.journal is not None else session.secrets.data(line))
        session.tally.acted(exchange.service.name)

    def _failed(self, exchange: Exchange, tool: str | None, failed: WorldFailed) -> web.StreamResponse:
        """The answer of a world that is at fault itself: no conduct of the agent's. The session goes on."""
        session, error = exchange.session, failed.as_dict()
        row = {
            "index": exchange.index,
            "session": session.id,
            "source": "world",
            "started": round(exchange.started - session.began, 6),
            "seconds": round(time.perf_counter() - exchange.started, 6),
            "service": exchange.service.name,
            "method": exchange.http.method,
            "target": exchange.target,
            "tool": tool,
            "arguments": body_value(exchange.headers, exchange.body),
            "status": 500,
            "error": error,
        }
        session.write_row({key: value for key, value in row.items() if value is not None})
        session.failed(failed.code, failed.message, failed.fix, exchange=True, service=exchange.service.name)
        told = {key: value for key, value in error.items() if key != "traceback"}
        return answers.refusal(500, told, self._service)


def _as_json(exchange: Exchange) -> bytes:
    """The member `arguments` of a row; nothing for a request without a body. One line of JSON goes in as it came."""
    body = exchange.body
    if not body:
        return b""
    try:
        orjson.loads(body)
        plain = b"\n" not in body and b"\r" not in body
    except ValueError:
        plain = False
    return b',"arguments":%s' % (body if plain else row_line({"": body_value(exchange.headers, body)})[4:-2])
