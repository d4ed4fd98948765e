"""A small chat model, the ways in which a client can name its session, and real clients that use them."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import httpx
import requests
from aiohttp import web
from openai import AsyncOpenAI, OpenAI

from proctor.wire import SESSION_HEADER, CarrierName, SessionInfo
from tests.support import clean_environment

REAL_KEY = "sk-the-real-key-of-staging-4711"
PATH = "/chat/completions"
TOML = '[services.llm]\npreset = "openai"\nurl = "{url}"\n'


@dataclass
class Model:
    """Answers no two requests alike, and notes what came. With `at_once`, none is answered before so many are there."""

    at_once: int = 1
    seen: list[Mapping[str, str]] = field(default_factory=list)
    _barrier: asyncio.Barrier = field(init=False)

    def __post_init__(self) -> None:
        self._barrier = asyncio.Barrier(self.at_once)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One chat completion."""
        self.seen.append(request.headers)
        number = len(self.seen)
        await request.read()
        await self._barrier.wait()
        message = {"role": "assistant", "content": f"This is answer {number}."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response(
            {"id": f"c{number}", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        )


@dataclass(frozen=True)
class Way:
    """How a client is pointed at its session: the address of the model, its key, headers beside."""

    url: str
    key: str
    headers: dict[str, str]

    @property
    def sent(self) -> dict[str, str]:
        """Every header of a client that has no notion of keys."""
        return {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **self.headers}


def way(carrier: CarrierName, info: SessionInfo, key: str = REAL_KEY, service: str = "llm") -> Way:
    """As the session's own information tells it."""
    base = info.url if carrier == "path" else info.current_url
    headers = {SESSION_HEADER: info.session} if carrier == "header" else {}
    return Way(f"{base}/{service}", info.key if carrier == "key" else key, headers)


def body(messages: list[dict[str, str]]) -> dict[str, Any]:
    return {"model": "m", "messages": messages}


def content(answer: Any) -> str:
    """What the model said; an answer of the proxy's own fails the test with its words."""
    assert "choices" in answer, answer
    said: str = answer["choices"][0]["message"]["content"]
    return said


async def with_openai(way: Way, messages: list[dict[str, str]]) -> str:
    """The SDK, as an agent uses it."""
    async with AsyncOpenAI(base_url=way.url, api_key=way.key, default_headers=way.headers, max_retries=0) as llm:
        return content((await llm.chat.completions.create(**body(messages))).to_dict())


async def with_openai_sync(way: Way, messages: list[dict[str, str]]) -> str:
    """The same SDK without asyncio."""

    def ask() -> str:
        with OpenAI(base_url=way.url, api_key=way.key, default_headers=way.headers, max_retries=0) as llm:
            return content(llm.chat.completions.create(**body(messages)).to_dict())

    return await asyncio.to_thread(ask)


async def with_httpx(way: Way, messages: list[dict[str, str]]) -> str:
    """httpx."""
    async with httpx.AsyncClient() as client:
        return content((await client.post(way.url + PATH, json=body(messages), headers=way.sent)).json())


async def with_requests(way: Way, messages: list[dict[str, str]]) -> str:
    """requests."""
    asked = await asyncio.to_thread(requests.post, way.url + PATH, json=body(messages), headers=way.sent, timeout=60)
    return content(asked.json())


async def with_aiohttp(way: Way, messages: list[dict[str, str]]) -> str:
    """aiohttp."""
    async with (
        aiohttp.ClientSession() as client,
        client.post(way.url + PATH, json=body(messages), headers=way.sent) as answer,
    ):
        return content(await answer.json())


async def with_urllib(way: Way, messages: list[dict[str, str]]) -> str:
    """urllib."""

    def ask() -> str:
        request = urllib.request.Request(way.url + PATH, json.dumps(body(messages)).encode(), way.sent)
        with urllib.request.urlopen(request) as answer:
            return content(json.load(answer))

    return await asyncio.to_thread(ask)


async def with_curl(way: Way, messages: list[dict[str, str]]) -> str:
    """curl."""
    headers = [part for name, value in way.sent.items() for part in ("-H", f"{name}: {value}")]
    process = await asyncio.create_subprocess_exec(
        *("curl", "-sS", *headers, "--data", json.dumps(body(messages)), way.url + PATH),
        env=clean_environment(),
        stdout=asyncio.subprocess.PIPE,
    )
    return content(json.loads((await process.communicate())[0]))


CLIENTS: dict[str, Callable[[Way, list[dict[str, str]]], Awaitable[str]]] = {
    "openai": with_openai,
    "openai sync": with_openai_sync,
    "httpx": with_httpx,
    "requests": with_requests,
    "aiohttp": with_aiohttp,
    "urllib": with_urllib,
    "curl": with_curl,
}
