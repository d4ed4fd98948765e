"""D13: a body was written anew and sent under its old length: cut off, or with a tail."""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from proctor.overlay import Patch
from tests.integration.cases.support import CLIENTS, JSON, Asked, ask, recording, replaying
from tests.integration.proxy.raw import canned, raw_service
from tests.support import Project, services, session

BODIES: dict[str, tuple[str, bytes]] = {
    "curly quotes": (JSON, '{"say": "“hello” – it’s"}'.encode()),
    "an empty list, pretty": (JSON, b"[\n]"),
    "an object, pretty": (JSON, json.dumps({"b": [1, {"a": None}], "a": 1.0}, indent=4).encode() + b"\n"),
    "escapes that could be written shorter": (JSON, rb'{"a": "\u597d\/\u00e9", "n": 1E+2}'),
    "emoji and combining marks": (JSON, '{"a": "👩‍👩‍👧 é"}'.encode()),
    "a mark and CRLF": ("text/plain", b"\xef\xbb\xbfline\r\nline\r\n\r\n"),
    "a key twice": (JSON, b'{"a": 1, "a": 2}'),
    "no JSON at all": (JSON, b'{"a": '),
    "blanks alone": ("text/plain", b"  \n \t "),
    "one byte": ("text/plain", b"0"),
}


@pytest.mark.parametrize("kind", BODIES)
async def test_both_lengths_are_those_of_the_bytes_sent(project: Project, kind: str) -> None:
    media, body = BODIES[kind]
    async with raw_service(canned(body, f"Content-Type: {media}")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            answers = [await ask(run, Asked("/", body, media))]
            assert (await run.close()).sealed
        assert (service.body(), f"Content-Length: {len(body)}" in service.head()) == (body, True)
    async with replaying(project) as run:
        answers.append(await ask(run, Asked("/", body, media)))
    for answer in answers:
        assert (answer.body, answer.values("content-length")) == (body, [str(len(body))])


SECRETS = {
    "shorter than its placeholder": "pa55-w0rd",
    "longer than its placeholder": "tok7Fq2Lx9Zp4Rv8Wn3" * 20,
    "in more bytes than characters": "密码7Fq2Lx9é" * 5,
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kind", SECRETS)
async def test_a_body_that_redaction_changed_has_its_new_length(project: Project, kind: str, client: str) -> None:
    body = json.dumps({"password": SECRETS[kind], "“n”": 1}, ensure_ascii=False).encode()
    async with raw_service(canned(body, f"Content-Type: {JSON}")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await ask(run, Asked("/"))
            assert (await run.close()).sealed
    async with replaying(project) as run:
        answer = await ask(run, Asked("/"))
        got = await CLIENTS[client]("GET", run.url("desk", "/"), b"", {})
    assert answer.values("content-length") == [str(len(answer.body))]
    assert answer.body == got.body != body
    assert json.loads(got.body)["“n”"] == 1


@pytest.mark.parametrize("value", ["“longer than it was”", "", [], {"a": "👩‍👩‍👧"}, None])
async def test_a_body_that_an_overlay_changed_has_its_new_length(project: Project, value: object) -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b'{ "status": "open",\n  "id": 7 }', content_type=JSON)

    async with recording(project, service) as run:
        await ask(run, Asked("/"))
    patch = Patch.model_validate({"service": "desk", "at": "/status", "value": value})
    async with session(project, "t", "replay", overlay=(patch,)) as run:
        answer = await ask(run, Asked("/"))
    assert answer.values("content-length") == [str(len(answer.body))]
    assert json.loads(answer.body) == {"status": value, "id": 7}


async def test_head_keeps_the_length_that_it_tells_of_and_has_no_body(project: Project) -> None:
    async with raw_service(b"HTTP/1.1 200 OK\r\nContent-Length: 4321\r\n\r\n") as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            answers = [await ask(run, Asked("/", method="HEAD"))]
            assert (await run.close()).sealed
    async with replaying(project) as run:
        answers.append(await ask(run, Asked("/", method="HEAD")))
    assert [(answer.values("content-length"), answer.body) for answer in answers] == [(["4321"], b"")] * 2
