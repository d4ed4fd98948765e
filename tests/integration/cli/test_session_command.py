"""`proctor session show`: what a session did, afterwards."""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from tests.integration.cli.support import Desk, record, replay
from tests.support import Project, services, serving

ASK = 'call(DESK + "/tools/query", {"order": "A1"})'


async def test_the_last_session_and_any_earlier_one_can_be_read_again(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        recorded = await record(project, ASK)
    missed = await replay(project, ASK.replace("A1", "B2"))
    first, last = recorded.summary["session"], missed.summary["session"]
    shown = await project.proctor("session", "show")
    assert shown.status == 0
    assert shown.stdout.rstrip() == missed.stderr.rstrip(), "read again, it is what the run itself said"
    earlier = await project.proctor("session", "show", first)
    assert earlier.stdout.rstrip() == recorded.stderr.rstrip()
    told = await project.proctor("session", "show", last, "--json")
    summary = json.loads(told.stdout)
    assert {key: missed.summary[key] for key in summary} == summary
    assert summary["misses"][0]["diff"] == ['body /order: recorded "A1", got "B2"']


@pytest.mark.req(117, 133, 90)
async def test_the_trace_tells_each_exchange_with_arguments_and_result(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        session = (await record(project, f'{ASK}; call(DESK + "/a")')).summary["session"]
    rows = await project.proctor("session", "show", session, "--trace", "--json")
    lines = [json.loads(line) for line in rows.stdout.splitlines()]
    assert [(row["index"], row["method"], row["target"], row["source"]) for row in lines] == [
        (0, "POST", "/tools/query", "record"),
        (1, "GET", "/a", "record"),
    ]
    assert lines[0]["arguments"] == {"order": "A1"}
    assert lines[0]["result"]["path"] == "/tools/query"
    words = (await project.proctor("session", "show", "--trace")).stdout
    assert "desk POST /tools/query  -> 200 (record)" in words
    assert 'arguments {"order": "A1"}' in words
    await replay(project, f'{ASK}; call(DESK + "/a"); call(DESK + "/b")')
    words = (await project.proctor("session", "show", "--trace")).stdout
    assert "desk POST /tools/query  -> 200 (tape #0 exact)" in words
    assert "desk GET /b  -> 422 (refused)" in words
    assert "not_recorded" in words


async def test_the_trace_tells_each_address_that_was_rewritten(project: Project) -> None:
    async def moved(request: web.Request) -> web.StreamResponse:
        if request.path == "/old":
            raise web.HTTPFound(f"http://{request.host}/new")
        return web.json_response({})

    agent = 'call(DESK + "/old"); call(DESK + "/echo", {"at": DESK + "/new"})'
    async with serving(moved) as url:
        project.configure(services(desk=url))
        assert (await record(project, agent)).status == 0
    recorded = (await project.proctor("session", "show", "--trace")).stdout
    assert (await replay(project, agent)).status == 0
    for words in (recorded, (await project.proctor("session", "show", "--trace")).stdout):
        assert f"       rewrote   header Location: {url}/new -> desk/new" in words.splitlines()
        assert f"       rewrote   request body: desk -> {url}" in words.splitlines()


async def test_a_session_that_is_not_there_is_named_with_the_nearest(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    none = await project.proctor("session", "show")
    assert (none.status, none.stdout) == (2, "")
    assert f"proctor: no_sessions: no session has ended in {project.root}" in none.stderr
    session = (await record(project, "")).summary["session"]
    wrong = await project.proctor("session", "show", session[:-1] + "~")
    assert (wrong.status, wrong.stdout) == (2, "")
    assert f'proctor: unknown_session: no session "{session[:-1]}~" has ended here' in wrong.stderr
    assert f'did you mean "{session}"?' in wrong.stderr
    told = await project.proctor("session", "show", "nonsense", "--json")
    assert (told.status, json.loads(told.stdout)["error"]["code"]) == (2, "unknown_session")
    climbing = await project.proctor("session", "show", "../../cassettes")
    assert (climbing.status, "unknown_session" in climbing.stderr) == (2, True)


async def test_a_session_whose_files_are_damaged_is_named_without_a_traceback(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    session = (await record(project, "")).summary["session"]
    folder = project.layout.sessions / session
    (folder / "trace.jsonl").unlink()
    missing = await project.proctor("session", "show", "--trace")
    assert ("Traceback" in missing.stderr, "trace.jsonl" in missing.stderr + missing.stdout) == (False, True)
    (folder / "summary.json").write_text('{"session": ')
    torn = await project.proctor("session", "show")
    assert ("Traceback" in torn.stderr, torn.status) == (False, 2)
    assert session in torn.stderr
