"""Where several statuses hold, the command ends with the first of 4, 2, 3, the child's own, 1, and prints both."""

from __future__ import annotations

import pytest

from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Project, services, serving


async def recorded(project: Project) -> None:
    """A tape of one GET /a, whose service is then gone."""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a")')).status == 0


@pytest.mark.parametrize("own", [1, 2, 4, 7])
async def test_a_miss_goes_before_the_childs_own_status_and_both_are_printed(project: Project, own: int) -> None:
    await recorded(project)
    ended = await replay(project, f'call(DESK + "/b"); sys.exit({own})')
    assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (3, 3, own)
    assert f"status      3 (the command's own: {own})" in ended.stderr
    assert f"the command ended with status {own}" in ended.stderr
    assert ended.summary["reasons"][0].startswith("miss")


async def test_the_childs_own_status_goes_before_a_service_that_is_down(project: Project) -> None:
    async with serving(Desk().answer) as closed:
        pass
    project.configure(services(desk=closed))
    ended = await record(project, 'call(DESK + "/a"); sys.exit(9)')
    assert (ended.status, ended.summary["command_status"]) == (9, 9)
    assert [reason.partition("\n")[0] for reason in ended.summary["reasons"][:2]] == [
        "the command ended with status 9",
        ended.summary["errors"][0]["message"],
    ]


@pytest.mark.req(50)
async def test_our_own_failure_goes_before_everything_and_keeps_the_journal(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        project.layout.ensure_state()
        project.layout.aside.write_text("a file where the folder should be")
        ended = await record(project, 'call(DESK + "/a"); call("http://tool.invalid/"); sys.exit(7)')
        assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (4, 4, 7)
        assert "status      4 (the command's own: 7)" in ended.stderr
        assert "could not be written" in ended.stderr
        assert [error["code"] for error in ended.summary["errors"]] == ["seal_failed"]
        (journal,) = project.layout.journals.iterdir()
        assert f"proctor cassette recover {journal.name}" in ended.stderr
        assert "Traceback" not in ended.stderr
        project.layout.aside.unlink()
        recovered = await project.proctor("cassette", "recover", journal.name)
    assert recovered.status == 1
    assert "recovered 1 exchanges: kept aside in .proctor/aside/t.yaml" in recovered.stdout
    assert "not sealed: GET went to tool.invalid:80" in recovered.stdout
    assert kept(project) == [".proctor/aside/t.yaml"]


async def test_what_a_crashed_command_recorded_is_not_sealed_by_a_later_recovery_either(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        project.layout.ensure_state()
        project.layout.aside.write_text("a file where the folder should be")
        ended = await record(project, 'call(DESK + "/a"); sys.exit(7)')
    assert (ended.status, ended.summary["command_status"]) == (4, 7)
    project.layout.aside.unlink()
    recovered = await project.proctor("cassette", "recover")
    assert (recovered.status, kept(project)) == (1, [".proctor/aside/t.yaml"])
    assert "not sealed: the command ended with status 7" in recovered.stdout


async def test_a_clean_recording_that_the_disk_refuses_is_our_failure_and_can_be_recovered(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        spoilt = f'open({str(project.layout.cassettes)!r}, "w").close(); call(DESK + "/a")'
        ended = await record(project, spoilt)
    assert (ended.status, ended.summary["command_status"], ended.summary["sealed"]) == (4, 0, "")
    project.layout.cassettes.unlink()
    recovered = await project.proctor("cassette", "recover")
    assert (recovered.status, kept(project)) == (0, ["cassettes/t.yaml"])
    assert "recovered 1 exchanges: sealed cassettes/t.yaml" in recovered.stdout


async def test_a_wrong_name_ends_before_the_command_is_run_at_all(project: Project) -> None:
    await recorded(project)
    ran = project.root / "ran"
    ended = await replay(project, f'open({str(ran)!r}, "w"); sys.exit(7)', tape="u")
    assert (ended.status, ran.exists()) == (2, False)
