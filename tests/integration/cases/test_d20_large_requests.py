"""D20: a request of 1.3 MB was refused by the proxy itself, whose HTTP library allows 1 MiB by default."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import httpx
import pytest
import requests
from aiohttp import web
from openai import AsyncOpenAI

from tests.integration.cases.support import CLIENTS, JSON, recording, replaying, told
from tests.integration.proxy.raw import canned, raw_service, request, send
from tests.support import Project, Running, services, session

LARGE = 1_300_000
MIB = 2**20
CONTEXT = told({"messages": [{"role": "user", "content": "A long story, 好. " * (LARGE // 18)}]})
IMAGE = bytes(range(256)) * (LARGE // 256 + 1)


async def digest(request: web.Request) -> web.StreamResponse:
    """Answers with what arrived, as a digest."""
    body = await request.read()
    return web.json_response({"size": len(body), "sha": hashlib.sha256(body).hexdigest()})


async def with_an_image(run: Running) -> str:
    """A picture in a chat, as the openai SDK sends it."""
    url = f"data:image/png;base64,{b64encode(IMAGE).decode()}"
    async with AsyncOpenAI(base_url=run.url("desk"), api_key="sk-of-the-tests-0123456789", max_retries=0) as client:
        got = await client.chat.completions.with_raw_response.create(
            model="m",
            messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}],
        )
    return got.text


async def in_pieces(run: Running) -> str:
    """No length is known beforehand."""

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, LARGE, 100_000):
            yield IMAGE[at : at + 100_000]

    async with httpx.AsyncClient(timeout=60) as http:
        return (await http.post(run.url("desk", "/up"), content=pieces())).text


async def as_a_form(run: Running) -> str:
    """A file in a form, whose boundary is another each time."""

    def call() -> str:
        files = {"file": ("a.bin", IMAGE, "application/octet-stream")}
        return requests.post(run.url("desk", "/up"), files=files, timeout=60).text

    await asyncio.to_thread(call)
    return "found"


async def in_form_fields(run: Running) -> str:
    """One long field."""
    async with httpx.AsyncClient(timeout=60) as http:
        return (await http.post(run.url("desk", "/form"), data={"text": "好" * (LARGE // 9 + 1)})).text


async def after_100_continue(run: Running) -> str:
    """The client asks first."""
    async with (
        aiohttp.ClientSession() as http,
        http.put(run.url("desk", "/up"), data=io.BytesIO(IMAGE), expect100=True) as got,
    ):
        return await got.text()


def as_json(client: str) -> Callable[[Running], Awaitable[str]]:
    async def upload(run: Running) -> str:
        got = await CLIENTS[client]("POST", run.url("desk", "/chat"), CONTEXT, {"Content-Type": JSON})
        assert json.loads(got.body) == {"size": len(CONTEXT), "sha": hashlib.sha256(CONTEXT).hexdigest()}
        return got.body.decode()

    return upload


UPLOADS: dict[str, Callable[[Running], Awaitable[str]]] = {
    **{f"JSON by {client}": as_json(client) for client in CLIENTS},
    "an image in a chat": with_an_image,
    "in pieces": in_pieces,
    "a file in a form": as_a_form,
    "a long form field": in_form_fields,
    "after 100 Continue": after_100_continue,
}


@pytest.mark.parametrize("kind", UPLOADS)
async def test_over_a_megabyte_arrives_and_is_found_again(project: Project, kind: str) -> None:
    async with recording(project, digest) as run:
        recorded = await UPLOADS[kind](run)
    assert len(project.tape("t").interactions[0].request.body) >= LARGE
    async with replaying(project) as run:
        assert await UPLOADS[kind](run) == recorded


@pytest.mark.parametrize("size", [8, 64])
async def test_a_very_large_body_passes_in_the_request_and_in_the_answer(project: Project, size: int) -> None:
    coding = "Content-Encoding: x-own"  # what cannot be read need not be searched for secrets, which takes a while
    body = b"begin" + b"." * (size * MIB - 8) + b"end"
    async with raw_service(canned(body, coding)) as service:
        project.configure(services(desk=service.url) + "[cassettes]\nbody_files_over = 1_000_000\n")
        async with session(project, "t") as run:
            recorded = await send(run, request(run, "desk", "/up", coding, method="POST", body=body))
            assert (await run.close()).sealed
        assert (service.body() == body, recorded.body == body) == (True, True)
    async with replaying(project) as run:
        again = await send(run, request(run, "desk", "/up", coding, method="POST", body=body))
    assert (again.status, again.body == body) == (200, True)


async def test_a_large_answer_reaches_every_client(project: Project) -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        return web.Response(body=CONTEXT, content_type=JSON)

    async with recording(project, service) as run:
        assert (await CLIENTS["httpx"]("GET", run.url("desk", "/"), b"", {})).body == CONTEXT
    async with replaying(project) as run:
        for client in CLIENTS.values():
            assert (await client("GET", run.url("desk", "/"), b"", {})).body == CONTEXT


@pytest.mark.parametrize("where", ["target", "header"])
async def test_a_long_head_arrives(project: Project, where: str) -> None:
    long = "x" * 30_000
    target, headers = (f"/q?s={long}", ()) if where == "target" else ("/q", (f"X-Long: {long}",))
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            assert (await send(run, request(run, "desk", target, *headers))).status == 200
            assert (await run.close()).sealed
        assert long in "\n".join(service.head())
    async with replaying(project) as run:
        assert (await send(run, request(run, "desk", target, *headers))).status == 200
