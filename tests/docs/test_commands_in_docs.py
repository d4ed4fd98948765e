"""Every command that the docs show is run, in order, a page in a fresh folder.

Where a page says `https://staging.example/api`, the test puts the address of a real order desk; the LLM preset is given
the stand-in model's address; `agent.py` is the order desk's agent.
"""

from __future__ import annotations

import re
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from examples.order_desk import server, stand_in_model
from proctor.cassette import save_cassette
from proctor.config import CassettesConfig, RecordConfig, RedactConfig, load_config
from proctor.journal import JournalWriter
from proctor.scanning.allow import AllowEntry, load_allow
from proctor.service_config import ServiceConfig
from tests.support import ROOT, Finished, Project, namespaces_permitted, run, serving_app

PAGES = (
    "README.md",
    "docs/recording.md",
    "docs/tape-format.md",
    "docs/streams.md",
    "docs/matching.md",
    "docs/effects.md",
    "docs/trajectory.md",
    "docs/redaction.md",
    "docs/scanning.md",
    "docs/diff.md",
    "docs/change.md",
    "docs/judge.md",
    "docs/faults.md",
)
RUN_ELSEWHERE = ("make ", "pip install .")
AGENT = f"""\
import runpy, sys
sys.argv = ["agent.py", "--conversation", "refund_en"]
runpy.run_path({str(ROOT / "examples" / "order_desk" / "agent.py")!r}, run_name="__main__")
"""


@dataclass(frozen=True)
class Desk:
    """Where the real services of the docs are."""

    orders: str
    model: str


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with (
        serving_app(server.create_app()) as orders,
        serving_app(stand_in_model.create_app()) as model,
    ):
        yield Desk(orders, f"{model}/v1")


def commands_of(page: str) -> list[str]:
    """The commands of a page's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line[2:].partition("    #")[0].rstrip() for block in blocks for line in block.splitlines()]
    assert lines, f"{page} shows no command"
    return lines


@pytest.mark.parametrize("page", PAGES)
async def test_the_commands_of_a_page_work_as_shown(page: str, desk: Desk, project: Project) -> None:
    folder = Project(project.root / "fresh")
    folder.root.mkdir()
    folder.script("agent.py", AGENT)
    if "proctor init" not in "\n".join(commands_of(page)):
        await shell(folder, "proctor init --service orders=https://staging.example/api --preset openai", desk)
    commands = [command for command in commands_of(page) if not command.startswith(RUN_ELSEWHERE)]
    for command in sorted(commands, key=lambda command: not command.startswith("proctor init")):
        if command == "proctor cassette recover":
            plant_a_killed_recording(folder)
        if command == "proctor cassette accept refund":
            plant_a_recording_put_aside(folder)
        if command.startswith("git "):
            await shell(folder, "git init --quiet", desk)
        if "--isolate" not in command or namespaces_permitted():
            await shell(folder, command, desk)
    assert folder.tape("refund").services == ("openai", "orders")


async def test_the_pytest_page_s_test_is_recorded_and_replayed_as_shown(desk: Desk, project: Project) -> None:
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    project.script("test_refund.py", source)
    await shell(project, "proctor init --service orders=https://staging.example/api", desk)
    for command in commands_of("docs/pytest.md"):
        await shell(project, command, desk)
    assert project.layout.cassette_names() == ["test_refund/test_the_order_is_looked_up"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
async def test_the_commands_of_the_serve_page_work_in_one_shell(desk: Desk, project: Project) -> None:
    project.script("agent.py", AGENT)
    await shell(project, "proctor init --service orders=https://staging.example/api --preset openai", desk)
    await in_one_shell(project, commands_of("docs/serve.md"), desk)
    assert project.tape("refund").services == ("openai", "orders")


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
async def test_the_commands_of_the_carriers_page_work_beside_an_open_session(desk: Desk, project: Project) -> None:
    await shell(project, "proctor init --service orders=https://staging.example/api --preset openai", desk)
    start = commands_of("docs/serve.md")[:4]
    assert '"session": "one"' in start[-1]
    bound = 'test $(curl -sSf -H "$TOKEN" http://127.0.0.1:4711/_proctor/current) = \'{"session":"one"}\''
    await in_one_shell(project, [*start, *commands_of("docs/carriers.md"), bound], desk)


async def in_one_shell(folder: Project, commands: Sequence[str], desk: Desk) -> None:
    """Run commands of which the first starts a proxy, at a free port; where one fails, nothing runs on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    stopping = "trap 'kill $! 2> /dev/null || true' EXIT"
    lines = ("set -e -o pipefail", stopping, *(command.replace("4711", port) for command in commands))
    await shell(folder, "\n".join(lines), desk)


