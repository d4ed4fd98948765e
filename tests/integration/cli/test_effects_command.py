"""What calls do is shown after a recording and by `proctor effects`, which declares what is guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.cli.support import Desk, error_of, record, replay
from tests.support import Project, serving

CALLS = """
call(DESK + "/tools/query_order", {"id": 1})
call(DESK + "/tools/refund", {"id": 1})
call(DESK + "/tools/pay", {"id": 1})
call(DESK + "/orders/7/cancel", {})
call(DESK + "/orders/8/cancel", {})
call(DESK + "/orders")
"""
TOML = """\
# Our desk.
[services.desk]
url = "{url}"
env = ["DESK_URL"]
tools = "POST /tools/{{tool}}"
writes = ["pay"]  # money

# The rest.
[cassettes]
environment = "staging"
"""


async def recorded(project: Project, source: str = CALLS, tape: str = "t") -> str:
    """Record one tape; gives what the summary said."""
    async with serving(Desk().answer) as url:
        project.configure(TOML.format(url=url))
        ended = await record(project, source, tape=tape)
    assert ended.status == 0, ended.stderr
    return ended.stderr


async def told(project: Project, *arguments: str) -> dict[str, Any]:
    """`proctor effects --json`."""
    ended = await project.proctor("effects", "--json", *arguments)
    assert (ended.status, ended.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


async def test_a_recording_ends_with_a_table_and_the_lines_that_confirm_the_guesses(project: Project) -> None:
    shown = [line.strip() for line in (await recorded(project)).splitlines()]
    table = shown.index("effects     service  call                   effect  why       calls")
    assert [line.split() for line in shown[table + 1 : table + 6]] == [
        ["desk", "GET", "/orders", "read", "method", "1"],
        ["desk", "POST", "/orders/*/cancel", "write", "guessed", "2"],
        ["desk", "pay", "write", "declared", "1"],
        ["desk", "query_order", "read", "guessed", "1"],
        ["desk", "refund", "write", "guessed", "1"],
    ]
    assert shown[table + 6].startswith("guessed     where the guesses are right, declare them: proctor effects --write")
    assert shown[table + 7 : table + 10] == [
        "[services.desk]",
        'reads = ["query_order"]',
        'writes = ["pay", "POST /orders/*/cancel", "refund"]',
    ]


async def test_the_printed_lines_in_place_of_the_old_ones_leave_nothing_guessed(project: Project) -> None:
    shown = (await recorded(project)).splitlines()
    lines = [line.strip() for line in shown if line.strip().startswith(("reads =", "writes ="))]
    path = project.root / "proctor.toml"
    path.write_text(path.read_text().replace('writes = ["pay"]  # money', "\n".join(lines)))
    assert {each["why"] for each in (await told(project))["effects"]} == {"declared", "method"}


async def test_write_declares_them_once_keeps_the_file_and_replay_then_takes_them_as_declared(project: Project) -> None:
    await recorded(project)
    path = project.root / "proctor.toml"
    old = path.read_text()
    twice = 'print([call(DESK + "/tools/refund", {"id": 1})[0] for _ in range(2)])'
    assert (await replay(project, twice)).stdout.splitlines()[0] == "[200, 200]", "a guessed write repeats"
    ended = await project.proctor("effects", "--write")
    assert ended.status == 0
    assert "declared in proctor.toml" in ended.stdout
    assert '  writes = ["pay", "POST /orders/*/cancel", "refund"]' in ended.stdout.splitlines()
    new = path.read_text()
    assert new == old.replace(
        '["pay"]  # money', '["pay", "POST /orders/*/cancel", "refund"]  # money\nreads = ["query_order"]'
    )
    again = await project.proctor("effects", "--write")
    assert (again.status, path.read_text()) == (0, new)
    assert "no effect is guessed: there is nothing to confirm" in again.stdout
    assert (await replay(project, twice)).stdout.splitlines()[0] == "[200, 422]", "a declared one answers once"


async def test_the_table_is_by_todays_configuration_and_for_the_tapes_named(project: Project) -> None:
    await recorded(project)
    await recorded(project, 'call(DESK + "/tools/other", {})', tape="more")
    names = {each["name"]: each for each in (await told(project))["effects"]}
    assert {"other", "refund", "pay"} <= set(names)
    assert [each["name"] for each in (await told(project, "cassettes/more.yaml"))["effects"]] == ["other"]
    path = project.root / "proctor.toml"
    path.write_text(path.read_text().replace('["pay"]', '["other"]'))
    now = await told(project)
    assert [(each["why"]) for each in now["effects"] if each["name"] == "other"] == ["declared"]
    assert now["confirm"]["desk"] == {"reads": ["query_order"], "writes": ["POST /orders/*/cancel", "pay", "refund"]}
    assert now["written"] is False
    assert (await told(project, "--write"))["written"] is True
    assert (await told(project, "--write"))["written"] is False


async def test_a_service_that_is_gone_is_shown_and_never_written(project: Project) -> None:
    await recorded(project)
    path = project.root / "proctor.toml"
    path.write_text('[services.other]\nurl = "http://x.test"\n')
    ended = await project.proctor("effects", "--write")
    assert ended.status == 0
    assert "by hand only: their service is not in proctor.toml" in ended.stdout
    assert path.read_text() == '[services.other]\nurl = "http://x.test"\n'


@pytest.mark.parametrize(
    ("lists", "named"),
    [
        ('reads = ["pay"]\nwrites = ["pay"]', '"pay" stands in reads, and "pay" in writes'),
        ('reads = ["get_ticket"]\nwrites = ["get_*"]', '"get_ticket" stands in reads, and "get_*" in writes'),
        ('reads = ["query_*"]\nwrites = ["*"]', '"query_*" stands in reads, and "*" in writes'),
    ],
)
async def test_a_name_in_reads_and_writes_is_an_error_that_names_both(lists: str, named: str, project: Project) -> None:
    project.configure(f'[services.desk]\nurl = "http://x.test"\n{lists}\n')
    error = error_of(await project.proctor("effects", "--json"))
    assert (error["code"], named in error["message"]) == ("config_bad_value", True)
    assert "services.desk" in error["message"]


async def test_no_tape_and_a_tape_that_is_not_there_are_said(project: Project) -> None:
    project.configure('[services.desk]\nurl = "http://x.test"\n')
    none = await project.proctor("effects", "--write")
    assert (none.status, none.stdout) == (0, "")
    assert "no cassettes yet" in none.stderr
    missing = await project.proctor("effects", "refnd", "--json")
    assert (missing.status, error_of(missing)["code"]) == (2, "cassette_missing")
