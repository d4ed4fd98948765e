"""D11: a recorder dropped `content-encoding: deflate` and kept the compressed bytes, so no client could read them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from aiohttp import web

from proctor.placeholders import numbers_in
from tests.integration.cases.support import CLIENTS, JSON, Asked, Got, ask, recording, replaying
from tests.support import Project

PLAIN = b'{"orders": ["' + b"A1 shipped, " * 50 + '好"]}'.encode()


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", lambda body: gzip.compress(body, mtime=0)),
    "deflate": ("deflate", zlib.compress),
    "deflate without its frame": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "gzip in br": ("gzip, br", lambda body: brotli.compress(gzip.compress(body, mtime=0))),
    "the old name of gzip": ("x-gzip", lambda body: gzip.compress(body, mtime=0)),
    "two gzip members": ("gzip", lambda body: gzip.compress(body[:99], mtime=0) + gzip.compress(body[99:], mtime=0)),
    "one that nobody knows": ("x-rot", lambda body: bytes(255 - byte for byte in body)),
    "a name that is not true": ("gzip", lambda body: body),
    "none at all, said": ("identity", lambda body: body),
}
READERS = {
    "httpx": ("gzip", "deflate", "deflate without its frame", "br", "zstd", "gzip in br"),
    "requests": ("gzip", "deflate", "deflate without its frame", "br", "gzip in br"),
    "aiohttp": ("gzip", "deflate", "deflate without its frame", "br"),
}
"""What each client undoes by itself, with what is installed here."""


@pytest.mark.parametrize("kind", CODINGS)
async def test_bytes_and_header_pass_untouched_while_recording_and_in_replay(project: Project, kind: str) -> None:
    coding, pack = CODINGS[kind]
    body = pack(PLAIN)

    async def service(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, headers={"Content-Encoding": coding, "Content-Type": JSON})

    async with recording(project, service) as run:
        answers = [await ask(run, Asked("/"))]
    async with replaying(project) as run:
        answers.append(await ask(run, Asked("/")))
    for answer in answers:
        assert (answer.body, answer.values("content-encoding")) == (body, [coding])
        assert answer.values("content-length") == [str(len(body))]


@pytest.mark.parametrize(("client", "kind"), [(client, kind) for client, kinds in READERS.items() for kind in kinds])
async def test_clients_that_undo_codings_read_the_same(project: Project, client: str, kind: str) -> None:
    coding, pack = CODINGS[kind]

    async def service(request: web.Request) -> web.StreamResponse:
        return web.Response(body=pack(PLAIN), headers={"Content-Encoding": coding, "Content-Type": JSON})

    async def read(url: str) -> Got:
        return await CLIENTS[client]("GET", url, b"", {})

    async with recording(project, service) as run:
        recorded = await read(run.url("desk", "/"))
    async with replaying(project) as run:
        replayed = await read(run.url("desk", "/"))
    assert recorded.body == replayed.body == PLAIN


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd", "gzip in br"])
async def test_a_body_that_redaction_changed_is_packed_again_under_the_same_header(project: Project, kind: str) -> None:
    coding, pack = CODINGS[kind]
    secret = "tok7Fq2Lx9Zp4Rv8Wn3"

    async def service(request: web.Request) -> web.StreamResponse:
        body = pack(b'{"access_token": "%s", "n": 1}' % secret.encode())
        return web.Response(body=body, headers={"Content-Encoding": coding, "Content-Type": JSON})

    async with recording(project, service) as run:
        assert secret.encode() in (await CLIENTS["httpx"]("GET", run.url("desk", "/"), b"", {})).body
    async with replaying(project) as run:
        answer = await ask(run, Asked("/"))
        got = await CLIENTS["httpx"]("GET", run.url("desk", "/"), b"", {})
    assert answer.values("content-encoding") == [coding]
    assert answer.values("content-length") == [str(len(answer.body))]
    assert numbers_in(got.body.decode()) == {1}
    assert secret.encode() not in got.body


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd", "gzip in br", "one that nobody knows"])
async def test_a_coded_request_arrives_and_is_found_again(project: Project, kind: str) -> None:
    coding, pack = CODINGS[kind]
    arrived: list[bytes] = []

    async def service(request: web.Request) -> web.StreamResponse:
        arrived.append(await request.read())
        return web.Response(text=request.headers["Content-Encoding"])

    asked = Asked("/", pack(PLAIN), headers=(f"Content-Encoding: {coding}",))
    async with recording(project, service) as run:
        await ask(run, asked)
    assert arrived == [pack(PLAIN)]
    async with replaying(project) as run:
        assert (await ask(run, asked)).body == coding.encode()
