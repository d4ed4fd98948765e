"""A tape that somebody edited, or a recording that was put aside: sealed again on purpose only, and shown."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

from proctor.cassette import save_cassette
from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Finished, Project, services, serving

TWO = 'call(DESK + "/a", {"n": 1}); call(DESK + "/b", {"n": 2})'


async def recorded(project: Project, source: str = TWO, **answers: list[int]) -> Finished:
    async with serving(Desk({f"/{path}": statuses for path, statuses in answers.items()}).answer) as url:
        project.configure(services(desk=url))
        return await record(project, source)


def edit(project: Project, old: str, new: str) -> None:
    path = project.layout.cassette("t")
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def committed(project: Project) -> None:
    for command in (
        ["init", "-q"],
        ["config", "user.email", "a@b.test"],
        ["config", "user.name", "a"],
        ["add", "cassettes"],
        ["commit", "-qm", "tape"],
    ):
        subprocess.run(["git", *command], cwd=project.root, check=True, capture_output=True)


async def test_an_edited_answer_is_served_once_it_is_sealed_again_with_its_length_made_true(project: Project) -> None:
    await recorded(project)
    committed(project)
    edit(project, '"path": "/b"', '"path": "/edited"')
    refused = await replay(project, TWO)
    assert (refused.status, "#1 (line 3" in refused.stdout) == (2, True)
    sealed = await project.proctor("cassette", "seal", "t")
    assert (sealed.status, sealed.stderr) == (0, "")
    assert '-<     "path": "/b",' in sealed.stdout
    assert '+<     "path": "/edited",' in sealed.stdout
    assert "changed: #1 (line 3" in sealed.stdout
    assert sealed.stdout.endswith("sealed cassettes/t.yaml with 2 interactions\n")
    ended = await replay(project, 'call(DESK + "/a", {"n": 1}); print(call(DESK + "/b", {"n": 2}))')
    assert ended.status == 0
    assert "/edited" in ended.stdout
    assert project.tape("t").stamp["edited_at"]


async def test_a_deleted_interaction_takes_its_times_with_it(project: Project) -> None:
    await recorded(project)
    last = project.tape("t").interactions[1]
    path = project.layout.cassette("t")
    text = path.read_text(encoding="utf-8")
    first, second = text.index("- request:"), text.rindex("- request:")
    path.write_text(text[:first] + text[second:], encoding="utf-8")
    sealed = await project.proctor("cassette", "seal", "cassettes/t.yaml", "--json")
    told = json.loads(sealed.stdout)
    assert (told["sealed"], told["interactions"], told["diff"]) == ("cassettes/t.yaml", 1, [])
    assert told["changes"] == ["the former #0 is gone"]
    (left,) = project.tape("t").interactions
    assert (left.request, left.started, left.seconds) == (last.request, last.started, last.seconds)


async def test_calls_that_overlapped_stay_beside_each_other_when_one_before_them_is_deleted(project: Project) -> None:
    await recorded(project, 'for path in ("/a", "/b", "/c", "/d"):\n    call(DESK + path, {})')
    tape = project.tape("t")
    beside = {1: (0,), 2: (0, 1), 3: (2,)}
    overlapped = [replace(each, beside=beside.get(each.index, ())) for each in tape.interactions]
    path = project.layout.cassette("t")
    save_cassette(path, replace(tape, interactions=tuple(overlapped)))
    assert [each.beside for each in project.tape("t").interactions] == [(), (0,), (0, 1), (2,)]
    text = path.read_text(encoding="utf-8")
    first = text.index("- request:")
    path.write_text(text[:first] + text[text.index("- request:", first + 1) :], encoding="utf-8")
    assert (await project.proctor("cassette", "seal", "t")).status == 0
    assert [each.beside for each in project.tape("t").interactions] == [(), (0,), (1,)]


async def test_the_project_s_own_rules_of_redaction_hold_for_an_edit_too(project: Project) -> None:
    await recorded(project)
    project.configure(services(desk="http://desk.invalid") + '[redact]\npatterns = ["TKT-[0-9]{8}"]\n')
    edit(project, '"path": "/b"', '"path": "TKT-20261130"')
    assert (await project.proctor("cassette", "seal", "t")).status == 0
    assert "TKT-20261130" not in project.layout.cassette("t").read_text(encoding="utf-8")


async def test_without_git_the_changed_interactions_are_named(project: Project) -> None:
    await recorded(project)
    edit(project, '"path": "/b"', '"path": "/edited"')
    sealed = await project.proctor("cassette", "seal", "t")
    assert "(git has no version of it to compare with)\nchanged: #1 (line 3" in sealed.stdout


async def test_a_credential_that_an_edit_brought_in_is_replaced(project: Project) -> None:
    await recorded(project)
    edit(project, "uri: " + project.tape("t").interactions[1].url + "\n    headers:\n", "SPLIT")
    edit(
        project,
        "SPLIT",
        f"uri: {project_url(project)}/b\n    headers:\n      Authorization: [Bearer sk-pasted-by-hand-0123456789]\n",
    )
    sealed = await project.proctor("cassette", "seal", "t")
    assert "note: 1 secret(s) were replaced by placeholders" in sealed.stdout
    assert "sk-pasted-by-hand" not in project.layout.cassette("t").read_text(encoding="utf-8") + sealed.stdout


def project_url(project: Project) -> str:
    return (project.root / "proctor.toml").read_text(encoding="utf-8").split('url = "')[1].split('"')[0]


async def test_a_tape_as_it_was_sealed_is_left_alone(project: Project) -> None:
    await recorded(project)
    old = project.layout.cassette("t").read_bytes()
    sealed = await project.proctor("cassette", "seal", "t")
    assert (sealed.status, sealed.stdout) == (0, "t is as it was sealed, 2 interactions: nothing to do\n")
    assert project.layout.cassette("t").read_bytes() == old


async def test_an_edit_that_is_no_tape_any_more_is_not_sealed(project: Project) -> None:
    await recorded(project)
    edit(project, "service: desk, target: /b", "target: /b")
    old = project.layout.cassette("t").read_bytes()
    sealed = await project.proctor("cassette", "seal", "t")
    assert (sealed.status, "cassette_item" in sealed.stderr, "interaction 1" in sealed.stderr) == (2, True, True)
    assert project.layout.cassette("t").read_bytes() == old


async def test_a_recording_put_aside_is_accepted_with_its_reasons_and_shown_against_the_old_tape(
    project: Project,
) -> None:
    await recorded(project)
    aside = await recorded(project, TWO, b=[503])
    assert (aside.status, kept(project)) == (1, [".proctor/aside/t.yaml", "cassettes/t.yaml"])
    accepted = await project.proctor("cassette", "accept", "t")
    assert (accepted.status, accepted.stderr) == (0, "")
    assert "-< 200 OK" in accepted.stdout
    assert "+< 503 Service Unavailable" in accepted.stdout
    assert "put aside because: #1 desk POST /b: the last answer was 503" in accepted.stdout
    assert kept(project) == ["cassettes/t.yaml"]
    tape = project.tape("t")
    assert [each.response.status for each in tape.interactions] == [200, 503]
    assert "the last answer was 503" in tape.stamp["accepted"][0]
    shown = await project.proctor("cassette", "show", "t")
    assert "accepted      #1 desk POST /b: the last answer was 503" in shown.stdout
    ended = await replay(project, TWO)
    assert ended.status == 0


async def test_accept_names_what_was_put_aside(project: Project) -> None:
    await recorded(project, TWO, b=[503])
    wrong = await project.proctor("cassette", "accept", "tt")
    assert (wrong.status, "nothing_aside" in wrong.stderr, 'did you mean "t"?' in wrong.stderr) == (2, True, True)


async def test_a_clean_recording_replaces_one_that_was_put_aside(project: Project) -> None:
    await recorded(project, TWO, b=[503])
    assert kept(project) == [".proctor/aside/t.yaml"]
    await recorded(project)
    assert kept(project) == ["cassettes/t.yaml"]


async def test_git_shows_a_recording_made_again_as_what_changed_and_nothing_else(project: Project) -> None:
    await recorded(project)
    committed(project)
    (project.root / ".gitattributes").write_text("cassettes/**/*.yaml diff=proctor\n")
    old = project.layout.cassette("t").read_text(encoding="utf-8")
    await recorded(project, TWO.replace('{"n": 2}', '{"n": 3}'))
    port = project_url(project)
    new = project.layout.cassette("t").read_text(encoding="utf-8").replace(port, old.split("uri: ")[1].split("/a")[0])
    project.layout.cassette("t").write_text(new, encoding="utf-8")
    raw = [
        line
        for line, other in zip(new.splitlines(), old.splitlines(), strict=True)
        if line != other and not line.strip().startswith(("Date", "Host", "command", "desk:"))
    ]
    heads = [line.strip().split(":")[0] for line in raw]
    assert set(heads) - {"recorded_at", "times"} == {"digest", "sums", "body", "string"}
    assert heads.count("body") == heads.count("string") == 1


async def test_text_shows_what_git_compares_even_of_a_tape_that_cannot_be_believed(project: Project) -> None:
    await recorded(project)
    path = project.layout.cassette("t")
    whole = await project.proctor("cassette", "text", str(path))
    assert (whole.status, whole.stderr) == (0, "")
    assert '>     "n": 1' in whole.stdout
    assert "digest" not in whole.stdout
    edit(project, '"path": "/b"', '"path": "/edited"')
    changed = await project.proctor("cassette", "text", str(path))
    assert (changed.status, changed.stdout.startswith("not as sealed: #1 (line ")) == (0, True)
    path.write_text("<<<<<<< HEAD\n")
    broken = await project.proctor("cassette", "text", str(path))
    assert broken.status == 0
    assert broken.stdout.startswith("not readable as a tape: line 1: an unresolved merge conflict")
    assert broken.stdout.endswith("<<<<<<< HEAD\n")
