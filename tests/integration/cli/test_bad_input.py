"""What was typed wrong, or written wrong in proctor.toml, ends with status 2, its name and the right one."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.integration.cli.support import Desk, agent, error_of, kept, record, replay
from tests.support import Project, services, serving

DESK = services(desk="http://127.0.0.1:9")
RAN = 'open("ran", "w").close()'
"""An agent that leaves a mark where it was run at all."""


def assert_nothing_happened(project: Project) -> None:
    """The command was never run, and no file tells of a session."""
    assert not (project.root / "ran").exists()
    assert kept(project) == []
    assert list(project.layout.sessions.glob("*")) == []


@pytest.mark.parametrize(
    ("toml", "code", "told", "fix"),
    [
        (b"[services.desk]\nurl = 'http://127.0.0.1:9'\nurll = 1\n", "config_unknown_key", "services.desk.urll", "url"),
        (b"pass_host = []\n" + DESK.encode(), "config_unknown_key", '"pass_host"', "pass_hosts"),
        (b"[services.desk\n", "config_syntax", "is not TOML", "line 1"),
        (b"# caf\xe9\n" + DESK.encode(), "config_undecodable", "is not UTF-8", "save it as UTF-8"),
        (b"", "config_bad_value", "services", "required"),
        (b"[services]\n", "config_bad_value", "no service is configured", "[services.NAME]"),
        (b"[services.desk]\nenv = ['X']\n", "config_bad_value", "services.desk", "needs a url"),
        (b"[services.desk]\nurl = 'ftp://a'\n", "config_bad_value", "services.desk.url", "no http(s) URL"),
        (b"services = 7\n", "config_bad_value", "services", "dictionary"),
        (b"[services.desk]\nurl = 'http://u:p@a'\n", "config_bad_value", "services.desk.url", "credential"),
    ],
)
async def test_a_wrong_proctor_toml_is_named_with_its_key_and_the_way_out(
    project: Project, toml: bytes, code: str, told: str, fix: str
) -> None:
    (project.root / "proctor.toml").write_bytes(toml)
    ended = await record(project, RAN)
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, code)
    assert str(project.root / "proctor.toml") in error["message"]
    assert told in error["message"]
    assert fix in error["message"] + error["fix"]
    assert_nothing_happened(project)


async def test_without_a_proctor_toml_the_way_to_write_one_is_told(project: Project) -> None:
    for command in (("record", "--cassette", "t", "--", "true"), ("cassette", "ls"), ("session", "show")):
        ended = await project.proctor(*command)
        assert (ended.status, ended.stdout) == (2, "")
        assert f"proctor: config_missing: no proctor.toml in {project.root} or above it" in ended.stderr
        assert "write one with: proctor init" in ended.stderr
    assert list(project.root.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "code", "told", "fix"),
    [
        (("--mode", "desc=live"), "unknown_service", 'no service "desc"', 'did you mean "desk"?'),
        (("--mode", "desk=life"), "unknown_mode", '"desk=life"', 'did you mean "live"?'),
        (("--mode", "desk"), "unknown_mode", '"desk" is no SERVICE=MODE', "record, replay"),
    ],
)
async def test_a_wrong_mode_names_the_nearest_right_one(
    project: Project, options: tuple[str, ...], code: str, told: str, fix: str
) -> None:
    project.configure(DESK)
    ended = await record(project, RAN, *options)
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, code)
    assert told in error["message"]
    assert fix in error["fix"]
    assert_nothing_happened(project)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "cassettes/../../x", "", ".hidden", "a//b", "a\nb"])
async def test_a_cassette_name_that_climbs_out_or_hides_is_refused(project: Project, name: str) -> None:
    project.configure(DESK)
    for command in (("record", "--json"), ("replay", "--json"), ("cassette", "show", "--json")):
        named = (name,) if command[0] == "cassette" else ("--cassette", name, "--", *agent(RAN))
        ended = await project.proctor(*command, *named)
        error = error_of(ended)
        assert (ended.status, error["code"]) == (2, "cassette_name")
        assert json.dumps(name)[1:-1] in json.dumps(error["message"])
    assert_nothing_happened(project)
    assert not (project.root.parent / "x.yaml").exists()


async def test_a_cassette_name_longer_than_a_file_name_can_be_is_refused_without_a_traceback(project: Project) -> None:
    project.configure(DESK)
    for run in (record, replay):
        ended = await run(project, RAN, tape="x" * 300)
        assert (ended.status, "Traceback" in ended.stderr) == (2, False)
    assert_nothing_happened(project)


async def test_a_taken_port_is_named_with_the_way_out(project: Project) -> None:
    project.configure(DESK)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = await record(project, RAN, "--port", str(port))
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, "port_in_use")
    assert f"port {port} on 127.0.0.1 is taken" in error["message"]
    assert "leave --port out" in error["fix"]
    assert_nothing_happened(project)


@pytest.mark.parametrize("port", ["70000", "-1", "abc"])
async def test_a_port_that_cannot_be_is_refused_without_a_traceback(project: Project, port: str) -> None:
    project.configure(DESK)
    ended = await record(project, RAN, "--port", port)
    assert (ended.status, "Traceback" in ended.stderr) == (2, False)
    assert port in ended.stderr + ended.stdout
    assert_nothing_happened(project)


async def test_a_port_of_ones_choice_is_the_proxys(project: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, 'call(DESK + "/a"); print(DESK)', "--port", str(port))
    assert ended.status == 0
    assert ended.stdout.startswith(f"http://127.0.0.1:{port}/s/")


async def test_a_command_that_is_missing_or_cannot_be_found_is_named(project: Project) -> None:
    project.configure(DESK)
    (project.root / "notes.txt").write_text("no program")
    for command, code, told in (
        ((), "no_command", "put it after --"),
        (("no-such-agent",), "command_not_found", '"no-such-agent"'),
        (("./notes.txt",), "command_not_found", '"./notes.txt"'),
    ):
        ended = await project.proctor("replay", "--cassette", "t", "--json", "--", *command)
        error = error_of(ended)
        assert (ended.status, error["code"]) == (2, code)
        assert told in error["message"] + error["fix"]
        assert error["fix"]
    assert_nothing_happened(project)


async def test_a_command_that_the_system_cannot_run_is_named_and_leaves_no_journal(project: Project) -> None:
    project.configure(DESK)
    broken: Path = project.script("agent.sh", "\x00\x01 no program at all")
    broken.chmod(0o755)
    ended = await project.proctor("record", "--cassette", "t", "--", "./agent.sh")
    assert (ended.status, "Traceback" in ended.stderr) == (2, False)
    assert "agent.sh" in ended.stderr
    assert kept(project) == []


async def test_an_address_from_the_environment_is_needed_to_record_and_not_to_replay(project: Project) -> None:
    project.configure('[services.desk]\nurl = "env:STAGING_URL"\nenv = ["DESK_URL"]\n')
    ended = await record(project, RAN)
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, "service_url_unset")
    assert 'service "desk" takes its url from STAGING_URL, which is not set' in error["message"]
    assert "set STAGING_URL" in error["fix"]
    bad = error_of(await record(project, RAN, env={"STAGING_URL": "staging"}))
    assert (bad["code"], "STAGING_URL" in bad["message"]) == ("service_url_bad", True)
    assert_nothing_happened(project)
    async with serving(Desk().answer) as url:
        assert (await record(project, 'call(DESK + "/a")', env={"STAGING_URL": url})).status == 0
    assert (await replay(project, 'assert call(DESK + "/a")[0] == 200')).status == 0


async def test_without_json_an_error_is_words_on_stderr_and_stdout_stays_empty(project: Project) -> None:
    project.configure(DESK)
    ended = await project.proctor("replay", "--cassette", "t", "--", "no-such-agent", "--json")
    assert (ended.status, ended.stdout) == (2, ""), "the agent's own --json is not Proctor's"
    assert ended.stderr.startswith('proctor: command_not_found: cannot find the command "no-such-agent"\n  check its')


async def test_a_command_line_that_does_not_parse_is_one_json_object_too(project: Project) -> None:
    project.configure(DESK)
    for arguments in (
        ("record", "--json", "--", "true"),
        ("replay", "--json", "--cassette"),
        ("record", "--json", "--cassette", "t", "--port", "abc", "--", "true"),
        ("cassette", "show", "t", "--json", "--index", "x"),
    ):
        ended = await project.proctor(*arguments)
        assert (ended.status, ended.stdout.count("\n")) == (2, 1), arguments
        assert error_of(ended)["code"], arguments
