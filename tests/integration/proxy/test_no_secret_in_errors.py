"""What goes wrong is told without the secrets that it is about: in rows, summaries, answers, and while it runs."""

from __future__ import annotations

import asyncio
import json
import stat

import pytest
from aiohttp import web
from yarl import URL

from proctor.errors import ProctorError
from tests.property.planted import left_in, spellings
from tests.support import Project, Running, services, serving, session

SECRET = "Zx9-kQ2vB7/mN4+pT8=abc"
QUOTED = "Zx9-kQ2vB7%2FmN4%2BpT8%3Dabc"


async def fine(request: web.Request) -> web.StreamResponse:
    """Answers everything."""
    await request.read()
    return web.json_response({"ok": True})


async def failing(request: web.Request) -> web.StreamResponse:
    """Answers nothing well, and quotes what it was asked."""
    return web.json_response({"error": f"bad: {request.path_qs} {(await request.read()).decode()}"}, status=503)


async def record_one(project: Project) -> None:
    async with serving(fine) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await post(run, "/a", {"n": 1})
            assert (await run.close()).sealed


async def post(run: Running, target: str, body: object, **more: str) -> bytes:
    async with run.http.post(URL(run.url("desk", target), encoded=True), json=body, headers=more) as answer:
        return await answer.read()


async def test_a_miss_is_told_without_the_secrets_in_the_request(project: Project) -> None:
    await record_one(project)
    async with session(project, "t", "replay") as run:
        told = [
            await post(run, f"/a?api_key={QUOTED}", {"n": 1}),
            await post(run, "/b", {"user": {"password": SECRET}, "n": 2}),
            await post(run, "/a", {"n": 1}, Authorization=f"Bearer {SECRET}"),
            await post(run, f"/files/{QUOTED}", {"token": SECRET}),
            await post(run, "/a", {"n": 4711, "pin": 48_151_623}),
        ]
        rows = await run.control.trace(run.info.session)
        summary = await run.close(0)
    assert sum(miss.count for miss in summary.misses) == len(told)
    everything = [*told, *(row.model_dump_json().encode() for row in rows), summary.model_dump_json().encode()]
    assert left_in(project, SECRET, *everything) == []
    assert not [text for text in everything if b"48151623" in text]


async def test_a_request_that_belongs_nowhere_is_told_without_its_query(project: Project) -> None:
    await record_one(project)
    async with session(project, "t", "replay") as run:
        async with run.http.get(URL(f"{run.info.url}/nosuch/x?token={QUOTED}", encoded=True)) as answer:
            told = await answer.read()
        headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
        async with run.http.get(URL(run.url("desk", f"/ws?token={QUOTED}"), encoded=True), headers=headers) as answer:
            assert answer.status == 501
        summary = await run.close()
    assert left_in(project, SECRET, told, summary.model_dump_json().encode()) == []


async def test_a_request_that_is_no_http_is_told_without_its_headers(project: Project) -> None:
    await record_one(project)
    async with session(project, "t", "replay") as run:
        url = URL(run.info.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(f"GET /s/x/desk/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SECRET}\x00\r\n\r\n".encode())
        await reader.read()
        writer.close()
        summary = await run.close()
    assert summary.errors
    assert left_in(project, SECRET, summary.model_dump_json().encode()) == []


async def test_while_a_recording_runs_only_its_private_journal_holds_a_secret(project: Project) -> None:
    async with serving(fine) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await post(run, f"/a?sig={QUOTED}", {"client_secret": SECRET})
            journals = list(project.layout.journals.glob("*"))
            clear = [
                path
                for path in project.root.rglob("*")
                if path.is_file() and any(form in path.read_bytes() for form in spellings(SECRET))
            ]
            assert clear == journals
            assert [stat.S_IMODE(path.stat().st_mode) for path in journals] == [0o600]
            rows = [row.model_dump_json().encode() for row in await run.control.trace(run.info.session)]
            assert len(rows) == 1
            assert not [form for form in spellings(SECRET) if form in rows[0]]
            await run.close()
    assert not list(project.layout.journals.glob("*"))
    assert left_in(project, SECRET) == []


async def test_a_recording_that_is_put_aside_holds_none_either(project: Project) -> None:
    async with serving(failing) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await post(run, f"/a?sig={QUOTED}", {"client_secret": SECRET})
            summary = await run.close()
    assert summary.aside
    assert summary.aside_reasons
    assert left_in(project, SECRET, summary.model_dump_json().encode()) == []


async def test_an_unreachable_service_is_told_without_the_query(project: Project) -> None:
    async with serving(fine) as url:
        project.configure(services(desk=url))
    async with session(project, "t") as run:
        told = await post(run, f"/a?sig={QUOTED}", {"client_secret": SECRET})
        summary = await run.close()
    assert summary.errors[0].code == "upstream_unreachable"
    assert left_in(project, SECRET, told, summary.model_dump_json().encode()) == []


async def test_a_rule_that_cannot_be_loaded_refuses_the_session_and_names_itself(project: Project) -> None:
    project.configure(services(desk="http://desk.test") + '[redact]\nfunction = "no_such_module:find"\n')
    with pytest.raises(ProctorError) as error:
        async with session(project, "t"):
            pass
    assert (error.value.code, error.value.exit_code) == ("redact_function", 2)


@pytest.mark.req(46)
async def test_personal_data_is_other_data_in_tape_and_trace_where_that_is_asked_for(project: Project) -> None:
    person = {"name": "王小明", "phone": "13912345678", "mail": "wang@example.cn"}

    async def customer(request: web.Request) -> web.StreamResponse:
        return web.json_response({**person, "echo": (await request.read()).decode()})

    async with serving(customer) as url:
        project.configure(services(desk=url) + '[redact]\npii = true\npeople_file = "people.txt"\n')
        (project.root / "people.txt").write_text("# customers\n王小明\n\n", encoding="utf-8")
        async with session(project, "t") as run:
            await post(run, "/find", {"phone": "13912345678"})
            assert (await run.close()).sealed
    for value in person.values():
        assert left_in(project, value) in ([], ["people.txt"])
    async with session(project, "t", "replay") as run:
        told = json.loads(await post(run, "/find", {"phone": "13987654321"}))
        summary = await run.close()
    assert not summary.misses
    assert json.loads(told["echo"]) == {"phone": told["phone"]}
    assert told["name"].startswith("某人")
