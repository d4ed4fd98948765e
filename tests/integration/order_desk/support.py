"""Real servers, a recording hop and the agent as a subprocess, for the order desk's tests."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web

from examples.order_desk import server
from proctor.world.session import WorldSession
from tests.support import serving_app

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "order_desk"


@asynccontextmanager
async def staging(variable: str) -> AsyncIterator[dict[str, str]]:
    """A fresh order desk while it runs; gives the variable that names its address."""
    async with serving_app(server.create_app()) as url:
        yield {variable: url}


@dataclass(frozen=True)
class Request:
    """A request as it came, without the Host header, which names the port."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    content_type: str = "application/json"


@dataclass
class Hop:
    """Stands between a client and a server: keeps requests and answers, or gives answers by order."""

    upstream: str | None = None
    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._handle)
        return app

    async def _handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = tuple((k, v) for k, v in request.headers.items() if k.lower() != "host")
        self.requests.append(Request(request.method, request.raw_path, headers, body))
        if self.upstream is not None:
            self.answers.append(await self._forward(request, body))
            answer = self.answers[-1]
        elif len(self.requests) <= len(self.answers):
            answer = self.answers[len(self.requests) - 1]
        else:
            answer = Answer(400, b'{"error": {"message": "no answer left", "type": "test"}}')
        return web.Response(status=answer.status, body=answer.body, content_type=answer.content_type)

    async def _forward(self, request: web.Request, body: bytes) -> Answer:
        kept = {k: v for k, v in request.headers.items() if k.lower() in ("authorization", "content-type")}
        url = f"{self.upstream}{request.raw_path}"
        async with (
            ClientSession() as session,
            session.request(request.method, url, data=body, headers=kept) as answer,
        ):
            return Answer(answer.status, await answer.read(), answer.content_type)


@dataclass(frozen=True)
class Desk:
    """Calls tools as a plain client would."""

    url: str
    session: ClientSession
    world: WorldSession

    def order(self, order_id: str) -> Any:
        """What the desk has of an order."""
        return self.world.state()["orders"][order_id]

    async def call(self, tool: str, arguments: Any, token: str | None = None) -> tuple[int, dict[str, Any]]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        url = f"{self.url}/tools/{tool}"
        async with self.session.post(url, data=json.dumps(arguments), headers=headers) as answer:
            return answer.status, await answer.json()

    async def token(self, customer_id: str) -> str:
        status, body = await self.call("get_token", {"customer_id": customer_id})
        assert status == 200
        return str(body["token"])


@dataclass(frozen=True)
class Finished:
    """A command that ended: its exit code and what it printed."""

    code: int | None
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


async def run_agent(variables: Mapping[str, str], *arguments: str) -> Finished:
    """Runs agent.py by its path, with these variables and no others that steer it."""
    return await run([str(EXAMPLE / "agent.py"), *arguments], variables)


async def run(arguments: Sequence[str], variables: Mapping[str, str]) -> Finished:
    """Runs `python ARGUMENTS` to its end, with a clean environment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONUTF8": "1", **variables},
        cwd=ROOT,
    )
    out, err = await process.communicate()
    return Finished(process.returncode, out.decode(), err.decode())


def agent_variables(orders: str, llm: str) -> dict[str, str]:
    return {"ORDERS_URL": orders, "OPENAI_BASE_URL": f"{llm}/v1", "OPENAI_API_KEY": "sk-any"}


def spoken(*calls: tuple[str, str], text: str | None = None) -> Answer:
    """A scripted model answer: tool calls as (name, arguments text), or a text."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Answer(200, json.dumps(body).encode())
