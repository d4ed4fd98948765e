"""Proctor puts a credential on in the agent's place: the agent holds none, and no file ever does."""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from proctor.interaction import header
from tests.integration.cli.support import all_files, record, replay
from tests.integration.upstream.support import ask, configure, say_ok
from tests.support import Project, services, serving

REAL = "staging-key.9f8e7d6c5b4a3210"
CALL = """
import urllib.request
asked = urllib.request.Request(os.environ["DESK_URL"] + "/x", headers={"Authorization": "Bearer " + os.environ["KEY"]})
print(urllib.request.urlopen(asked).status, os.environ["KEY"])
"""


async def test_the_service_gets_it_the_agent_a_dummy_and_the_tape_a_placeholder(project: Project) -> None:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers["Authorization"])
        return await say_ok(request)

    async with serving(answer) as url:
        project.configure(services(desk=url) + 'reads = ["*"]\ncredential = "env:KEY"\n')
        done = await record(project, CALL, env={"KEY": REAL})
    assert done.status == 0, done.stderr
    assert seen == [f"Bearer {REAL}"]
    assert done.stdout.splitlines()[0] == "200 proctor-dummy-key"
    (only,) = project.tape("t").interactions
    assert header(only.request.headers, "authorization") == "Bearer proctor-redacted-0001"
    assert json.loads(only.response.body)["as"] == "Bearer proctor-redacted-0001"
    assert [path for path in all_files(project.root) if REAL.encode() in path.read_bytes()] == []
    for environment in ({}, {"KEY": "another-key.0123456789abcdef"}):
        again = await replay(project, CALL, env=environment)
        assert (again.status, again.summary["misses"]) == (0, []), again.stderr


async def test_a_tape_is_as_if_the_agent_had_held_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", REAL)
    async with serving(say_ok) as url:
        configure(project, url, 'credential = "env:KEY"')
        await ask(project, headers={"Authorization": "Bearer of-the-agent-1234567890"})
        put_on = project.tape("t").interactions[0]
        configure(project, url)
        await ask(project, headers={"Authorization": f"Bearer {REAL}"})
        held = project.tape("t").interactions[0]
    assert put_on.request == held.request
    assert put_on.response.body == held.response.body


async def test_header_and_prefix_can_be_said(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", REAL)
    async with serving(say_ok) as url:
        configure(project, url, 'credential = { value = "env:KEY", header = "Authorization", prefix = "Token " }')
        recorded = await ask(project)
    assert json.loads(recorded.body)["as"] == f"Token {REAL}"


async def test_it_is_refused_when_a_session_opens_if_no_header_can_hold_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", REAL + "\n")
    configure(project, "http://127.0.0.1:9", 'credential = "env:KEY"')
    with pytest.raises(Exception, match="no header can have") as raised:
        await ask(project)
    assert REAL not in str(raised.value)
