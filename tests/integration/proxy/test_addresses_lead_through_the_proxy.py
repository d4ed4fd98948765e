"""Wherever a service's answer leads, the agent stays on the proxy; the tape keeps the service's own words."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
import requests
from aiohttp import ClientError, web

from tests.integration.proxy.raw import canned, raw_service
from tests.support import Handler, Project, Running, services, serving, session

PAGES = ("first", "second", "third")


class Agent:
    """A client as agents have one: `requests`, which follows redirects by itself."""

    def __init__(self, run: Running) -> None:
        self.run = run
        self._http = requests.Session()
        self._http.trust_env = False

    async def get(self, url: str, **options: Any) -> requests.Response:
        return await self.ask("GET", url, **options)

    async def ask(self, method: str, url: str, **options: Any) -> requests.Response:
        return await asyncio.to_thread(self._http.request, method, url, timeout=30, **options)


async def record(project: Project, walk: Callable[[Agent], Any], tape: str = "t") -> tuple[Any, str]:
    """What the walk came to while recording, and the id of its session. The recording must become a tape."""
    async with session(project, tape) as run:
        seen = await walk(Agent(run))
        summary = await run.close()
        assert summary.sealed, summary.aside_reasons
        assert (summary.hosts, summary.errors, summary.notes) == ((), (), ())
    return seen, run.info.session


async def replay(project: Project, walk: Callable[[Agent], Any], tape: str = "t") -> tuple[Any, str]:
    """The same in replay, on another port, with no miss and nothing past the services."""
    async with session(project, tape, "replay") as run:
        seen = await walk(Agent(run))
        summary = await run.close()
        assert (summary.misses, summary.hosts, summary.errors, summary.unused) == ((), (), (), ())
    return seen, run.info.session


def redirecting(reference: str) -> Handler:
    """A service that sends `/api/orders/7` to a reference, in which REAL stands for its own root."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/api/orders/7":
            sent = reference.replace("REAL", f"http://{request.host}").replace("HOST", request.host)
            return web.Response(status=307, headers={"Location": sent})
        return web.json_response({"at": request.raw_path, "said": (await request.read()).decode()})

    return answer


@pytest.mark.parametrize(
    "reference",
    [
        "REAL/api/orders/8?a=%20b",
        "/api/orders/8?a=%20b",
        "//HOST/api/orders/8?a=%20b",
        "8?a=%20b",
        "../../api/orders/8",
    ],
)
async def test_a_redirect_of_any_form_is_followed_through_the_proxy(project: Project, reference: str) -> None:
    async def walk(agent: Agent) -> list[str]:
        answer = await agent.ask("POST", agent.run.url("desk", "/orders/7"), data=b"x")
        assert answer.url.startswith(agent.run.url("desk", "/orders/8"))
        return [answer.text]

    async with serving(redirecting(reference)) as url:
        project.configure(services(desk=f"{url}/api"))
        seen, _ = await record(project, walk)
    assert json.loads(seen[0]) == {"at": f"/api/orders/8{'?a=%20b' if '?' in reference else ''}", "said": "x"}
    assert (await replay(project, walk))[0] == seen
    first, second = project.tape("t").interactions
    headers = dict(first.response.headers)
    assert headers["Location"] == reference.replace("REAL", url).replace("HOST", url.removeprefix("http://"))
    assert second.url.startswith(f"{url}/api/orders/8")


async def test_a_redirect_to_another_service_goes_to_its_address(project: Project) -> None:
    async def walk(agent: Agent) -> list[str]:
        answer = await agent.get(agent.run.url("desk", "/orders/7"))
        assert answer.url == agent.run.url("files", "/8?x")
        return [answer.text]

    async with serving(redirecting("")) as files, serving(redirecting(f"{files}/8?x")) as desk:
        project.configure(services(desk=f"{desk}/api", files=files))
        seen, recorded = await record(project, walk)
    again, replayed = await replay(project, walk)
    assert again == seen
    assert [each.request.service for each in project.tape("t").interactions] == ["desk", "files"]
    told = (f"header Location: {files}/8?x -> files/8?x",)
    for each in (recorded, replayed):
        assert [row.rewrites for row in project.trace(each)] == [told, ()]


