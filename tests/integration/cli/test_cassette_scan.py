"""`proctor cassette scan`, as people, scripts and pre-commit call it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from typing import Any

import pytest
import yaml
from aiohttp import web

from proctor.paths import Layout
from tests.integration.cli.support import record
from tests.support import ROOT, Finished, Project, run, serving
from tests.unit.scanning.tapes import KEY, LAYERS, SECRET, item, tape

DESK = '[services.desk]\nurl = "https://staging.example/api"\n'
CLEAN = tape(item())
LEAKY = tape(item(answer=json.dumps({"client_secret": SECRET, "said": f"it is {SECRET}"})))
UNKNOWN = tape(item(answer=b"\x1f\x9d\x90\xff", answer_headers={"Content-Encoding": ["compress"]}))
LATIN = tape(item()).replace(b"OK", b"\xff\xfe")


def put(project: Project, **tapes: bytes) -> None:
    project.layout.cassettes.mkdir(exist_ok=True)
    for name, data in tapes.items():
        (project.layout.cassettes / f"{name}.yaml").write_bytes(data)


async def scan(project: Project, *arguments: str, env: dict[str, str] | None = None) -> Finished:
    ended = await project.proctor("cassette", "scan", *arguments, env=env)
    told = ended.stdout + ended.stderr
    assert SECRET not in told
    assert KEY not in told
    return ended


async def told(project: Project, *arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    ended = await scan(project, *arguments, "--json", env=env)
    assert len(ended.stdout.splitlines()) == 1
    assert ended.summary["status"] == ended.status
    return ended.summary


@pytest.mark.req(74)
async def test_the_tapes_of_this_repository_are_clean() -> None:
    ended = await run(sys.executable, "-m", "proctor", "cassette", "scan", "cassettes", "--json", cwd=ROOT)
    assert (ended.status, ended.summary["finds"]) == (0, [])
    assert len(ended.summary["tapes"]) == len(Layout(ROOT).cassette_names()) > 0


@pytest.mark.req(74)
async def test_a_folder_with_secrets_in_every_layer_ends_with_1_and_names_each_place(project: Project) -> None:
    project.configure(DESK)
    put(project, **{f"t{number}": make() for number, (make, _) in enumerate(LAYERS.values())}, clean=CLEAN)
    found = await told(project, "cassettes")
    assert found["status"] == 1
    places = {(find["tape"], find["place"]) for find in found["finds"]}
    expected = {(f"cassettes/t{number}.yaml", place) for number, (_, place) in enumerate(LAYERS.values())}
    assert expected <= places
    assert not [tape for tape, _ in places if tape == "cassettes/clean.yaml"]
    assert all(
        re.fullmatch("[0-9a-f]{6}", find["fingerprint"]) and find["kind"] and find["fix"] for find in found["finds"]
    )


async def test_a_person_reads_place_kind_fingerprint_and_what_to_do(project: Project) -> None:
    project.configure(DESK)
    put(project, refund=LEAKY)
    ended = await scan(project, "refund")
    assert ended.status == 1
    assert re.search(
        r"^cassettes/refund.yaml \(by vcrpy, 1 interaction\)\n"
        r"  (\w{6})  #0 response.body/client_secret  field client_secret\n"
        r"  \1  #0 response.body/said           same value as #0 response.body/client_secret$",
        ended.stdout,
        re.MULTILINE,
    ), ended.stdout
    assert "looked at 1 tape with 1 interaction: 1 secret in 2 places\n" in ended.stdout
    assert "record the tape again" in ended.stdout
    assert "[[allow]]" in ended.stdout


async def test_names_on_a_tape_can_write_no_line_of_the_report(project: Project) -> None:
    project.configure(DESK)
    name = "a\nlooked at 9 tapes: no secret found\x1b[2J\ud800"
    put(project, refund=tape(item(answer=json.dumps({name: {"client_secret": SECRET}}))))
    ended = await scan(project, "cassettes")
    assert ended.status == 1
    assert "\nlooked at 9" not in ended.stdout
    assert "\x1b" not in ended.stdout
    assert (await told(project, "cassettes"))["finds"][0]["interaction"] == 0


@pytest.mark.req(46)
async def test_a_recording_of_real_requests_is_known_to_be_without_personal_data(project: Project) -> None:
    """The same rules that replace it find it where they were not in force yet."""
    async with serving(_customer) as url:
        rules = f'[services.desk]\nurl = "{url}"\nenv = ["DESK_URL"]\n'
        project.configure(rules)
        assert (await record(project, 'call(DESK + "/a")')).status == 0
        personal = rules + '[redact]\npii = true\npeople = ["Ann Lee"]\n'
        project.configure(personal)
        found = await told(project, "cassettes")
        kinds = {find["kind"] for find in found["finds"]}
        assert (found["status"], kinds) == (1, {"person", "phone", "e-mail address"})
        assert (await record(project, 'call(DESK + "/a")')).status == 0
    found = await told(project, "cassettes")
    assert (found["status"], found["finds"]) == (0, [])


async def _customer(request: web.Request) -> web.StreamResponse:
    return web.json_response({"text": "call Ann Lee, 139 1234 5678, or ann@example.org"})


async def test_an_allow_list_with_a_reason_makes_it_0_and_a_stale_entry_is_warned_about(project: Project) -> None:
    project.configure(DESK)
    put(project, refund=LEAKY)
    mark = (await told(project, "cassettes"))["finds"][0]["fingerprint"]
    allow = project.root / ".proctor-allow.toml"
    allow.write_text(
        f'[[allow]]\nfingerprint = "{mark}"\nreason = "the published key of the sandbox"\n'
        '[[allow]]\nfingerprint = "ffffff"\nreason = "gone"\n'
    )
    ended = await scan(project, "cassettes")
    assert ended.status == 0
    assert "no secret found, 2 places allowed" in ended.stdout
    assert "warning: .proctor-allow.toml allows ffffff, which is found no more" in ended.stdout
    found = await told(project, "cassettes")
    assert {find["reason"] for find in found["allowed"]} == {"the published key of the sandbox"}
    assert [entry["fingerprint"] for entry in found["stale"]] == ["ffffff"]
    other = project.root / "other.toml"
    other.write_text("")
    assert (await scan(project, "cassettes", "--allow", "other.toml")).status == 1


async def test_an_allow_list_without_a_reason_allows_nothing_and_ends_with_2(project: Project) -> None:
    project.configure(DESK)
    put(project, refund=LEAKY)
    (project.root / ".proctor-allow.toml").write_text('[[allow]]\nfingerprint = "a1b2c3"\n')
    ended = await scan(project, "cassettes")
    assert ended.status == 2
    assert "allow_bad_value" in ended.stderr
    assert "every entry needs a reason" in ended.stderr


async def test_what_cannot_be_looked_at_ends_with_2_and_the_rest_is_looked_at(project: Project) -> None:
    project.configure(DESK)
    put(project, a=LATIN, b=LEAKY, c=b"version: 1\ninteractions:\n- {", d=CLEAN)
    found = await told(project, "cassettes", "nowhere")
    assert found["status"] == 2
    assert [(error["path"], error["code"]) for error in found["errors"]] == [
        ("nowhere", "scan_missing"),
        ("cassettes/a.yaml", "cassette_not_utf8"),
        ("cassettes/c.yaml", "cassette_not_yaml"),
    ]
    assert {find["tape"] for find in found["finds"]} == {"cassettes/b.yaml"}
    ended = await scan(project, "cassettes")
    assert "could not look: cassette_not_utf8: cassettes/a.yaml: line " in ended.stdout
    assert "1 secret in 2 places, 2 paths could not be looked at" in ended.stdout


async def test_a_body_that_nobody_looked_into_is_never_green_unless_it_is_allowed(project: Project) -> None:
    project.configure(DESK)
    put(project, odd=UNKNOWN)
    ended = await scan(project, "cassettes")
    assert ended.status == 2
    assert '  not looked into: #0 response.body: the coding "compress" is unknown' in ended.stdout
    assert "1 body not looked into" in ended.stdout
    mark = (await told(project, "cassettes"))["not_looked_into"][0]["fingerprint"]
    (project.root / ".proctor-allow.toml").write_text(f'[[allow]]\nfingerprint = "{mark}"\nreason = "a test image"\n')
    ended = await scan(project, "cassettes")
    assert ended.status == 0
    assert "allowed: a test image" in ended.stdout


async def test_a_folder_without_a_tape_is_said_plainly_and_ends_with_2(project: Project) -> None:
    project.configure(DESK)
    (project.root / "docs").mkdir()
    (project.root / "docs" / "README.md").write_text("no tapes")
    ended = await scan(project, "docs")
    assert ended.status == 2
    assert "could not look: scan_no_tape:" in ended.stdout
    assert "looked at no tape" in ended.stdout


async def test_the_rules_and_the_secrets_of_the_project_are_those_of_recording(project: Project) -> None:
    put(
        project, t=tape(item(answer=json.dumps({"ticket_no": "T-77-12345", "token": "Abc-1234567890x", "who": SECRET})))
    )
    project.configure(DESK + '[redact]\nnames = ["ticket_no"]\nkeep = ["token"]\n')
    found = await told(project, "cassettes", env={"DESK_TOKEN": SECRET})
    assert {find["place"]: find["rule"] for find in found["finds"]} == {
        "response.body/ticket_no": 'names: "ticket_no"',
        "response.body/who": "environment: the value of DESK_TOKEN",
    }


async def test_rules_are_tried_on_a_tape_without_recording_again(project: Project) -> None:
    """What would be replaced, what is kept and by which name, and which rule touches nothing."""
    put(project, t=tape(item(answer=json.dumps({"ticket_no": "T-77-12345", "token": "Abc-1234567890x"}))))
    project.configure(DESK + '[redact]\nnames = ["ticket_no", "tiket"]\nkeep = ["token"]\n')
    ended = await scan(project, "cassettes", "--explain")
    assert ended.status == 1
    assert re.search(r'SECRET +\w{6}  #0 response.body/ticket_no +names: "ticket_no"', ended.stdout), ended.stdout
    assert re.search(r'kept +\w{6}  #0 response.body/token +keep: "token"', ended.stdout)
    assert 'touches nothing here: names: "tiket"' in ended.stdout
    for value in ("T-77-12345", "Abc-1234567890x"):
        assert value not in ended.stdout
    found = await told(project, "cassettes", "--explain")
    assert [find["place"] for find in found["kept"]] == ["response.body/token"]
    assert found["unused_rules"] == ['names: "tiket"']


async def test_outside_of_any_project_the_built_in_rules_hold_and_that_is_said(project: Project) -> None:
    put(project, t=LEAKY)
    ended = await scan(project, "cassettes")
    assert ended.status == 1
    assert "no proctor.toml here: the built-in rules only" in ended.stdout


async def test_a_wrong_configuration_ends_with_2_instead_of_other_rules(project: Project) -> None:
    project.configure(DESK + '[redact]\nname = ["x"]\n')
    put(project, t=CLEAN)
    ended = await scan(project, "cassettes")
    assert (ended.status, "config_unknown_key" in ended.stderr) == (2, True)


@pytest.mark.req(74)
async def test_the_pre_commit_hook_takes_file_names_and_says_which_are_no_tapes(project: Project) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "proctor-cassette-scan"
    program, *arguments = shlex.split(hook["entry"])
    assert program == "proctor"
    project.configure(DESK)
    put(project, refund=LEAKY, clean=CLEAN)
    (project.layout.cassettes / "README.md").write_text("our tapes")
    files = [f"cassettes/{name}" for name in ("refund.yaml", "clean.yaml", "README.md")]
    assert all(re.search(hook["files"], name) for name in [*files, "service/cassettes/a/b.yaml"])
    assert not re.search(hook["files"], "docs/tape-format.md")
    ended = await project.proctor(*arguments, *files)
    assert ended.status == 1
    assert "cassettes/refund.yaml" in ended.stdout
    assert "skipped cassettes/README.md: no tape" in ended.stdout
    assert (await project.proctor(*arguments, *files[1:])).status == 0
