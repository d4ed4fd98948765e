"""`proctor init`: a project that works at once, and never a file overwritten."""

from __future__ import annotations

import pytest

from proctor.config import load_config
from tests.integration.cli.support import Desk, agent, kept
from tests.support import Project, run, serving


async def test_init_writes_a_configuration_that_loads_and_keeps_the_state_out_of_git(project: Project) -> None:
    ended = await project.proctor("init")
    assert (ended.status, ended.stderr) == (0, "")
    assert "wrote proctor.toml, added to .gitignore, added to .gitattributes" in ended.stdout
    assert "next: check the urls and env in it, then: proctor record --cassette first -- COMMAND" in ended.stdout
    config = load_config(project.root / "proctor.toml")
    assert config.service("orders").base_url_variables == ("ORDERS_URL",)
    assert config.service("openai").preset == "openai"
    assert (await run("git", "init", "--quiet", cwd=project.root)).status == 0
    (project.layout.state / "journals").mkdir()
    (project.layout.state / "journals" / "x.jsonl").write_text("a secret")
    (project.layout.cassettes / "t.yaml").write_text("version: 1\n")
    seen = await run("git", "status", "--porcelain", "--untracked-files=all", cwd=project.root)
    names = [".gitattributes", ".gitignore", "cassettes/t.yaml", "proctor.toml"]
    assert sorted(seen.stdout.splitlines()) == [f"?? {name}" for name in names]
    attributes = await run("git", "check-attr", "merge", "eol", "--", "cassettes/a/t.yaml", cwd=project.root)
    assert attributes.stdout.splitlines() == ["cassettes/a/t.yaml: merge: unset", "cassettes/a/t.yaml: eol: lf"]


async def test_a_recording_is_ignored_by_git_even_where_the_projects_own_ignore_file_is_gone(project: Project) -> None:
    async with serving(Desk().answer) as url:
        assert (await project.proctor("init", "--service", f"desk={url}")).status == 0
        (project.root / ".gitignore").unlink()
        command = agent('call(DESK + "/a")')
        assert (await project.proctor("record", "--cassette", "first", "--", *command)).status == 0
    assert (await run("git", "init", "--quiet", cwd=project.root)).status == 0
    seen = await run("git", "status", "--porcelain", "--untracked-files=all", cwd=project.root)
    assert ".proctor" not in seen.stdout
    assert "cassettes/first.yaml" in seen.stdout


async def test_the_first_steps_that_init_tells_work_as_told(project: Project) -> None:
    async with serving(Desk().answer) as url:
        assert (await project.proctor("init", "--service", f"desk={url}/api")).status == 0
        command = agent('print(call(DESK + "/a"))')
        recorded = await project.proctor("record", "--cassette", "first", "--", *command)
    replayed = await project.proctor("replay", "--cassette", "first", "--", *command)
    assert (recorded.status, replayed.status) == (0, 0)
    assert recorded.stdout == replayed.stdout
    assert "/api/a" in replayed.stdout
    assert kept(project) == ["cassettes/first.yaml"]


async def test_init_never_overwrites(project: Project) -> None:
    (project.root / ".gitignore").write_text("build")
    assert (await project.proctor("init", "--preset", "anthropic")).status == 0
    assert (project.root / ".gitignore").read_text().startswith("build\n#")
    names = ("proctor.toml", ".gitignore", ".gitattributes")
    before = [(project.root / name).read_bytes() for name in names]
    ended = await project.proctor("init", "--service", "desk=http://127.0.0.1:9")
    assert (ended.status, ended.stdout) == (2, "")
    assert f"proctor: config_exists: {project.root / 'proctor.toml'} is there already" in ended.stderr
    assert "edit it; init never overwrites" in ended.stderr
    assert [(project.root / name).read_bytes() for name in names] == before


async def test_init_again_after_the_configuration_is_gone_adds_nothing_twice(project: Project) -> None:
    assert (await project.proctor("init")).status == 0
    (project.root / "proctor.toml").unlink()
    before = (project.root / ".gitignore").read_text()
    ended = await project.proctor("init")
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "wrote proctor.toml")
    assert (project.root / ".gitignore").read_text() == before


async def test_services_and_presets_of_ones_choice_stand_in_the_file(project: Project) -> None:
    services = ("--service", "order-desk=https://staging.example/api/", "--service", "line=http://127.0.0.1:9")
    ended = await project.proctor("init", *services, "--preset", "openai", "--preset", "anthropic")
    config = load_config(project.root / "proctor.toml")
    assert ended.status == 0
    assert sorted(config.services) == ["anthropic", "line", "openai", "order-desk"]
    assert config.service("order-desk").url == "https://staging.example/api"
    assert config.service("order-desk").env == ("ORDER_DESK_URL",)
    assert config.service("anthropic").preset == "anthropic"


@pytest.mark.parametrize(
    "services",
    [
        ["desk"],
        ["desk=staging.example"],
        ["desk=http://u:p@staging.example"],
        ["my desk=http://127.0.0.1:9"],
        ["a.b=http://127.0.0.1:9"],
        ["=http://127.0.0.1:9"],
        ["desk=http://127.0.0.1:9", "desk=http://127.0.0.1:10"],
        ["openai=http://127.0.0.1:9", "--preset", "openai"],
    ],
    ids=" ".join,
)
async def test_what_cannot_be_a_service_is_refused_and_nothing_is_written(
    project: Project, services: list[str]
) -> None:
    first, *rest = services
    options = ["--service", first]
    for text in rest:
        options += [text] if text.startswith("--") or options[-1] == "--preset" else ["--service", text]
    ended = await project.proctor("init", *options)
    assert ended.status == 2, "init wrote a proctor.toml that no command can load"
    assert ended.stderr.startswith("proctor: bad_service: ")
    assert list(project.root.iterdir()) == []
