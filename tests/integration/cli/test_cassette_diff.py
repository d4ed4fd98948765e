"""`proctor cassette diff`: what really changed, of tapes and sessions that real runs left."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from tests.integration.cli.support import error_of, record, replay
from tests.support import Finished, Project, run, services, serving

RUN = """
call(DESK + "/query", {"order": 1, "note": "a"})
call(DESK + "/query", {"order": 2})
call(DESK + "/refund", {"order": 2})
"""


class Changing:
    """A service whose answers hold, each time, another date, id and order of keys; and a status that can be set."""

    def __init__(self) -> None:
        self.status = "shipped"
        self.count = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer any path."""
        self.count += 1
        told = {"status": self.status, "path": request.path}
        told = dict(reversed(told.items())) if self.count % 2 else told
        return web.json_response(told, headers={"X-Request-Id": f"r-{self.count}"})


@pytest.fixture
async def desk(project: Project) -> AsyncIterator[Changing]:
    changing = Changing()
    async with serving(changing.answer) as url:
        project.configure(services(desk=url))
        yield changing


async def diff(project: Project, *arguments: str) -> Finished:
    return await project.proctor("cassette", "diff", *arguments)


async def test_a_recording_made_again_of_the_same_has_no_change(project: Project, desk: Changing) -> None:
    await record(project, RUN, tape="old")
    await record(project, RUN.replace('"order": 1, "note": "a"', '"note": "a", "order": 1'), tape="new")
    files = [project.layout.cassette(name).read_text(encoding="utf-8") for name in ("old", "new")]
    assert files[0] != files[1]
    ended = await diff(project, "old", "new")
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[0] == "0 of 3 interactions really changed"


async def test_each_change_is_told_by_field_and_for_scripts(project: Project, desk: Changing) -> None:
    await record(project, RUN, tape="old")
    desk.status = "lost"
    changed = RUN.replace('"order": 2', '"order": 3', 1).replace("/refund", "/cancel")
    await record(project, changed, tape="new")
    ended = await diff(project, "old", "cassettes/new.yaml")
    assert ended.status == 1
    assert ended.stdout.splitlines() == [
        "4 of 4 interactions really changed",
        "~ #0 desk POST /query: changed",
        '    answer body /status: "shipped" -> "lost"',
        "~ #1 desk POST /query: changed",
        "    request body /order: 2 -> 3",
        '    answer body /status: "shipped" -> "lost"',
        "+ #2 desk POST /cancel: added",
        "- #2 desk POST /refund: removed",
    ]
    as_json = await diff(project, "old", "new", "--json")
    found = json.loads(as_json.stdout)
    assert (as_json.status, found["changed"], found["total"], found["different"]) == (1, 4, 4, True)
    assert found["interactions"][1]["differences"][0] == {"where": "request body /order", "old": 2, "new": 3}
    assert [each["kind"] for each in found["interactions"]] == ["changed", "changed", "added", "removed"]


async def test_another_environment_is_a_change_and_another_host_is_not(project: Project, desk: Changing) -> None:
    plain = (project.root / "proctor.toml").read_text()
    for name in ("staging", "live"):
        project.configure(f'{plain}\n[cassettes]\nenvironment = "{name}"\n')
        await record(project, RUN, tape=name)
    ended = await diff(project, "staging", "live")
    assert ended.status == 1
    assert ended.stdout == '0 of 3 interactions really changed\n* environment: "staging" -> "live"\n'


