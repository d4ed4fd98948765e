"""A tape that cannot be believed is named with its fault; nothing of it is served, and no command is run."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.integration.cli.support import Desk, error_of, kept, record, replay
from tests.support import Finished, Project, services, serving

RAN = 'open("ran", "w").close(); call(DESK + "/a")'


def changed(old: bytes) -> bytes:
    assert b"/a" in old
    return old.replace(b'"path": "/a"', b'"path": "/z"')


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "undecodable": (lambda old: old.replace(b"interactions", b"\xff\xfe", 1), "cassette_not_utf8", "is not UTF-8"),
    "no yaml": (lambda old: old.replace(b"version: 1", b"version: [1", 1), "cassette_not_yaml", "not YAML"),
    "binary": (lambda old: b"\x00\x01\x02" * 100, "cassette_not_yaml", "not YAML"),
    "empty": (lambda old: b"", "cassette_shape", "no cassette"),
    "short": (
        lambda old: old[: old.index(b"- request", old.index(b"- request") + 1)],
        "cassette_short",
        "holds 1: the former #1 is gone",
    ),
    "changed": (changed, "cassette_changed", "#0 (line "),
    "newer": (lambda old: old.replace(b"v: 1", b"v: 99", 1), "cassette_newer", "format 99"),
    "version": (lambda old: old.replace(b"version: 1", b"version: 2", 1), "cassette_version", "version 2"),
    "conflict": (lambda old: b"<<<<<<< HEAD\n" + old, "cassette_conflict", "line 1: an unresolved merge conflict"),
}


async def recorded(project: Project, tape: str = "refund") -> bytes:
    """A tape of two requests, whose service is then gone."""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a"); call(DESK + "/b")', tape=tape)).status == 0
    return project.layout.cassette(tape).read_bytes()


def assert_never_run(project: Project, ended: Finished) -> None:
    assert (ended.status, (project.root / "ran").exists()) == (2, False)
    assert list(project.layout.journals.iterdir()) == []


async def test_a_missing_tape_is_named_with_the_nearest_and_the_command(project: Project) -> None:
    await recorded(project)
    ended = await replay(project, RAN, tape="refnd")
    error = error_of(ended)
    assert error["code"] == "cassette_missing"
    assert str(project.layout.cassette("refnd")) in error["message"]
    assert 'did you mean "refund"?' in error["message"]
    assert "proctor record --cassette refnd -- COMMAND" in error["fix"]
    assert_never_run(project, ended)


async def test_every_kind_of_broken_tape_is_refused_by_name_and_left_as_it_is(project: Project) -> None:
    old = await recorded(project)
    path = project.layout.cassette("refund")
    for kind, (break_it, code, told) in BROKEN.items():
        broken = break_it(old)
        assert broken != old, kind
        path.write_bytes(broken)
        ended = await replay(project, RAN, tape="refund")
        error = error_of(ended)
        assert error["code"] == code, kind
        assert str(path) in error["message"], kind
        assert told in error["message"], kind
        assert_never_run(project, ended)
        assert path.read_bytes() == broken, kind


async def test_a_tape_of_another_cassette_version_says_what_to_do_about_it(project: Project) -> None:
    old = await recorded(project)
    project.layout.cassette("refund").write_bytes(old.replace(b"version: 1", b"version: 2", 1))
    assert error_of(await replay(project, RAN, tape="refund"))["fix"]


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 0.95])
async def test_a_tape_torn_at_any_place_is_refused(project: Project, share: float) -> None:
    old = await recorded(project)
    project.layout.cassette("refund").write_bytes(old[: int(len(old) * share)])
    ended = await replay(project, RAN, tape="refund")
    assert error_of(ended)["code"].startswith("cassette_")
    assert_never_run(project, ended)


async def test_a_broken_tape_is_told_in_words_with_the_way_out(project: Project) -> None:
    old = await recorded(project)
    project.layout.cassette("refund").write_bytes(changed(old))
    for command in (("replay", "--cassette", "refund", "--", "true"), ("cassette", "show", "refund")):
        ended = await project.proctor(*command)
        assert (ended.status, ended.stdout) == (2, "")
        assert ended.stderr.startswith("proctor: cassette_changed: ")
        assert "proctor cassette seal refund; else restore it from version control, or record it again" in ended.stderr


async def test_recording_over_a_broken_tape_mends_it(project: Project) -> None:
    await recorded(project)
    project.layout.cassette("refund").write_bytes(b"\xff")
    await recorded(project)
    assert len(project.tape("refund").interactions) == 2
    assert kept(project) == ["cassettes/refund.yaml"]


RECOVERING = """
import subprocess
call(DESK + "/a")
done = subprocess.run([sys.executable, "-m", "proctor", "cassette", "recover"], capture_output=True, text=True)
print(json.dumps([done.returncode, done.stdout, done.stderr]))
call(DESK + "/b")
"""


async def test_the_journal_of_a_recording_that_still_runs_is_left_alone_by_recover(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, RECOVERING)
    status, stdout, stderr = json.loads(ended.stdout.splitlines()[0])
    assert "proctor: journal_in_use: " in stderr
    assert "belongs to a recording that is still running" in stderr
    assert "let it end" in stderr
    assert stdout == ""
    assert (ended.status, len(project.tape("t").interactions)) == (0, 2)
    assert kept(project) == ["cassettes/t.yaml"]
    assert status == 2, "a recording that still runs is no failure of Proctor's own"


async def test_recover_names_what_it_cannot_recover(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    ended = await project.proctor("cassette", "recover")
    assert (ended.status, "no_journal" in ended.stderr) == (2, True)
    assert "no recording was cut off" in ended.stderr
    project.layout.journals.mkdir(parents=True)
    for name in ("one.jsonl", "two.jsonl"):
        (project.layout.journals / name).write_bytes(b'{"line": "what"}\n')
    several = await project.proctor("cassette", "recover")
    assert (several.status, "one.jsonl, two.jsonl" in several.stderr) == (2, True)
    wrong = await project.proctor("cassette", "recover", "tow.jsonl")
    assert (wrong.status, 'did you mean "two.jsonl"?' in wrong.stderr) == (2, True)
    damaged = await project.proctor("cassette", "recover", "one.jsonl")
    assert (damaged.status, "journal_headless" in damaged.stderr) == (4, True)
    assert "Traceback" not in damaged.stderr
    assert len(kept(project)) == 2
