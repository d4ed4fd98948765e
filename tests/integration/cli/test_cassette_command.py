"""`proctor cassette`: every tape listed, broken ones named, each readable on the terminal and as JSON."""

from __future__ import annotations

import json

from tests.integration.cli.support import Desk, error_of, record
from tests.support import Project, services, serving

TALK = """
call(DESK + "/tools/query_order_lines", {"order": "A1"})
call(DESK + "/customers/premium/addresses?page=1", headers={"Authorization": "Bearer a-long-secret-000"}.items())
call(LINE + "/b")
"""


async def recorded(project: Project, *tapes: str) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url, line=url))
        for tape in tapes:
            assert (await record(project, TALK, tape=tape)).status == 0


async def test_ls_lists_every_tape_and_ends_with_2_where_one_is_broken(project: Project) -> None:
    await recorded(project, "refund", "suite/case")
    good = await project.proctor("cassette", "ls")
    assert (good.status, [line.split()[0] for line in good.stdout.splitlines()]) == (0, ["refund", "suite/case"])
    assert "3 interactions" in good.stdout
    assert "desk 2, line 1" in good.stdout
    project.layout.cassette("broken").write_bytes(b"\xff")
    words = await project.proctor("cassette", "ls")
    assert (words.status, [line.split()[0] for line in words.stdout.splitlines()]) == (
        2,
        ["broken", "refund", "suite/case"],
    )
    assert "cassette_not_utf8" in words.stdout.splitlines()[0]
    told = await project.proctor("cassette", "ls", "--json")
    entries = [json.loads(line) for line in told.stdout.splitlines()]
    assert (told.status, entries[0]["error"]["code"]) == (2, "cassette_not_utf8")
    assert entries[1]["services"] == {"desk": 2, "line": 1}
    assert (entries[1]["name"], entries[1]["interactions"]) == ("refund", 3)
    assert entries[1]["bytes"] == project.layout.cassette("refund").stat().st_size
    assert entries[1]["recorded_at"] == project.tape("refund").recorded_at


async def test_a_tape_that_was_recorded_against_another_environment_than_its_folder_is_warned_of(
    project: Project,
) -> None:
    told = []
    async with serving(Desk().answer) as url:
        for tape, environment in (("suite/a", "staging"), ("suite/b", "staging"), ("suite/c", "dev")):
            project.configure(f'{services(desk=url, line=url)}\n[cassettes]\nenvironment = "{environment}"\n')
            done = await record(project, TALK, tape=tape)
            assert done.status == 0, done.stderr
            told.append(done.stderr)
    warning = 'cassettes/suite/ mixes the environment: "staging" (2), "dev" (1); '
    warning += "record again: proctor record --again suite/c"
    assert ["mixes" in each for each in told] == [False, False, True]
    assert f"  note        {warning}\n" in told[-1]
    listed = await project.proctor("cassette", "ls")
    assert (listed.status, listed.stderr) == (0, f"warning: {warning}\n")


async def test_ls_without_a_tape_says_how_to_make_one(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    ended = await project.proctor("cassette", "ls")
    assert (ended.status, ended.stdout) == (0, "")
    assert "no cassettes yet; record one: proctor record --cassette NAME -- COMMAND" in ended.stderr
    told = await project.proctor("cassette", "ls", "--json")
    assert (told.status, told.stdout) == (0, "")


async def test_ls_lists_the_others_beside_a_file_whose_name_no_tape_can_have(project: Project) -> None:
    await recorded(project, "refund")
    (project.layout.cassettes / "my tape.yaml").write_text("version: 1\n")
    ended = await project.proctor("cassette", "ls")
    assert ended.status == 2
    assert [line.split()[0] for line in ended.stdout.splitlines()] == ["my", "refund"]


async def test_show_prints_a_line_an_interaction_with_whole_names(project: Project) -> None:
    await recorded(project, "refund")
    ended = await project.proctor("cassette", "show", "refund")
    assert (ended.status, ended.stderr) == (0, "")
    assert f"refund, recorded {project.tape('refund').recorded_at}" in ended.stdout
    rows = [line for line in ended.stdout.splitlines() if line.split()[:1] in (["0"], ["1"], ["2"])]
    assert len(rows) == 3
    assert "POST /tools/query_order_lines" in rows[0]
    assert "read (guessed)" in rows[0]
    assert "GET /customers/premium/addresses" in rows[1]
    assert "read (method)" in rows[1]
    assert [row.split()[1] for row in rows] == ["desk", "desk", "line"]


async def test_show_prints_one_interaction_whole_with_placeholders(project: Project) -> None:
    await recorded(project, "refund")
    ended = await project.proctor("cassette", "show", "cassettes/refund.yaml", "--index", "1")
    assert ended.status == 0
    assert ended.stdout.startswith("desk GET /customers/premium/addresses: read (method)\n")
    assert "/customers/premium/addresses?page=1\n" in ended.stdout
    assert "> Authorization: Bearer proctor-redacted-0001" in ended.stdout
    assert "< 200 OK" in ended.stdout
    assert '<     "path": "/customers/premium/addresses"' in ended.stdout


async def test_show_as_json_is_an_object_an_interaction(project: Project) -> None:
    await recorded(project, "refund")
    ended = await project.proctor("cassette", "show", "refund", "--json")
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(row["index"], row["service"], row["status"]) for row in rows] == [
        (0, "desk", 200),
        (1, "desk", 200),
        (2, "line", 200),
    ]
    assert (rows[0]["arguments"], rows[0]["effect"]) == ({"order": "A1"}, "read")
    one = await project.proctor("cassette", "show", "refund", "--json", "--index", "2")
    assert [json.loads(line) for line in one.stdout.splitlines()] == [rows[2]]


async def test_show_names_the_range_of_an_index_and_the_nearest_tape(project: Project) -> None:
    await recorded(project, "refund")
    for index in ("3", "-1"):
        error = error_of(await project.proctor("cassette", "show", "refund", "--json", "--index", index))
        assert (error["code"], f"interactions 0 to 2, not {index}" in error["message"]) == ("no_interaction", True)
    words = await project.proctor("cassette", "show", "refund", "--index", "3")
    assert (words.status, words.stdout) == (2, "")
    assert "proctor: no_interaction: refund has interactions 0 to 2, not 3" in words.stderr
    missing = await project.proctor("cassette", "show", "refnd")
    assert (missing.status, 'did you mean "refund"?' in missing.stderr) == (2, True)
