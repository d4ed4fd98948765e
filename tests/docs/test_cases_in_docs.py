"""The suite of docs/cases.md can be read, passes lint, and the page's commands work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from proctor.agents.contract import Answered, Asked, Failure, read_answer
from proctor.cases.accounts import read_accounts
from proctor.cases.case import Case
from proctor.cases.parts import Expectations
from tests.docs.test_commands_in_docs import Desk, commands_of, shell
from tests.support import ROOT, Project

PAGE = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
WORLD = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")


def block(page: str, language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)
    return str(found)


@pytest.fixture
def desk(project: Project) -> Project:
    project.script("desk.py", block(WORLD, "python"))
    project.configure(block(WORLD, "toml"))
    (project.root / "suites").mkdir()
    (project.root / "suites" / "orders.yaml").write_text(block(PAGE, "yaml"), encoding="utf-8")
    return project


async def test_the_commands_of_the_page_work_as_shown(desk: Project) -> None:
    for command in commands_of("docs/cases.md"):
        await shell(desk, command, Desk("", ""))
    assert "cases" in json.loads((desk.root / "suites" / "schema.json").read_text())["properties"]


async def test_the_suite_of_the_page_has_no_error_and_its_template_makes_six_wordings(desk: Project) -> None:
    linted = await desk.proctor("suite", "lint", "orders", "--prove", "--json")
    (problems,) = json.loads(linted.stdout)["suites"].values()
    assert [each["code"] for each in problems].count("no_reference") == 6, "the template has none"
    assert not [each for each in problems if each["level"] == "error"]
    expanded = await desk.proctor("suite", "expand", "orders")
    said = [json.loads(line) for line in expanded.stdout.splitlines()]
    assert [each["turns"][0]["user"] for each in said[1:3]] == ["Order A1: refund 1.", "Order A1: I want 1 back."]
    assert len(said) == 7


def test_every_key_of_a_case_is_on_the_page() -> None:
    missing = [key for key in {**Case.model_fields, **Expectations.model_fields} if f"`{key}`" not in PAGE]
    assert not missing


def test_what_an_agent_gets_and_gives_is_as_docs_agents_says() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    asked, answered = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert Asked.model_validate_json(asked).model_fields_set == set(Asked.model_fields)
    assert read_answer(answered).model_fields_set == set(Answered.model_fields)
    assert all(f"`{kind}`" in page for kind in get_args(Failure))


def test_the_accounts_of_the_page_are_read(tmp_path: Path) -> None:
    path = tmp_path / "accounts.toml"
    path.write_text(block(PAGE, "toml"), encoding="utf-8")
    path.chmod(0o600)
    assert set(read_accounts(tmp_path).accounts) == {"ann", "shared"}
