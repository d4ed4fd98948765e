"""The main job: what was recorded once is answered for ever, with the real service gone."""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from tests.support import Project, services, serving, session


async def greet(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    return web.json_response({"method": request.method, "path": request.raw_path, "said": body.decode()})


@pytest.mark.req(173)
async def test_a_recorded_answer_is_replayed_with_the_service_stopped(project: Project) -> None:
    async with serving(greet) as url:
        project.configure(services(desk=url))
        async with session(project, "hello") as run:
            recorded = await (await run.http.post(run.url("desk", "/tools/x?b=2&a=1"), json={"q": "你好"})).json()
            summary = await run.close()
    assert summary.sealed.endswith("cassettes/hello.yaml")
    assert summary.recorded == 1
    async with session(project, "hello", "replay") as run:
        answer = await run.http.post(run.url("desk", "/tools/x?a=1&b=2"), json={"q": "你好"})
        assert await answer.json() == recorded
        summary = await run.close()
    assert (summary.hits, summary.misses, summary.services_unused) == (1, (), ())
    row = project.trace(run.info.session)[0]
    assert (row.source, row.match, row.matched) == ("replay", "canonical", 0)
    assert row.result == json.loads(json.dumps(recorded))
