"""Targets come as they were sent, to the service in a request and to the agent in an answer's addresses."""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from proctor.wire import Mode
from tests.integration.cases.support import Asked, ask, exit_status
from tests.integration.proxy.raw import Answer, canned, raw_service
from tests.support import Project, Running, services, serving, session

TARGETS = (
    "/a%2Fb%2fc/d",
    "/it%27s/it's",
    "//x//y/",
    "/a;v=1/b;c,d",
    "/a+b%2Bc%20d",
    "/~me/%7Eyou",
    "/%E5%A5%BD/%e5%a5%bd",
    "/q?x=%27&y=a+b&z=%2B&w=~&v=",
    "/q?a[]=1&a%5B%5D=2&&b",
    "/q?u=https://x.test/?a=b%26c",
    "/(a)!$*@:=&",
)
DOTTED = "/a/./b/../c/%2e%2E"
"""In an answer's address dots are resolved, as every client would, so that it is known what it leads to."""


@pytest.mark.parametrize("target", [*TARGETS, DOTTED])
async def test_the_service_gets_it_as_it_was_sent_and_replay_finds_it(project: Project, target: str) -> None:
    async with raw_service(canned(b"here")) as service:
        project.configure(services(desk=service.url + "/base"))
        async with session(project, "t") as run:
            await ask(run, Asked(target))
            assert (await run.close()).sealed
        assert service.head()[0] == f"GET /base{target} HTTP/1.1"
    assert project.tape("t").interactions[0].request.target == target
    async with session(project, "t", "replay") as run:
        assert (await ask(run, Asked(target))).body == b"here"
        assert exit_status(await run.close()) == 0


@pytest.mark.parametrize("mode", ["record", "replay", "live"])
@pytest.mark.parametrize("target", ["/a#b", "/q?x=1#y", "/#"])
async def test_a_raw_number_sign_is_refused_and_fails_the_session(project: Project, mode: Mode, target: str) -> None:
    async with raw_service(canned(b"here")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await ask(run, Asked("/a"))
            assert (await run.close()).sealed
        tape = project.layout.cassette("t").read_bytes()
        async with session(project, "t", mode) as run:
            assert (await ask(run, Asked("/a%23b" if mode == "live" else "/a"))).status == 200
            before = len(service.requests)
            refused = await ask(run, Asked(target))
            assert len(service.requests) == before
            summary = await run.close()
    assert (refused.status, json.loads(refused.body)["error"]) == (400, "fragment_in_target")
    (error,) = summary.errors
    assert (error.code, "%23" in error.fix) == ("fragment_in_target", True)
    assert exit_status(summary) != 0
    assert not summary.sealed
    assert project.layout.cassette("t").read_bytes() == tape


@pytest.mark.parametrize("target", TARGETS)
async def test_an_address_in_an_answer_leads_there_as_it_was_written(project: Project, target: str) -> None:
    asked: list[str] = []

    async def service(request: web.Request) -> web.StreamResponse:
        asked.append(request.raw_path)
        if request.path == "/base/go":
            here = f"http://{request.host}/base{target}"
            return web.Response(status=302, headers={"Location": here, "Link": f'<{here}>; rel="next"'})
        return web.Response(text="there")

    async with serving(service) as url:
        project.configure(services(desk=url + "/base"))
        async with session(project, "t") as run:
            assert (await followed(run, target)).body == b"there"
            assert (await run.close()).sealed
    assert asked == ["/base/go", f"/base{target}"]
    async with session(project, "t", "replay") as run:
        assert (await followed(run, target)).body == b"there"
        assert exit_status(await run.close()) == 0


async def followed(run: Running, target: str) -> Answer:
    """Follow a redirect, by its very bytes."""
    sent = await ask(run, Asked("/go"))
    assert sent.values("location") == [run.url("desk", target)]
    assert sent.values("link") == [f'<{run.url("desk", target)}>; rel="next"']
    return await ask(run, Asked(sent.values("location")[0].removeprefix(run.url("desk"))))
