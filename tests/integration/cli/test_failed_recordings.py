"""A recording that went wrong never becomes a tape: the old one stays, and the reasons are told."""

from __future__ import annotations

import pytest

from tests.integration.cli.support import Desk, break_off, kept, put_aside, record, replay
from tests.support import Project, services, serving

OLD = 'assert call(DESK + "/old")[0] == 200'


async def with_an_old_tape(project: Project, **urls: str) -> bytes:
    """Configure and record a good tape; gives its bytes."""
    project.configure(services(**urls))
    assert (await record(project, OLD, "--allow-unused")).status == 0
    return project.layout.cassette("t").read_bytes()


@pytest.mark.parametrize(
    ("death", "status"),
    [
        ("sys.exit(7)", 7),
        ('raise RuntimeError("agent broke")', 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137),
        ("signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTERM)", 143),
    ],
    ids=["exit", "exception", "SIGKILL", "SIGTERM"],
)
async def test_a_command_that_dies_passes_its_status_on_and_its_recording_is_put_aside(
    project: Project, death: str, status: int
) -> None:
    async with serving(Desk().answer) as url:
        old = await with_an_old_tape(project, desk=url)
        ended = await record(project, f'call(DESK + "/new"); {death}')
    assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (status, status, status)
    reason = f"the command ended with status {status}"
    assert ended.summary["aside_reasons"] == [reason]
    assert (ended.summary["sealed"], ended.summary["recorded"]) == ("", 1)
    assert reason in ended.stderr
    assert "kept aside  .proctor/aside/t.yaml; the old tape is as it was" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    assert reason in put_aside(project.layout)
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]


async def test_a_crashed_replay_passes_the_commands_status_on(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await with_an_old_tape(project, desk=url)
    for death, status in (("sys.exit(7)", 7), ("os.kill(os.getpid(), signal.SIGKILL)", 137)):
        ended = await replay(project, f"{OLD}; {death}")
        assert (ended.status, ended.summary["hits"]) == (status, 1)
        assert f"the command ended with status {status}" in ended.stderr


@pytest.mark.parametrize("status", [401, 403])
async def test_a_service_that_only_refuses_is_not_recorded_though_another_answers(
    project: Project, status: int
) -> None:
    line = Desk(answers={"/b": [status], "/c": [403]})
    async with serving(Desk().answer) as good, serving(line.answer) as refusing:
        old = await with_an_old_tape(project, desk=good, line=refusing)
        ended = await record(project, 'call(DESK + "/a"); call(LINE + "/b"); call(LINE + "/c")')
    told = "401 and 403" if status == 401 else "403"
    reason = f'service "line" answered nothing but {told}: the credentials are missing or stale'
    assert (ended.status, ended.summary["aside_reasons"]) == (1, [reason])
    assert f"not sealed: {reason}" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]


async def test_a_reason_is_told_once_however_often_the_agent_asked_again(project: Project) -> None:
    async with serving(break_off) as url:
        project.configure(services(line=url))
        ended = await record(project, 'for _ in range(3): call(LINE + "/x")')
    reasons = ended.summary["aside_reasons"]
    assert len(reasons) == len(set(reasons))
    assert ended.stderr.count("not sealed: line GET /x: the real service broke off") == 1


async def test_one_refusal_among_good_answers_is_recorded_as_it_was(project: Project) -> None:
    async with serving(Desk(answers={"/b": [403]}).answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, 'call(DESK + "/a"); call(DESK + "/b")')
    assert (ended.status, ended.summary["recorded"]) == (0, 2)
    assert [i.response.status for i in project.tape("t").interactions] == [200, 403]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_outage_as_the_last_word_to_a_request_is_not_recorded(project: Project, status: int) -> None:
    async with serving(Desk(answers={"/b": [200, status]}).answer) as url:
        old = await with_an_old_tape(project, desk=url)
        ended = await record(project, 'call(DESK + "/a"); call(DESK + "/b"); call(DESK + "/b")')
    (reason,) = ended.summary["aside_reasons"]
    assert ended.status == 1
    assert f"#2 desk GET /b: the last answer was {status}" in reason
    assert f"expected_status = [{status}] under [services.desk]" in reason
    assert reason in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]


async def test_an_outage_that_the_configuration_expects_is_recorded_and_replayed(project: Project) -> None:
    source = 'assert call(DESK + "/b")[0] == 503'
    async with serving(Desk(answers={"/b": [503]}).answer) as url:
        project.configure(services(desk=url) + "expected_status = [503]\n")
        ended = await record(project, source)
    assert (ended.status, ended.summary["aside_reasons"]) == (0, [])
    assert kept(project) == ["cassettes/t.yaml"]
    assert (await replay(project, source)).status == 0


async def test_a_rate_limit_that_a_retry_overcame_is_recorded_and_replayed_in_order(project: Project) -> None:
    source = 'assert [call(DESK + "/b")[0], call(DESK + "/b")[0]] == [429, 200]'
    async with serving(Desk(answers={"/b": [429, 200]}).answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, source)
    assert (ended.status, kept(project)) == (0, ["cassettes/t.yaml"])
    assert [i.response.status for i in project.tape("t").interactions] == [429, 200]
    assert (await replay(project, source)).status == 0


@pytest.mark.req(84)
async def test_an_answer_that_broke_off_is_kept_aside_though_the_agent_ends_well(project: Project) -> None:
    async with serving(Desk().answer) as good, serving(break_off) as url:
        old = await with_an_old_tape(project, desk=good, line=url)
        ended = await record(project, 'call(DESK + "/a"); assert call(LINE + "/b")[0] == 0')
    assert (ended.status, ended.summary["command_status"]) == (1, 0)
    assert ended.summary["errors"][0]["code"] == "answer_cut"
    assert any("#1 line GET /b: the answer broke off" in reason for reason in ended.summary["aside_reasons"])
    assert "the real service broke off" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]


async def test_a_service_that_is_down_is_a_named_502_and_nothing_is_sealed(project: Project) -> None:
    async with serving(Desk().answer) as closed:
        pass
    source = 'status, body = call(DESK + "/a"); print(status, json.loads(body)["error"])'
    project.configure(services(desk=closed))
    ended = await record(project, source)
    assert ended.stdout.splitlines()[0] == "502 upstream_unreachable"
    assert (ended.status, ended.summary["command_status"]) == (1, 0)
    (error,) = ended.summary["errors"]
    assert (error["code"], error["count"]) == ("upstream_unreachable", 1)
    assert f'service "desk" at {closed} did not answer' in ended.stderr
    assert "see that it runs and that [services.desk] has its address" in ended.stderr
    assert "nothing was recorded" in ended.summary["aside_reasons"]
    assert kept(project) == []


async def test_a_service_that_goes_down_on_the_way_leaves_the_old_tape(project: Project) -> None:
    async with serving(Desk().answer) as closed:
        pass
    async with serving(Desk().answer) as url:
        old = await with_an_old_tape(project, desk=url, line=closed)
        ended = await record(project, 'call(DESK + "/a"); call(LINE + "/b"); call(LINE + "/b")')
    assert (ended.status, ended.summary["errors"][0]["count"]) == (1, 2)
    assert ended.stderr.count(f'service "line" at {closed} did not answer') >= 1
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]
