"""The tools of a project's worlds, as a chat offers them to its model and calls them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import quote

import aiohttp

from proctor.agents.contract import AgentFailed

TOOL_SECONDS = 30.0
"""For one call of a tool; then the model is told that there was no answer."""
_TOKENS = ("token", "access_token")
_FINE = range(200, 300)


@dataclass(frozen=True)
class ToolService:
    """A service that lists its tools, at its address in the session."""

    name: str
    address: str
    template: str
    """`POST /tools/{tool}`. The list is at the path above that, as a world has it."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """By identity of the service: what it is known by."""

    def key_for(self, account: str, audience: str) -> str:
        """The key of the identity that has the account's name, else the audience's, else of the only one."""
        only = next(iter(self.keys.values())) if len(self.keys) == 1 else ""
        return self.keys.get(account) or self.keys.get(audience) or only


@dataclass
class _Open:
    """A service within one conversation. `key` is the credential of each call; empty for none."""

    service: ToolService
    key: str
    takes_token: bool

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


class ChatTools:
    """The tools of all services of one conversation. Nothing that a model asks for raises: it is told what was wrong.

    A service with identities gets one's key. Of any other, what a tool answered as `token` or `access_token` goes with
    all that follows.
    """

    def __init__(self, http: aiohttp.ClientSession, services: Sequence[ToolService], account: str, audience: str):
        """`account` and `audience` are for whom the agent acts."""
        self._http = http
        self._services = [_Open(each, each.key_for(account, audience), not each.keys) for each in services]
        self._by_tool: dict[str, _Open] = {}
        self.listed: tuple[Mapping[str, Any], ...] = ()
        """As OpenAI's API takes tools; filled by `read`."""

    async def read(self) -> None:
        """Get the lists. Raises AgentFailed (`agent_unstartable`) where there is none, or two have a tool of a name."""
        listed: list[Mapping[str, Any]] = []
        for opened in self._services:
            for tool in await self._list(opened):
                name = tool["function"]["name"]
                if other := self._by_tool.get(name):
                    told = f"both {other.service.name} and {opened.service.name} have a tool {name}"
                    raise AgentFailed("agent_unstartable", f"{told}: a model could not say which it means")
                self._by_tool[name] = opened
                listed.append(tool)
        self.listed = tuple(listed)

    async def call(self, name: str, arguments: str) -> str:
        """What the model gets to read: the answer as it came or, when it is not 2xx, with its status."""
        opened = self._by_tool.get(name)
        if opened is None:
            return _refusal("tool_unknown", f"There is no tool {name}.")
        try:
            given = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return _refusal("arguments_not_json", "The arguments are no JSON.")
        if not isinstance(given, dict):
            return _refusal("arguments_not_object", "The arguments must be a JSON object.")
        method, _, path = opened.service.template.partition(" ")
        url = opened.service.address + path.replace("{tool}", quote(name, safe=""))
        try:
            status, text = await self._send(opened, method, url, json.dumps(given).encode())
        except (aiohttp.ClientError, TimeoutError):
            return _refusal("no_answer", "The tool gave no answer.")
        result = _decoded(text)
        if status not in _FINE:
            return json.dumps({"status": status, "body": result}, ensure_ascii=False)
        if opened.takes_token and isinstance(result, dict):
            tokens = (result.get(key) for key in _TOKENS)
            opened.key = next((token for token in tokens if token and isinstance(token, str)), opened.key)
        return text

    async def _list(self, opened: _Open) -> list[dict[str, Any]]:
        service = opened.service
        before, _, after = service.template.partition(" ")[2].partition("{tool}")
        path = before.rstrip("/")

        def refuse(why: str) -> NoReturn:
            told = f"{service.name} gives no list of its tools: {why}"
            raise AgentFailed("agent_unstartable", told)

        if after or not path:
            refuse(f'"{service.template}" says nothing of where it would be')
        try:
            status, text = await self._send(opened, "GET", service.address + path, None)
        except (aiohttp.ClientError, TimeoutError) as error:
            refuse(f"GET {path}: {error or type(error).__name__}")
        listed = _decoded(text)
        if status not in _FINE:
            refuse(f"GET {path} answered {status}")
        if not isinstance(listed, list) or not all(map(_is_tool, listed)):
            refuse(f"what GET {path} answered is not as OpenAI's API takes tools")
        return listed

    async def _send(self, opened: _Open, method: str, url: str, body: bytes | None) -> tuple[int, str]:
        headers = opened.headers() if body is None else {**opened.headers(), "Content-Type": "application/json"}
        timeout = aiohttp.ClientTimeout(total=TOOL_SECONDS)
        async with self._http.request(method, url, data=body, headers=headers, timeout=timeout) as answer:
            return answer.status, (await answer.read()).decode("utf-8", "replace")


def _is_tool(listed: Any) -> bool:
    function = listed.get("function") if isinstance(listed, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _decoded(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _refusal(code: str, message: str) -> str:
    return json.dumps({"error": code, "message": message}, ensure_ascii=False)