async def test_a_tape_is_compared_with_a_session_that_replayed_it(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    same = await replay(project, RUN)
    ended = await diff(project, "t", same.summary["session"])
    assert (ended.status, ended.stdout) == (0, "0 of 3 interactions really changed\n")
    other = RUN.replace('"order": 2', '"order": 9', 1).replace('call(DESK + "/refund", {"order": 2})', "")
    missed = await replay(project, other)
    ended = await diff(project, "t", missed.summary["session"])
    assert ended.status == 1
    assert ended.stdout.splitlines() == [
        "2 of 3 interactions really changed",
        "~ #1 desk POST /query: changed",
        "    request body /order: 2 -> 9",
        '    answer refused: nothing -> "not_recorded"',
        "- #2 desk POST /refund: removed",
    ]


async def test_a_tape_is_compared_with_a_session_that_recorded(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    desk.status = "lost"
    again = await record(project, RUN, tape="again")
    ended = await diff(project, "t", again.summary["session"], "--json")
    found = json.loads(ended.stdout)
    assert (ended.status, found["changed"], found["total"]) == (1, 3, 3)
    where = {difference["where"] for each in found["interactions"] for difference in each["differences"]}
    assert where == {"answer body /status"}


async def test_a_recording_that_was_put_aside_is_compared_by_its_file(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    await record(project, RUN + "\nsys.exit(3)")
    ended = await diff(project, "t", ".proctor/aside/t.yaml")
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "0 of 3 interactions really changed")


async def test_files_are_compared_outside_of_any_project(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    elsewhere = project.root / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(project.layout.cassette("t"), elsewhere / "one.yaml")
    (project.root / "proctor.toml").unlink()
    ended = await Project(elsewhere).proctor("cassette", "diff", "one.yaml", "../cassettes/t.yaml")
    assert (ended.status, ended.stdout) == (0, "0 of 3 interactions really changed\n")
    named = await Project(elsewhere).proctor("cassette", "diff", "one.yaml", "t")
    assert (named.status, "no_tape: t is no file" in named.stderr) == (2, True)


async def test_what_cannot_be_compared_ends_with_2_and_says_why(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    unknown = await diff(project, "t", "tt", "--json")
    assert unknown.status == 2
    assert error_of(unknown) == {
        "code": "no_tape",
        "message": '"tt" is no tape, file or session of this project',
        "fix": 'did you mean "t"?',
    }
    path = project.layout.cassette("t")
    path.write_text(path.read_text(encoding="utf-8").replace("shipped", "edited", 1), encoding="utf-8")
    for which in ("t", "cassettes/t.yaml"):
        torn = await diff(project, which, which)
        assert (torn.status, "cassette_changed" in torn.stderr, "#0 (line" in torn.stderr) == (2, True, True)


async def test_a_damaged_trace_is_told(project: Project, desk: Changing) -> None:
    await record(project, RUN)
    ended = await replay(project, RUN)
    (project.layout.sessions / ended.summary["session"] / "trace.jsonl").write_text("{")
    torn = await diff(project, "t", ended.summary["session"])
    assert (torn.status, "session_damaged" in torn.stderr) == (2, True)


async def git(project: Project, *arguments: str) -> str:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"  # git calls `proctor`
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    ended = await run("git", *identity, *arguments, cwd=project.root, env={"PATH": path})
    assert ended.status == 0, ended.stderr
    return ended.stdout


async def in_git(project: Project, source: str, declared: str = "") -> None:
    """A repository whose driver is on, with a tape committed that a run of `source` left."""
    config = project.root / "proctor.toml"
    url = config.read_text().split('url = "')[1].split('"')[0]
    config.unlink()
    assert (await project.proctor("init", "--service", f"desk={url}")).status == 0
    config.write_text(config.read_text().replace("[services.desk]", f"[services.desk]\n{declared}"))
    await git(project, "init", "--quiet")
    await git(project, "config", "diff.proctor.textconv", "proctor cassette text")
    await record(project, source)
    await git(project, "add", ".")
    await git(project, "commit", "--quiet", "--message", "tape")


DATED = """
day, other = {days}
call(DESK + "/ask", {{"text": "Today is " + day, "id": "r-" + day[:2] + other}})
call(DESK + "/slots/" + day, {{"day": day, "note": "of " + other}})
"""


async def test_what_is_declared_to_differ_in_each_run_is_no_change_to_the_diff_nor_to_git(
    project: Project, desk: Changing
) -> None:
    declared = "ignore = ['/id']\nvolatile = [{ at = '/text', pattern = 'Today is (\\S+)' }]\n"
    await in_git(project, DATED.format(days=("2026-11-30", "x")), declared)
    await record(project, DATED.format(days=("2026-12-02", "x")), tape="later")
    ended = await diff(project, "t", "later")
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "0 of 2 interactions really changed")
    await record(project, DATED.format(days=("2026-12-02", "x")))
    assert await git(project, "diff", "--stat", "--no-textconv") != ""
    assert "@@" not in await git(project, "diff")
    await record(project, DATED.format(days=("2026-12-02", "y")))
    assert signed(await git(project, "diff")) == ['->     "note": "of x"', '+>     "note": "of y"']


async def test_git_shows_what_really_changed_and_nothing_else(project: Project, desk: Changing) -> None:
    await in_git(project, RUN)
    await record(project, RUN)
    assert await git(project, "diff", "--stat", "--no-textconv") != ""
    assert "@@" not in await git(project, "diff")
    desk.status = "lost"
    await record(project, RUN.replace('"order": 1', '"order": 7'))
    shown = await git(project, "diff")
    assert signed(shown) == [
        '->     "order": 1',
        '+>     "order": 7',
        *['-<     "status": "shipped"', '+<     "status": "lost"'] * 3,
    ]
    await git(project, "commit", "--quiet", "--all", "--message", "again")
    assert signed(await git(project, "log", "--patch", "--max-count=1", "cassettes")) == signed(shown)


def signed(shown: str) -> list[str]:
    """The lines that a diff takes out or puts in."""
    return [line for line in shown.splitlines() if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")]
