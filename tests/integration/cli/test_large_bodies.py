"""A large body is named while recording; where the project says so, it lies beside the tape and replays the same."""

from __future__ import annotations

from aiohttp import web

from tests.integration.cli.support import Desk, record, replay
from tests.support import Project, services, serving

LARGE = 1_300_000
ASK = f'print(len(call(DESK + "/large", "x" * {LARGE})[1]))'


async def large(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    return web.Response(body=body[:-1] + b"!", content_type="text/plain")


async def test_bodies_over_a_megabyte_are_named_in_the_summary(project: Project) -> None:
    async with serving(large) as url:
        project.configure(services(desk=url))
        ended = await record(project, ASK)
    assert ended.status == 0
    first, second = ended.summary["notes"]
    assert "#0 desk POST /large: the request has 1.3 MB" in first
    assert "#0 desk POST /large: the answer has 1.3 MB" in second
    assert "body_files_over" in first
    assert project.layout.cassette("t").stat().st_size > 2 * LARGE


async def test_bodies_over_the_declared_size_lie_beside_the_tape_and_replay_the_same(project: Project) -> None:
    async with serving(large) as url:
        project.configure(services(desk=url) + "[cassettes]\nbody_files_over = 100_000\n")
        ended = await record(project, ASK)
    assert (ended.status, ended.summary["notes"]) == (0, [])
    assert project.layout.cassette("t").stat().st_size < 3000
    assert len(list((project.layout.cassettes / "t.bodies").iterdir())) == 2
    again = await replay(project, ASK)
    assert (again.status, again.stdout.splitlines()[0]) == (0, ended.stdout.splitlines()[0])
    next((project.layout.cassettes / "t.bodies").iterdir()).unlink()
    refused = await replay(project, ASK)
    assert (refused.status, "cassette_body_missing" in refused.stdout) == (2, True)


async def test_the_environment_of_a_recording_is_on_its_tape(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url) + '[cassettes]\nenvironment = "env:WHERE"\n')
        assert (await record(project, 'call(DESK + "/a")', env={"WHERE": "staging-2"})).status == 0
    stamp = project.tape("t").stamp
    assert stamp["environment"] == "staging-2"
    assert stamp["command"].startswith("python")
    assert stamp["host"]
