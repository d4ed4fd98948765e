"""Plain vcrpy, with the clients it patches, plays a tape of ours: the real service is gone."""

from __future__ import annotations

import gzip
import json
from typing import Any

import httpx
import pytest
import requests
import vcr
from aiohttp import web

from tests.support import Project, services, serving, session

BINARY = bytes(range(256))


async def desk(request: web.Request) -> web.StreamResponse:
    if request.path == "/binary":
        return web.Response(body=BINARY, content_type="application/octet-stream")
    if request.path == "/zipped":
        return web.Response(body=gzip.compress("订单".encode()), headers={"Content-Encoding": "gzip"})
    if request.path == "/cookies":
        response = web.Response(text="ok")
        response.headers.add("X-Many", "one")
        response.headers.add("X-Many", "two")
        return response
    return web.json_response({"said": (await request.read()).decode(), "答": "已发货"}, dumps=_unicode)


def _unicode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture
async def tape(project: Project) -> tuple[Project, str]:
    async with serving(desk) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            for path in ("/binary", "/zipped", "/cookies"):
                await (await run.http.get(run.url("desk", path))).read()
            await (await run.http.post(run.url("desk", "/ask"), json={"问": "物流"})).read()
            assert (await run.close()).sealed
    return project, url


@pytest.mark.parametrize("client", [requests, httpx], ids=["requests", "httpx"])
def test_plain_vcrpy_plays_a_tape(tape: tuple[Project, str], client: Any) -> None:
    project, url = tape
    # vcrpy's own stub for requests never decodes a body: it must be told to when a tape holds compressed ones
    player = vcr.VCR(record_mode="none", match_on=["method", "uri"], decode_compressed_response=client is requests)
    with player.use_cassette(str(project.layout.cassette("t"))) as cassette:
        assert client.get(f"{url}/binary").content == BINARY
        assert client.get(f"{url}/zipped").text == "订单"
        many = client.get(f"{url}/cookies").headers["X-Many"]
        assert many.replace(" ", "") == "one,two"
        assert client.post(f"{url}/ask", json={"问": "物流"}).json()["答"] == "已发货"
        assert cassette.all_played


def test_chinese_is_readable_in_the_file(tape: tuple[Project, str]) -> None:
    text = tape[0].layout.cassette("t").read_text(encoding="utf-8")
    assert "已发货" in text
