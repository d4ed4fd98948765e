"""Empty answers one after the other on one connection: a loop that waits for a body of the first hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import product

import aiohttp
import httpx
import pytest
import requests

from tests.integration.cases.support import exit_status
from tests.integration.proxy.raw import canned, raw_service
from tests.support import Project, services, session

EMPTY: dict[str, tuple[str, bytes]] = {
    "204": ("DELETE", b"HTTP/1.1 204 No Content\r\n\r\n"),
    "304": ("GET", b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n'),
    "304 with a length": ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n"),
    "HEAD": ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"),
    "HEAD without a length": ("HEAD", b"HTTP/1.1 404 Not Found\r\n\r\n"),
    "length 0": ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "no chunks": ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
}
Walk = Callable[[str, Sequence[str]], Awaitable[list[tuple[int, bytes]]]]
"""Takes the service's address and methods; asks `/0`, `/1`, ... on one kept connection."""


async def by_aiohttp(url: str, methods: Sequence[str]) -> list[tuple[int, bytes]]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as http:
        found = []
        for number, method in enumerate(methods):
            async with http.request(method, f"{url}/{number}") as got:
                found.append((got.status, await got.read()))
        return found


async def by_httpx(url: str, methods: Sequence[str]) -> list[tuple[int, bytes]]:
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1), timeout=30) as http:
        answers = [await http.request(method, f"{url}/{number}") for number, method in enumerate(methods)]
    return [(answer.status_code, answer.content) for answer in answers]


async def by_requests(url: str, methods: Sequence[str]) -> list[tuple[int, bytes]]:
    def call() -> list[tuple[int, bytes]]:
        with requests.Session() as http:
            answers = [http.request(method, f"{url}/{n}", timeout=30) for n, method in enumerate(methods)]
        return [(answer.status_code, answer.content) for answer in answers]

    return await asyncio.to_thread(call)


WALKS: dict[str, Walk] = {"aiohttp": by_aiohttp, "httpx": by_httpx, "requests": by_requests}


async def walked(project: Project, walk: Walk, kinds: Sequence[str]) -> None:
    """Record these answers and a full one, replay them, and compare."""
    methods = [*(EMPTY[kind][0] for kind in kinds), "GET"]
    answers = [*(EMPTY[kind][1] for kind in kinds), canned(b"full")]
    expected = [(int(answer.split()[1]), b"full" if answer is answers[-1] else b"") for answer in answers]
    async with raw_service(*answers) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            assert await walk(run.url("desk"), methods) == expected
            assert (await run.close()).sealed
    async with session(project, "t", "replay") as run:
        assert await walk(run.url("desk"), methods) == expected
        assert exit_status(await run.close()) == 0


@pytest.mark.parametrize("kinds", list(product(EMPTY, EMPTY)), ids=" then ".join)
async def test_any_two_are_followed_by_a_full_one(project: Project, kinds: tuple[str, str]) -> None:
    await walked(project, by_aiohttp, kinds)


@pytest.mark.parametrize("client", WALKS)
async def test_all_of_them_twice_over(project: Project, client: str) -> None:
    await walked(project, WALKS[client], [kind for kind in EMPTY for _ in range(2)])