async def test_a_redirect_to_no_service_is_untouched_and_refused_by_name_where_the_path_is_absolute(
    project: Project,
) -> None:
    async with serving(redirecting("/login")) as desk, serving(redirecting("http://other.test/x")) as line:
        project.configure(services(desk=f"{desk}/api", line=f"{line}/api"))
        async with session(project, "t") as run:
            agent = Agent(run)
            away = await agent.get(run.url("line", "/orders/7"), allow_redirects=False)
            assert away.headers["Location"] == "http://other.test/x"
            login = await agent.get(run.url("desk", "/orders/7"), allow_redirects=False)
            assert login.headers["Location"] == f"{desk}/login", "at the proxy's own root it would lead nowhere"
            await run.close()
    assert [row.rewrites for row in project.trace(run.info.session)] == [
        (),
        (f"header Location: /login -> {desk}/login",),
    ]


async def by_link(request: web.Request) -> web.StreamResponse:
    """Pages by a Link header."""
    page = int(request.query.get("page", "0"))
    here = f"http://{request.host}{request.path}"
    links = [f'<{here}?page=0>; rel="first"']
    if page + 1 < len(PAGES):
        links.append(f'<{here}?page={page + 1}>; rel="next"')
    return web.json_response([PAGES[page]], headers={"Link": ", ".join(links)})


async def test_pages_by_link_header_are_walked_through_the_proxy(project: Project) -> None:
    async def walk(agent: Agent) -> list[str]:
        url, found = agent.run.url("desk", "/orders"), []
        while url:
            answer = await agent.get(url)
            found += answer.json()
            url = answer.links.get("next", {}).get("url", "")
            assert answer.links["first"]["url"].startswith(agent.run.url("desk", ""))
        return found

    async with serving(by_link) as url:
        project.configure(services(desk=f"{url}/api"))
        seen, recorded = await record(project, walk)
    assert seen == list(PAGES)
    again, replayed = await replay(project, walk)
    assert again == seen
    assert [row.rewrites for row in project.trace(recorded)] == [row.rewrites for row in project.trace(replayed)]
    assert project.trace(replayed)[1].rewrites == (
        f"header Link: {url}/api/orders?page=0 -> desk/orders?page=0",
        f"header Link: {url}/api/orders?page=2 -> desk/orders?page=2",
    )


def by_body(packed: bool) -> Handler:
    """Pages by a URL in the body, which comes in two pieces, under gzip where `packed`."""

    async def answer(request: web.Request) -> web.StreamResponse:
        page = int(request.query.get("page", "0"))
        here = f"http://{request.host}{request.path}"
        following = f"{here}?page={page + 1}" if page + 1 < len(PAGES) else None
        body = json.dumps({"next": following, "items": [{"href": f"{here}/{PAGES[page]}"}], "self": here}, indent=1)
        data = gzip.compress(body.encode()) if packed else body.encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if packed:
            response.headers["Content-Encoding"] = "gzip"
            response.content_length = len(data)
        await response.prepare(request)
        await response.write(data[:20])
        await response.write(data[20:])
        return response

    return answer


@pytest.mark.parametrize("packed", [False, True])
async def test_pages_by_a_declared_pointer_are_walked_through_the_proxy(project: Project, packed: bool) -> None:
    async def walk(agent: Agent) -> list[str]:
        url, found = agent.run.url("desk", "/orders"), []
        while url:
            page = (await agent.get(url)).json()
            assert page["self"].endswith("/api/orders"), "what is not declared stays"
            found.append(page["items"][0]["href"].removeprefix(agent.run.url("desk", "")))
            url = page["next"]
        return found

    async with serving(by_body(packed)) as url:
        project.configure(f'{services(desk=f"{url}/api")}rewrite = ["/next", "/items/*/href"]\n')
        seen, recorded = await record(project, walk)
    assert seen == [f"/orders/{page}" for page in PAGES]
    again, replayed = await replay(project, walk)
    assert again == seen
    first = project.trace(replayed)[0]
    assert first.result["next"] == f"{url}/api/orders?page=1", "the trace's result is the service's own words"
    assert first.rewrites == (
        f"body /next: {url}/api/orders?page=1 -> desk/orders?page=1",
        f"body /items/0/href: {url}/api/orders/first -> desk/orders/first",
    )
    assert [row.rewrites for row in project.trace(recorded)] == [row.rewrites for row in project.trace(replayed)]
    body = project.tape("t").interactions[0].response.body
    assert json.loads(gzip.decompress(body) if packed else body) == first.result


