"""A run in which a service, or everything, stayed silent never ends green."""

from __future__ import annotations

from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Project, services, serving

BOTH = 'assert call(DESK + "/a")[0] == 200; assert call(LINE + "/b")[0] == 200'
ONE = 'assert call(DESK + "/a")[0] == 200'


async def test_a_service_that_was_never_asked_fails_the_recording_and_the_old_tape_stays(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url, line=url))
        good = await record(project, BOTH)
        assert (good.status, good.summary["services_unused"], kept(project)) == (0, [], ["cassettes/t.yaml"])
        old = project.layout.cassette("t").read_bytes()
        ended = await record(project, ONE)
    assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (3, 3, 0)
    assert ended.summary["services_unused"] == ["line"]
    assert 'service "line" was never asked' in ended.stderr
    assert "--allow-unused" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old, "a tape without the service replaced the good one"


async def test_allow_unused_lets_a_recording_pass_without_one_of_its_services(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url, line=url))
        ended = await record(project, ONE, "--allow-unused")
    assert (ended.status, ended.summary["services_unused"], ended.summary["reasons"]) == (0, ["line"], [])
    assert project.tape("t").services == ("desk",)
    assert kept(project) == ["cassettes/t.yaml"]


async def test_a_service_on_the_tape_that_is_never_asked_fails_the_replay(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url, line=url))
        assert (await record(project, BOTH)).status == 0
    old = project.layout.cassette("t").read_bytes()
    ended = await replay(project, ONE)
    assert (ended.status, ended.summary["services_unused"]) == (3, ["line"])
    assert ended.summary["unused"] == ["#1 line GET /b"]
    assert 'service "line" was never asked' in ended.stderr
    assert "--allow-unused" in ended.stderr
    allowed = await replay(project, ONE, "--allow-unused")
    assert (allowed.status, allowed.summary["services_unused"], allowed.summary["hits"]) == (0, ["line"], 1)
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == ["cassettes/t.yaml"]


async def test_a_recording_without_any_request_is_no_recording_even_if_unused_is_allowed(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, ONE)).status == 0
        old = project.layout.cassette("t").read_bytes()
        for options in ((), ("--allow-unused",)):
            ended = await record(project, "", *options)
            assert (ended.status, ended.summary["exchanges"], ended.summary["sealed"]) == (3, 0, "")
            assert ended.summary["aside_reasons"] == ["nothing was recorded"]
            assert "no request reached the proxy at all" in ended.stderr
            assert "proctor env" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == ["cassettes/t.yaml"]


async def test_a_replay_without_any_request_fails_even_if_unused_is_allowed(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, ONE)).status == 0
    for options in ((), ("--allow-unused",)):
        ended = await replay(project, "", *options)
        assert (ended.status, ended.summary["exchanges"], ended.summary["hits"]) == (3, 0, 0)
        assert "no request reached the proxy at all" in ended.stderr
        assert "proctor env" in ended.stderr
    assert kept(project) == ["cassettes/t.yaml"]


async def test_a_request_to_an_address_that_belongs_to_no_service_fails_and_names_the_nearest(project: Project) -> None:
    stray = 'call(DESK + "/a"); print(call(os.environ["PROCTOR_SESSION_URL"] + "/desc/a")[0])'
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, stray)
        assert (ended.status, ended.stdout.splitlines()[0]) == (3, "404")
        assert 'the session has no service "desc"' in ended.stderr
        assert 'did you mean "desk"?' in ended.stderr
        assert not project.layout.cassette("t").exists(), "sealed although a call went astray"
