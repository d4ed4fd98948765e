"""From docs/agents.md alone to a first run, in a fresh folder; and the commands of docs/running.md after it."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest

from proctor.harness.limits import TOLD
from proctor.harness.trial import OUTCOMES
from tests.docs.test_commands_in_docs import commands_of, typed_in
from tests.support import ROOT, Project

AGENTS, CASES, WORLDS, RUNNING = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("agents", "cases", "worlds", "running")
)


def first(page: str, language: str) -> str:
    """The first block of a page in a language."""
    found = re.search(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def fresh(project: Project) -> Project:
    """What the page has its reader write, and nothing else."""
    folder = Project(project.root / "fresh")
    (folder.root / "suites").mkdir(parents=True)
    folder.script("agent.py", first(AGENTS, "python"))
    folder.script("desk.py", first(WORLDS, "python"))
    folder.configure(first(AGENTS, "toml"))
    (folder.root / "suites" / "orders.yaml").write_text(first(CASES, "yaml"), encoding="utf-8")
    return folder


async def test_the_commands_of_the_page_lead_to_a_first_run(fresh: Project) -> None:
    *before, last = commands_of("docs/agents.md")
    for command in before:
        done = await typed_in(fresh, command)
        assert done.status == 0, f"{command}: {done.stdout}{done.stderr}"
    done = await typed_in(fresh, f"{last} --json")
    told = json.loads(done.stdout.splitlines()[-1])
    assert (done.status, told["every"]["pass"], told["every"]["fail"]) == (1, 3, 4), done.stderr
    shown = re.findall(r"```\n(fail .*?)\n```", AGENTS)
    assert len(shown) == 1
    assert shown[0] in done.stderr


async def test_the_commands_of_running_work_as_shown(fresh: Project) -> None:
    statuses = {"proctor run orders": 1}
    for command in commands_of("docs/running.md"):
        if "--resume" in command:  # one that was stopped is wanted
            with sqlite3.connect(fresh.layout.state / "runs.db") as database:
                database.execute("UPDATE runs SET state = 'stopped' WHERE id = (SELECT MAX(id) FROM runs)")
        done = await typed_in(fresh, command)
        assert done.status == statuses.get(command, 0), f"{command}: {done.stdout}{done.stderr}"


def test_every_outcome_limit_and_table_is_on_the_page() -> None:
    assert all(f"`{name}`" in RUNNING for name in (*OUTCOMES, *TOLD))
    assert all(f"`{table}`" in RUNNING for table in ("runs", "trials", "checks"))
