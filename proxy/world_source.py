"""The source that answers from a world: tools by POST, their list by GET. Nothing of it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs

import orjson
from aiohttp import web
from multidict import CIMultiDict

from proctor.credentials import CREDENTIAL_HEADERS, credentials_of
from proctor.effects import tool_of
from proctor.encoding import decoded
from proctor.errors import WorldFailed
from proctor.interaction import Response, header
from proctor.proxy import answers
from proctor.proxy.seams import Exchange, RawHeaders, decoded_headers
from proctor.proxy.world_trace import WorldTrace
from proctor.service_config import ServiceConfig
from proctor.wire import WORLD_KEY
from proctor.world.openai_tools import openai_tools
from proctor.world.refusal import BusinessError
from proctor.world.session import Answer, WorldSession

_JSON = CIMultiDict({"Content-Type": "application/json"})
_WATCHED = frozenset(name.encode() for name in (*CREDENTIAL_HEADERS, "content-encoding"))
_REMEMBERED = 4096
"""So many different headers."""


class _Refused(Exception):
    """A request that reaches no tool."""

    def __init__(self, error: BusinessError) -> None:
        super().__init__(error.message)
        self.error = error


class _Sender(NamedTuple):
    """Who calls: the identity, and the token that the credential is; each may be empty."""

    caller: str
    token: str


class WorldSource:
    """Answers one service of one session from its world. Calls come one after the other: none waits for anything."""

    def __init__(self, service: ServiceConfig, world: WorldSession, environ: Mapping[str, str]) -> None:
        """`environ` has the credentials of the service's identities, where they are real ones."""
        self._service = service
        self._world = world
        template = service.tools.partition(" ")[2]
        before, _, after = template.partition("{tool}")
        self._list = before.rstrip("/") if not after else ""
        self._callers = {WORLD_KEY + name: name for name in service.identities}
        named = service.identity_variables.items()
        self._callers |= {environ[variable]: name for name, variable in named if environ.get(variable)}
        self._seen: dict[RawHeaders, tuple[_Sender, str | None]] = {}
        """Who calls and how the body is packed, by the headers that say so."""
        self._trace = WorldTrace({name: tool.declared.token for name, tool in world.kind.tools.items()})

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        path, _, query = exchange.target.partition("?")
        tool = tool_of(self._service, exchange.http.method, path)
        try:
            sender, body = self._read(exchange)
            if tool is not None:
                return self._called(exchange, tool, self._world.call(tool, body, *sender))
            listed = orjson.dumps(openai_tools(self._world.kind, self._distractors(exchange, path, query)))
            return self._listed(exchange, listed)
        except _Refused as refused:
            return self._refused(exchange, tool, refused.error)
        except WorldFailed as failed:
            return self._failed(exchange, tool, failed)

    def foretell(self, exchange: Exchange) -> Response | None:
        """See `Foretelling.foretell`."""
        tool = tool_of(self._service, exchange.http.method, exchange.target.partition("?")[0])
        try:
            sender, body = self._read(exchange)
        except _Refused:
            return None
        told = self._world.foretell(tool, body, *sender) if tool is not None else None
        return None if told is None else Response(200, "OK", (("Content-Type", "application/json"),), told)

    def _read(self, exchange: Exchange) -> tuple[_Sender, bytes]:
        """Who calls, and the body as plain bytes. Raises _Refused."""
        watched = tuple([pair for pair in exchange.raw_headers if pair[0].lower() in _WATCHED])
        known = self._seen.get(watched)
        if known is None:
            headers = decoded_headers(watched)
            found = credentials_of(headers)
            own = self._world.tokens()
            caller = self._caller(exchange, [each.value for each in found if each.value not in own])
            token = next((each.value for each in found if each.kind == "token"), "")
            known = _Sender(caller, token), header(headers, "content-encoding")
            if len(self._seen) < _REMEMBERED:
                self._seen[watched] = known
        sender, coding = known
        plain = decoded(exchange.body, coding) if coding else exchange.body
        if plain is None:
            told = "the body cannot be unpacked as its Content-Encoding says"
            raise _Refused(BusinessError("arguments_not_json", told, "send plain JSON", status=400))
        return sender, plain

    def _caller(self, exchange: Exchange, values: list[str]) -> str:
        """The identity of a request's credentials, the world's own tokens aside; empty for none. Raises _Refused where it may be any one's."""
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
        """The answer of a tool."""
        status, body, effect, declared, patch, _ = answer
        changed = tuple([step["path"] for step in patch]) if patch else ()
        self._trace.answered(exchange, tool, status, body, effect, "declared" if declared else "observed", changed)
        return web.Response(status=status, body=body, headers=_JSON)

    def _listed(self, exchange: Exchange, listed: bytes) -> web.StreamResponse:
        self._trace.answered(exchange, None, 200, listed, "read", "method")
        return web.Response(body=listed, headers=_JSON)

    def _refused(self, exchange: Exchange, tool: str | None, error: BusinessError) -> web.StreamResponse:
        body = orjson.dumps(error.body())
        self._trace.answered(exchange, tool, error.status, body, "read", "observed")
        return web.Response(status=error.status, body=body, headers=_JSON)

    def _failed(self, exchange: Exchange, tool: str | None, failure: WorldFailed) -> web.StreamResponse:
        """The answer of a world that is at fault itself: no conduct of the agent's. The session goes on."""
        self._trace.failed(exchange, tool, failure)
        told = {key: value for key, value in failure.as_dict().items() if key != "traceback"}
        return answers.refusal(500, told, self._service)
