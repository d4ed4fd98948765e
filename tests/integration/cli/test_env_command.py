"""`proctor env`: what the launcher sets, for launchers of one's own, in three formats."""

from __future__ import annotations

import json
import sys

from tests.integration.cli.support import Desk, record, replay
from tests.support import Project, run, services, serving

PRINTING = """
import subprocess
call(DESK + "/a")
for style in ("shell", "docker", "json"):
    command = [sys.executable, "-m", "proctor", "env", "--format", style]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    open(style, "w").write(printed)
open("environ", "w").write(json.dumps(dict(os.environ)))
"""
TOML = """
[services.llm]
preset = "openai"
url = "{url}"
identities = {{ alice = "env:ALICE_TOKEN" }}
"""


async def test_all_three_formats_give_what_the_agent_was_given(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure('pass_hosts = ["a.example", "b.example"]\n' + services(desk=url))
        ended = await record(project, PRINTING)
    assert ended.status == 0
    environ = json.loads((project.root / "environ").read_text())
    variables = json.loads((project.root / "json").read_text())
    assert variables["DESK_URL"].endswith(f"/s/{ended.summary['session']}/desk")
    assert variables["NO_PROXY"] == "a.example,b.example"
    assert {name: environ[name] for name in variables} == variables
    lines = (project.root / "docker").read_text().splitlines()
    assert dict(line.split("=", 1) for line in lines) == variables
    evaluated = await run(
        "sh",
        "-c",
        '. ./shell; exec "$0" -c "import json, os; print(json.dumps(dict(os.environ)))"',
        sys.executable,
        cwd=project.root,
    )
    seen = json.loads(evaluated.stdout)
    assert {name: seen[name] for name in variables} == variables


async def test_shell_output_survives_every_character_that_a_shell_would_act_on(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    url = "http://127.0.0.1:9/s/$(touch hacked)`x`'\"; &"
    ended = await project.proctor("env", "--session-url", url)
    assert ended.status == 0
    (project.root / "shell").write_text(ended.stdout)
    seen = await run("sh", "-c", '. ./shell; printf %s "$DESK_URL"', cwd=project.root)
    assert (seen.stdout, (project.root / "hacked").exists()) == (f"{url}/desk", False)


async def test_inside_a_replay_env_lets_no_host_pass_either(project: Project) -> None:
    source = PRINTING.replace('("shell", "docker", "json")', '["json"]')
    async with serving(Desk().answer) as url:
        project.configure('pass_hosts = ["a.example"]\n' + services(desk=url))
        assert (await record(project, source)).status == 0
    ended = await replay(project, source)
    assert ended.status == 0
    environ = json.loads((project.root / "environ").read_text())
    variables = json.loads((project.root / "json").read_text())
    assert environ["NO_PROXY"] == ""
    assert variables["NO_PROXY"] == "", "a launcher of one's own would let the agent past the replay"
    assert variables["PROCTOR_RECORDED_AT"] == environ["PROCTOR_RECORDED_AT"] != ""


async def test_outside_a_session_the_way_in_is_told(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    for style in ("shell", "docker", "json"):
        ended = await project.proctor("env", "--format", style)
        assert (ended.status, ended.stdout) == (2, "")
        assert "proctor: no_session: no session: PROCTOR_SESSION_URL is not set" in ended.stderr
        assert "or give --session-url" in ended.stderr
    wrong = await project.proctor("env", "--format", "yaml")
    assert (wrong.status, wrong.stdout) == (2, "")
    assert "'shell', 'docker', 'json'" in wrong.stderr


async def test_with_a_tape_its_placeholders_are_the_keys(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(TOML.format(url=url))
        bearer = 'call(os.environ["OPENAI_BASE_URL"], {}, headers=[("Authorization", "Bearer " + os.environ["%s"])])'
        keys = {"OPENAI_API_KEY": "sk-a-real-key-000", "ALICE_TOKEN": "sk-a-real-key-000"}
        assert (await record(project, bearer % "OPENAI_API_KEY", env=keys)).status == 0
    address = ("--session-url", "http://127.0.0.1:9/s/mine/")
    ended = await project.proctor("env", *address, "--cassette", "t", "--format", "json")
    variables = json.loads(ended.stdout)
    assert ended.status == 0
    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:9/s/mine/llm"
    assert variables["OPENAI_API_KEY"] == variables["ALICE_TOKEN"] == "sk-proctor-redacted-0001"
    assert variables["PROCTOR_RECORDED_AT"] == project.tape("t").recorded_at
    without = json.loads((await project.proctor("env", *address, "--format", "json")).stdout)
    assert "OPENAI_API_KEY" not in without
    missing = await project.proctor("env", *address, "--cassette", "u")
    assert (missing.status, missing.stdout) == (2, "")
    assert "cassette_missing" in missing.stderr


async def test_each_carrier_has_its_addresses_and_the_key_only_where_a_service_has_one_credential(
    project: Project,
) -> None:
    two = '[services.bank]\nurl = "http://127.0.0.1:9"\nidentities = {{ a = "env:A_TOKEN", b = "env:B_TOKEN" }}\n'
    project.configure((TOML + two).format(url="http://127.0.0.1:9").replace("env:A", "env:OF_A"))
    base = "http://127.0.0.1:9/p/secret/s"
    told = {}
    for carrier in ("path", "current", "header", "key"):
        options = ("--session-url", f"{base}/mine", "--carrier", carrier, "--format", "json")
        told[carrier] = json.loads((await project.proctor("env", *options)).stdout)
        assert told[carrier]["PROCTOR_SESSION"] == "mine"
        assert told[carrier]["PROCTOR_SESSION_URL"] == f"{base}/mine"
    addresses = {carrier: variables["OPENAI_BASE_URL"] for carrier, variables in told.items()}
    assert addresses == {"path": f"{base}/mine/llm"} | dict.fromkeys(
        ("current", "header", "key"), f"{base}/_current/llm"
    )
    proxies = {carrier: variables["HTTP_PROXY"] for carrier, variables in told.items()}
    assert proxies == {"path": "http://mine:secret@127.0.0.1:9"} | dict.fromkeys(
        ("current", "header", "key"), "http://_:secret@127.0.0.1:9"
    )
    assert told["key"].keys() - told["header"].keys() == {"OF_ALICE_TOKEN"}
    assert told["key"]["OF_ALICE_TOKEN"] == "proctor-session-mine"
    unnamed = await project.proctor("env", "--session-url", f"{base}/_current", "--carrier", "key")
    assert (unnamed.status, unnamed.stdout) == (2, "")
    assert "session_unnamed" in unnamed.stderr
