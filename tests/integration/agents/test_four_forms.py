"""The order desk's agent in four forms: whatever it is made of, its world sees the same calls and ends the same."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from examples.order_desk import stand_in_model
from examples.order_desk.agents import http_agent
from proctor.trajectories.file import read_trajectories
from proctor.trajectory import Trajectory
from tests.support import ROOT, Project, serving_app

DESK = ROOT / "examples" / "order_desk"
SUITE_FILE = "examples/order_desk/suite.yaml"
TOML = """\
[services.orders]
world = "examples.order_desk.world:OrderDesk"
env = ["ORDERS_URL"]

[services.llm]
preset = "openai"
url = "{model}/v1"

[agent]
model = "{name}"
{settings}
{form}
"""
CHAT = 'chat = { prompt_file = "examples/order_desk/prompt.txt" }'
PYTHON = 'python = "examples.order_desk.agents.python_agent:answer"'
KEY = "sk-a-key-of-the-tests-0123456789"
NODE = 'command = "node examples/order_desk/agents/node_agent.mjs"'


@dataclass(frozen=True)
class Ran:
    """One case as its session saw it."""

    ended: tuple[str, str, str]
    """Outcome, reason and message."""
    calls: list[list[Any]]
    """Of tools: name and arguments, as the world saw them."""
    state: Any
    replies: list[str | None]
    asked: list[Any]
    """Requests to the model."""
    said: tuple[Any, ...]
    """Set-up, what stood for the model, seed, and for whom the agent acted."""


async def run(project: Project, *options: str) -> dict[str, Ran]:
    """The suite, or some of its cases, by the real command."""
    done = await project.proctor("run", SUITE_FILE, "--json", *options, env={"OPENAI_API_KEY": KEY})
    told = json.loads(done.stdout.splitlines()[-1])
    lines = read_trajectories((project.layout.state / "runs" / told["id"] / "trajectories.jsonl").read_bytes())
    runs = {line.case: line for line in lines if isinstance(line, Trajectory)}
    return {trial["case_id"]: _ran(project, trial, runs[trial["case_id"]]) for trial in told["trials"]}


def _ran(project: Project, trial: dict[str, Any], run: Trajectory) -> Ran:
    rows = project.trace(trial["session"])
    return Ran(
        ended=(trial["outcome"], trial["reason"], trial["message"]),
        calls=[[row.tool, row.arguments] for row in rows if row.service == "orders" and row.tool],
        state=run.end_state,
        replies=[step.text for step in run.steps if step.role == "assistant" and not step.tool_calls],
        asked=[row.arguments for row in rows if row.service == "llm"],
        said=(trial["set_up"], trial["llm"], run.seed, run.identity),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """What the ten cases come to with the chat, which needs no process of its own."""
    return await ran(tmp_path_factory.mktemp("chat"), CHAT)


def desk(folder: Path, model: str, form: str, settings: str = "") -> Project:
    """The order desk with an agent of that form."""
    project = Project(folder)
    shutil.copytree(DESK, folder / "examples" / "order_desk", ignore=shutil.ignore_patterns("__pycache__"))
    project.layout.ensure_state()
    local = shutil.copy(DESK / "accounts.example.toml", project.layout.state / "accounts.toml")
    Path(local).chmod(0o600)
    name = "openai/gpt-4.1-mini" if form == CHAT else "gpt-4.1-mini"
    project.configure(TOML.format(model=model, name=name, form=form, settings=settings))
    return project


SUITE = (
    *("refund_zh", "address_zh", "replace_zh", "policy_zh", "notify_zh"),
    *("refund_en", "logistics_en", "out_of_stock_en", "policy_en", "notify_en"),
)


SET = "temperature = 0.3\ntop_p = 0.9\nseed = 11\n"
"""In the ten cases; in one more run the defaults."""


def settings_asked(ran_: Ran) -> list[tuple[Any, ...]]:
    """With which settings the model was asked, each once."""
    names = ("model", "temperature", "top_p", "seed")
    return list(dict.fromkeys(tuple(asked.get(name) for name in names) for asked in ran_.asked))


def without_channel(value: Any) -> Any:
    """The same without what says by which channel the customer wrote: only agents that are programs add it."""
    if isinstance(value, dict):
        return {key: without_channel(each) for key, each in value.items() if key != "channel"}
    return [without_channel(each) for each in value] if isinstance(value, list) else value


async def ran(folder: Path, form: str) -> dict[str, Ran]:
    """The ten cases by an agent of that form, each of which met what its case expects."""
    async with serving_app(stand_in_model.create_app()) as model:
        found = await run(desk(folder / "desk", model, form, SET))
    assert {name: each.ended for name, each in found.items()} == dict.fromkeys(SUITE, ("pass", "", ""))
    return found


async def same(folder: Path, form: str, expected: dict[str, Ran]) -> None:
    """An agent of that form did what the chat did, and told its world by which channel the customer wrote."""
    for name, each in (await ran(folder, form)).items():
        assert without_channel(each.calls) == without_channel(expected[name].calls), name
        assert without_channel(each.state) == without_channel(expected[name].state), name
        assert each.replies == expected[name].replies, name
        assert each.said == expected[name].said, name
        assert all(arguments["channel"] == "chat" for _, arguments in each.calls), name


@pytest.mark.req(115, 205)
async def test_a_python_function_does_as_the_chat_does(tmp_path: Path, expected: dict[str, Ran]) -> None:
    await same(tmp_path, PYTHON, expected)


@pytest.mark.req(115, 205)
async def test_a_service_does_as_the_chat_does(tmp_path: Path, expected: dict[str, Ran]) -> None:
    async with serving_app(http_agent.create_app()) as url:
        await same(tmp_path, f'url = "{url}/turns"', expected)


@pytest.mark.req(115, 205)
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
async def test_a_program_in_another_language_does_as_the_chat_does(tmp_path: Path, expected: dict[str, Ran]) -> None:
    await same(tmp_path, NODE, expected)


@pytest.mark.req(130, 218)
@pytest.mark.parametrize("form", ["chat", "python", "service", "program"])
async def test_the_model_is_asked_at_temperature_0_unless_the_configuration_says_otherwise(
    tmp_path: Path, form: str
) -> None:
    if form == "program" and shutil.which("node") is None:
        pytest.skip("there is no node here")
    async with (
        serving_app(http_agent.create_app()) as url,
        serving_app(stand_in_model.create_app()) as model,
    ):
        forms = {"chat": CHAT, "python": PYTHON, "service": f'url = "{url}/turns"', "program": NODE}
        found = await run(desk(tmp_path / "desk", model, forms[form]), "--only", "notify_zh")
    assert settings_asked(found["notify_zh"]) == [("gpt-4.1-mini", 0, None, None)]
