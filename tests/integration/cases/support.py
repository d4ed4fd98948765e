"""Record what a service of the test's own says, stop it, replay: what the tests of known failures share."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import httpx
import requests
from aiohttp import web

from proctor.summary import ending
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import MISS_HEADER
from tests.integration.proxy.raw import Answer, request, send
from tests.support import Handler, Project, Running, services, serving, session

JSON = "application/json"


@dataclass(frozen=True)
class Asked:
    """A request, as it goes on the wire."""

    target: str = "/"
    body: bytes = b""
    media: str = JSON
    method: str = ""
    """By default POST where there is a body, else GET."""
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """What a replay gave."""

    numbers: list[int | None]
    """For each request the number of the recorded one whose answer it got, from 0; None for a miss."""
    summary: SessionSummary
    rows: list[TraceRow]
    answers: list[Answer]

    @property
    def status(self) -> int:
        """The exit status of `proctor replay`, had an agent that ended well asked this."""
        return exit_status(self.summary)

    @property
    def differences(self) -> list[str]:
        """What each miss says that differs from the nearest recording."""
        return [line for miss in self.summary.misses for line in miss.diff]


def told(value: object) -> bytes:
    """JSON as a client sends it."""
    return json.dumps(value, ensure_ascii=False).encode()


def exit_status(summary: SessionSummary) -> int:
    """The exit status of `proctor replay` after such a session, where the command itself ended with 0."""
    return ending(summary, 0).status


@dataclass
class Numbering:
    """A service whose answers differ: each is `{"number": n}`, from 0."""

    reached: list[str] = field(default_factory=list)

    async def answer(self, request_: web.Request) -> web.StreamResponse:
        """Handle a request."""
        await request_.read()
        self.reached.append(request_.path)
        return web.json_response({"number": len(self.reached) - 1})


async def ask(run: Running, asked: Asked, service: str = "desk") -> Answer:
    """Send a request byte for byte, on a connection of its own."""
    media = (f"Content-Type: {asked.media}",) if asked.body else ()
    method = asked.method or ("POST" if asked.body else "GET")
    return await send(run, request(run, service, asked.target, *asked.headers, *media, method=method, body=asked.body))


async def replayed(
    project: Project, recorded: Sequence[Asked], asked: Sequence[Asked], rules: str = "", service: str = "desk"
) -> Replayed:
    """Record some requests, each with an answer of its own, stop the service, ask in replay.

    `rules` is what `proctor.toml` says beyond the service's URL.
    """
    async with recording(project, Numbering().answer, rules, service) as run:
        for each in recorded:
            await ask(run, each, service)
    return await replay(project, asked, service)


async def replay(project: Project, asked: Sequence[Asked], service: str = "desk", **spec: Any) -> Replayed:
    """Ask the tape of the project."""
    async with session(project, "t", "replay", **spec) as run:
        answers = [await ask(run, each, service) for each in asked]
        summary = await run.close()
    return Replayed([number(answer) for answer in answers], summary, project.trace(summary.session), answers)


def number(answer: Answer) -> int | None:
    """Which recording answered; None for a miss, which nothing else may look like."""
    if answer.status == 422:
        assert answer.values(MISS_HEADER), "a 422 that does not say that it is a miss"
        return None
    found: int = json.loads(answer.body)["number"]
    return found


@asynccontextmanager
async def recording(
    project: Project, handler: Handler, rules: str = "", service: str = "desk"
) -> AsyncIterator[Running]:
    """A session that records one service, whose tape is sealed at its end; the service is then gone."""
    async with serving(handler) as url, recording_of(project, url, rules, service) as run:
        yield run


@asynccontextmanager
async def recording_of(project: Project, url: str, rules: str = "", service: str = "desk") -> AsyncIterator[Running]:
    """The same for a service at an address of the test's choice."""
    project.configure(services(**{service: url}) + rules)
    async with session(project, "t") as run:
        yield run
        summary = await run.close()
    assert summary.sealed, summary.aside_reasons


@asynccontextmanager
async def replaying(project: Project) -> AsyncIterator[Running]:
    """A session that replays that tape, and in which every request must be answered by it."""
    async with session(project, "t", "replay") as run:
        yield run
        summary = await run.close()
    assert (exit_status(summary), summary.hits) == (0, summary.exchanges), summary


@dataclass(frozen=True)
class Got:
    """What a client made of an answer: its content codings are undone where the client undoes them."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        """Every value of a header, in order."""
        return [value for key, value in self.headers if key.lower() == name]


Client = Callable[[str, str, bytes, Mapping[str, str]], Awaitable[Got]]
"""Takes method, URL, body and headers."""


async def by_aiohttp(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Got:
    """aiohttp, with its defaults; it warns of large bodies that are no file."""
    file = io.BytesIO(body) if body else None
    async with aiohttp.ClientSession() as http, http.request(method, url, data=file, headers=headers) as got:
        return Got(got.status, list(got.headers.items()), await got.read())


async def by_httpx(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Got:
    """httpx, without the proxy variables of the test machine."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        got = await http.request(method, url, content=body or None, headers=headers)
    return Got(got.status_code, list(got.headers.multi_items()), got.content)


async def by_requests(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Got:
    """requests, without the proxy variables of the test machine."""

    def call() -> Got:
        with requests.Session() as http:
            http.trust_env = False
            got = http.request(method, url, data=body or None, headers=headers, timeout=60)
            return Got(got.status_code, list(got.raw.headers.items()), got.content)

    return await asyncio.to_thread(call)


async def by_urllib(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Got:
    """urllib, without the proxy variables of the test machine; it undoes no content coding."""

    def call() -> Got:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        asked = urllib.request.Request(url, body or None, dict(headers), method=method)
        try:
            with opener.open(asked, timeout=60) as got:
                return Got(got.status, got.getheaders(), got.read())
        except urllib.error.HTTPError as error:
            with error:
                return Got(error.code, list(error.headers.items()), error.read())

    return await asyncio.to_thread(call)


CLIENTS: dict[str, Client] = {
    "aiohttp": by_aiohttp,
    "httpx": by_httpx,
    "requests": by_requests,
    "urllib": by_urllib,
}


@dataclass
class Network:
    """What this process tried on the network, the proxy's own port left out."""

    port: int
    tried: list[str] = field(default_factory=list)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """One event of Python's audit: a connection or a look-up."""
        place = arguments[1] if event == "socket.connect" else arguments[:2]
        if isinstance(place, tuple) and tuple(place[:2]) not in {
            ("127.0.0.1", self.port),
            ("127.0.0.1", str(self.port)),
        }:
            self.tried.append(f"{event} {place}")


_EVENTS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"})
_watching: list[Network] = []
_hooked: list[bool] = []


@contextmanager
def network_watched(run: Running) -> Iterator[Network]:
    """Every connection and name look-up of this process, those to the proxy left out."""
    if not _hooked:  # a hook cannot be taken away again
        sys.addaudithook(_audit)
        _hooked.append(True)
    network = Network(int(run.proxy.url.rpartition(":")[2]))
    _watching.append(network)
    try:
        yield network
    finally:
        _watching.remove(network)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS:
        for network in _watching:
            network.note(event, arguments)