@pytest.mark.parametrize("where", ["body", "escaped", "query", "header", "key header"])
async def test_an_address_that_the_agent_quotes_reaches_the_service_as_its_own_and_matches_in_replay(
    project: Project, where: str
) -> None:
    heard: list[tuple[str, str, str, str]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        body = (await request.read()).decode()
        heard.append((request.raw_path, body, request.headers.get("Referer", ""), request.headers.get("X-Back", "")))
        return web.json_response({"n": len(heard)})

    async def walk(agent: Agent) -> dict[str, int]:
        quoted = agent.run.url("line", "/items?page=2")
        target = f"/ask?back={quote(quoted, safe='')}" if where == "query" else "/ask"
        text = json.dumps({"said": f"see {quoted}." if where in {"body", "escaped"} else ""})
        told = await agent.ask(
            "POST",
            agent.run.url("desk", target),
            data=text.replace("/", "\\/") if where == "escaped" else text,
            headers={"header": {"Referer": quoted}, "key header": {"X-Back": quoted}}.get(where, {}),
        )
        assert told.status_code == 200, told.text
        answer: dict[str, int] = told.json()
        return answer

    line = "http://line.test/v1"
    async with serving(answer) as url:
        project.configure(services(line=line, desk=url) + 'key_headers = ["X-Back"]\n')
        async with session(project, "t", allow_unused=True) as run:
            seen = await walk(Agent(run))
            assert (await run.close()).sealed
    ((path, body, referer, back),) = heard
    real = f"{line}/items?page=2"
    assert {
        "body": json.loads(body)["said"] == f"see {real}.",
        "escaped": json.loads(body)["said"] == f"see {real}." and "\\/\\/line.test" in body,
        "query": path == f"/ask?back={quote(real, safe='')}",
        "header": referer == real,
        "key header": back == real,
    }[where]
    (kept,) = project.tape("t").interactions
    assert run.info.session not in project.layout.cassette("t").read_text()
    assert f":{run.proxy.url.rpartition(':')[2]}/" not in project.layout.cassette("t").read_text()
    headers = {name.lower(): value for name, value in kept.request.headers}
    assert headers["content-length"] == str(len(kept.request.body))
    async with session(project, "t", "replay", allow_unused=True) as again:
        assert await walk(Agent(again)) == seen
        assert not (await again.close()).misses
    told = {"escaped": "body", "query": "target", "header": "header referer", "key header": "header x-back"}
    expected = (f"request {told.get(where, where)}: line -> {line}",)
    assert project.trace(run.info.session)[0].rewrites == expected
    (row,) = project.trace(again.info.session)
    assert (row.match, row.rewrites) == ("exact", () if where == "header" else expected)


async def test_a_miss_tells_of_the_real_address_and_of_the_rewrite(project: Project) -> None:
    async with serving(redirecting("")) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await Agent(run).ask("POST", run.url("desk", "/ask"), json={"at": run.url("desk", "/x")})
            await run.close()
    async with session(project, "t", "replay") as run:
        missed = await Agent(run).ask("POST", run.url("desk", "/ask"), json={"at": run.url("desk", "/y")})
        assert missed.json()["proctor"]["diff"] == [f'body /at: recorded "{url}/x", got "{url}/y"']
        await run.close()
    assert project.trace(run.info.session)[0].rewrites == (f"request body: desk -> {url}",)


async def test_replay_takes_the_addresses_from_the_tape_where_the_variable_is_not_set(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def walk(agent: Agent) -> str:
        return (await agent.get(agent.run.url("desk", "/orders/7"))).text

    project.configure('[services.desk]\nurl = "env:REAL_DESK"\n')
    async with serving(redirecting("REAL/api/orders/8")) as url:
        monkeypatch.setenv("REAL_DESK", f"{url}/api")
        seen, _ = await record(project, walk)
    monkeypatch.delenv("REAL_DESK")
    assert (await replay(project, walk))[0] == seen
    monkeypatch.setenv("REAL_DESK", "https://moved.test")
    assert (await replay(project, walk))[0] == seen


async def test_a_live_service_is_rewritten_too(project: Project) -> None:
    async with serving(redirecting("/api/orders/8")) as url:
        project.configure(services(desk=f"{url}/api"))
        async with session(project, "t", "live") as run:
            answer = await Agent(run).get(run.url("desk", "/orders/7"))
            assert answer.url == run.url("desk", "/orders/8")
            await run.close()
    assert project.trace(run.info.session)[0].rewrites == ("header Location: /api/orders/8 -> desk/orders/8",)


async def test_an_answer_in_an_unknown_coding_goes_on_untouched_with_a_note_in_both_modes(project: Project) -> None:
    sent = canned(b"(\xb5/\xfd", "Content-Type: application/json", "Content-Encoding: zstd")
    async with raw_service(sent) as service:
        project.configure(services(desk=service.url) + 'rewrite = ["/next"]\n')
        async with session(project, "t") as run:
            async with run.http.get(run.url("desk", "/")) as answer:
                assert await answer.read() == b"(\xb5/\xfd"
            notes = (await run.close()).notes
    assert len(notes) == 2
    assert '"zstd" is unknown' in notes[0]
    assert 'the coding "zstd" could not be looked into for secrets' in notes[1]
    async with session(project, "t", "replay") as run:
        async with run.http.get(run.url("desk", "/")) as answer:
            assert await answer.read() == b"(\xb5/\xfd"
        assert (await run.close()).notes == notes[:1]


async def test_json_that_breaks_off_while_it_is_held_is_a_broken_answer(project: Project) -> None:
    async def breaking(writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"next": "x"')
        await writer.drain()
        writer.close()

    async with raw_service(breaking) as service:
        project.configure(services(desk=service.url) + 'rewrite = ["/next"]\n')
        async with session(project, "t") as run:
            with pytest.raises((ConnectionError, ClientError)):
                await run.http.get(run.url("desk", "/"))
            summary = await run.close()
    assert ([error.code for error in summary.errors], summary.notes, summary.sealed) == (["answer_cut"], (), "")


@pytest.mark.parametrize("media", ["text/event-stream", "application/x-ndjson"])
async def test_a_stream_of_a_service_with_declared_pointers_still_goes_on_piece_by_piece(
    project: Project, media: str
) -> None:
    read_first = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": media, "Content-Location": "/now"})
        await response.prepare(request)
        await response.write(f'{{"next": "http://{request.host}/1"}}\n'.encode())
        await read_first.wait()
        await response.write(b"{}\n")
        return response

    async with serving(answer) as url:
        project.configure(services(desk=url) + 'rewrite = ["/next"]\n')
        async with session(project, "t") as run, run.http.get(run.url("desk", "/")) as got:
            assert await got.content.readline() == f'{{"next": "{url}/1"}}\n'.encode()
            read_first.set()
            assert await got.content.read() == b"{}\n"
            assert got.headers["Content-Location"] == run.url("desk", "/now")
            assert (await run.close()).sealed
    assert project.trace(run.info.session)[0].rewrites == ("header Content-Location: /now -> desk/now",)


async def test_a_credential_in_a_rewritten_address_is_a_placeholder_in_the_trace(project: Project) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        return web.Response(status=201, headers={"Location": f"http://{request.host}/x?token={token}"})

    async with serving(answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await Agent(run).get(run.url("desk", "/"), headers={"Authorization": "Bearer a-secret-of-alice"})
            rows = await run.control.trace(run.info.session)
            await run.close()
    hidden = "proctor-redacted-0001"
    told = (f"header Location: {url}/x?token={hidden} -> desk/x?token={hidden}",)
    assert rows[0].rewrites == told
    assert project.trace(run.info.session)[0].rewrites == told


async def test_a_tape_is_the_same_whatever_port_and_session_it_was_recorded_by(project: Project) -> None:
    async def walk(agent: Agent) -> None:
        answer = await agent.get(agent.run.url("desk", "/orders/7"))
        await agent.ask("POST", agent.run.url("desk", "/ask"), data=answer.url, headers={"Referer": answer.url})

    async with serving(redirecting("REAL/api/orders/8")) as url:
        project.configure(services(desk=f"{url}/api"))
        await record(project, walk, "one")
        await record(project, walk, "two")
    one, two = project.tape("one"), project.tape("two")
    parts = [
        [(i.url, i.request.headers, i.request.body, i.response.body) for i in tape.interactions] for tape in (one, two)
    ]
    assert parts[0] == parts[1]
