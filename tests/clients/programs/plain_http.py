"""A tool loop over chat completions without any SDK: `plain_http.py httpx|requests|aiohttp|urllib|curl`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from desk import MAX_ROUNDS, SYSTEM, TURNS, Desk, post_with_urllib, schemas

Post = tuple[str, dict[str, str], bytes]
PostAll = Callable[[Sequence[Post]], Sequence[str]]


def talk(post_all: PostAll) -> None:
    """The whole conversation; `post_all` sends POSTs at the same time and gives their texts, or raises."""
    desk = Desk()
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in TURNS:
        messages.append({"role": "user", "content": turn})
        print(take_turn(post_all, desk, messages))
    desk.report()


def take_turn(post_all: PostAll, desk: Desk, messages: list[Any]) -> str:
    for _ in range(MAX_ROUNDS):
        [text] = post_all([model_request(messages)])
        message = json.loads(text)["choices"][0]["message"]
        messages.append({key: message[key] for key in ("role", "content", "tool_calls") if key in message})
        calls = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message.get("tool_calls", [])]
        if not calls:
            return message["content"]
        texts = post_all([desk.request(*call) for call in calls])
        for asked, call, told in zip(message["tool_calls"], calls, texts, strict=True):
            desk.answered(*call, told)
            messages.append({"role": "tool", "tool_call_id": asked["id"], "content": told})
    raise RuntimeError("no end")


def model_request(messages: list[Any]) -> Post:
    tools = [{"type": "function", "function": schema} for schema in schemas()]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    body = json.dumps({"model": "gpt-4.1-mini", "messages": messages, "tools": tools}).encode()
    return f"{os.environ['OPENAI_BASE_URL']}/chat/completions", headers, body


def in_threads(post: Callable[[str, dict[str, str], bytes], str]) -> PostAll:
    def post_all(requests: Sequence[Post]) -> Sequence[str]:
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda request: post(*request), requests))

    return post_all


def with_httpx() -> None:
    import httpx

    with httpx.Client() as client:

        def post(url: str, headers: dict[str, str], body: bytes) -> str:
            return client.post(url, headers=headers, content=body).raise_for_status().text

        talk(in_threads(post))


def with_requests() -> None:
    import requests

    with requests.Session() as session:

        def post(url: str, headers: dict[str, str], body: bytes) -> str:
            answer = session.post(url, headers=headers, data=body)
            answer.raise_for_status()
            return answer.text

        talk(in_threads(post))


def with_aiohttp() -> None:
    import aiohttp

    with asyncio.Runner() as runner:

        async def open_session() -> aiohttp.ClientSession:
            return aiohttp.ClientSession(raise_for_status=True)

        session = runner.run(open_session())

        async def post(url: str, headers: dict[str, str], body: bytes) -> str:
            async with session.post(url, headers=headers, data=body) as answer:
                return await answer.text()

        async def post_all(requests: Sequence[Post]) -> Sequence[str]:
            return await asyncio.gather(*(post(*request) for request in requests))

        try:
            talk(lambda requests: runner.run(post_all(requests)))
        finally:
            runner.run(session.close())


def with_urllib() -> None:
    talk(in_threads(post_with_urllib))


def with_curl() -> None:
    def post(url: str, headers: dict[str, str], body: bytes) -> str:
        shown = [word for name, value in headers.items() for word in ("--header", f"{name}: {value}")]
        command = ["curl", "--silent", "--show-error", "--fail-with-body", *shown, "--data-binary", "@-", url]
        done = subprocess.run(command, input=body, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{done.stderr.decode().strip()}\n{done.stdout.decode()}")
        return done.stdout.decode()

    talk(in_threads(post))


if __name__ == "__main__":
    {
        "httpx": with_httpx,
        "requests": with_requests,
        "aiohttp": with_aiohttp,
        "urllib": with_urllib,
        "curl": with_curl,
    }[sys.argv[1]]()
