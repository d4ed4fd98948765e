"""The world of docs/worlds.md is short, and works as the page says."""

from __future__ import annotations

import json
import re

import pytest

from proctor.summary import WORLD_CODES
from tests.docs.test_commands_in_docs import Desk, commands_of, shell
from tests.support import ROOT, Project

PAGE = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
AGENT = """\
import json, os, urllib.request
for tool in ("query_order", "create_refund"):
    body = json.dumps({"order_id": "A1", **({"amount": 15} if tool == "create_refund" else {})}).encode()
    print(urllib.request.urlopen(os.environ["ORDERS_URL"] + "/tools/" + tool, body).read().decode())
"""


def block(language: str) -> str:
    """The only block of the page in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(found)


@pytest.fixture
def desk(project: Project) -> Project:
    project.script("desk.py", block("python"))
    project.script("agent.py", AGENT)
    project.configure(block("toml"))
    return project


def test_a_world_from_nothing_takes_less_than_forty_lines() -> None:
    assert len([line for line in block("python").splitlines() if line.strip()]) < 40


async def test_the_commands_of_the_page_work_as_shown(desk: Project) -> None:
    for command in commands_of("docs/worlds.md"):
        await shell(desk, command, Desk("", ""))


async def test_the_world_of_the_page_keeps_its_rules(desk: Project) -> None:
    called = ("world", "call", "orders", "--json")
    early = await desk.proctor(*called, "create_refund", '{"order_id": "A1", "amount": 15}')
    assert json.loads(early.stdout)["calls"][0]["result"]["error"] == "order_not_looked_up"
    steps = ("query_order", '{"order_id": "A1"}', "create_refund", '{"order_id": "A1", "amount": 41}')
    large = json.loads((await desk.proctor(*called, *steps)).stdout)
    assert (large["calls"][1]["result"]["error"], large["diff"]) == ("refund_too_large", [])


def test_every_code_of_a_failing_world_is_on_the_page() -> None:
    assert all(f"`{code}`" in PAGE for code in WORLD_CODES)