async def shell(folder: Project, command: str, desk: Desk) -> None:
    """Run one command as a user types it; it must end with status 0."""
    typed = command.replace("https://staging.example/api", desk.orders)
    done = await typed_in(folder, typed)
    assert done.status == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    if typed.startswith("proctor init"):
        config = folder.root / "proctor.toml"
        config.write_text(
            config.read_text(encoding="utf-8").replace('preset = "openai"', f'preset = "openai"\nurl = "{desk.model}"'),
            encoding="utf-8",
        )


async def typed_in(folder: Project, command: str) -> Finished:
    """A command in a shell that finds this Proctor and this Python."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    given = {"PATH": path, "OPENAI_API_KEY": "a-key-of-the-tests"}
    return await run("bash", "-c", command, cwd=folder.root, env=given)


def plant_a_killed_recording(folder: Project) -> None:
    """Leave the journal that a killed recording leaves."""
    tape = folder.tape("refund")
    head = {
        "session": "killed",
        "cassette": "killed",
        "recorded_at": tape.recorded_at,
        "modes": {"orders": "record", "openai": "record"},
        "services": {name: {"url": "", "expected_status": [], "key_headers": []} for name in tape.services},
        "identities": {},
    }
    journal = JournalWriter(folder.layout.journals / "killed.killed.jsonl", head)
    for interaction in tape.interactions:
        journal.interaction(interaction, client_gone=False)
    journal.close()


def plant_a_recording_put_aside(folder: Project) -> None:
    """Leave the recording that sealing refuses."""
    tape = folder.tape("refund")
    reasons = {**tape.stamp, "aside": ["#3 orders create_refund: the last answer was 503"]}
    save_cassette(folder.layout.aside / "refund.yaml", replace(tape, stamp=reasons))


def test_make_targets_that_the_docs_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        command.split()[1] for page in (*PAGES, "CONTRIBUTING.md") for command in commands_of(page) if "make" in command
    }
    assert named == {"demo", "test", "check", "bench", "figures", "soak", "clients"}
    assert all(re.search(rf"^{target}:.*## ", makefile, flags=re.MULTILINE) for target in named)


def test_links_between_pages_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_configuration_that_the_docs_show_can_be_loaded_and_every_key_is_explained(project: Project) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    project.configure(shown)
    config = load_config(project.root / "proctor.toml")
    assert set(config.services) == {"orders", "llm"}
    explained = set(re.findall(r"`(\w+)`", "\n".join(line for line in page.splitlines() if line.startswith("| `"))))
    tables = (ServiceConfig, CassettesConfig, RecordConfig, RedactConfig)
    assert {"pass_hosts", *(key for table in tables for key in table.model_fields)} <= explained


def test_the_rules_that_the_redaction_page_shows_can_be_loaded(project: Project) -> None:
    page = (ROOT / "docs" / "redaction.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    project.configure('[services.desk]\nurl = "http://desk.test"\n' + shown)
    config = load_config(project.root / "proctor.toml").redact
    assert set(RedactConfig.model_fields) == config.model_fields_set


def test_the_allow_list_and_the_hook_that_the_scanning_page_shows_are_right(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scanning.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    path = tmp_path / "allow.toml"
    path.write_text(shown)
    (entry,) = load_allow(path).allow
    assert set(AllowEntry.model_fields) == entry.model_fields_set
    (config,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [each["id"] for each in yaml.safe_load(config)["repos"][0]["hooks"]] == [hook["id"]]
