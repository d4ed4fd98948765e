"""The order desk's agent in four forms: whatever it is made of, its world sees the same calls and ends the same."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from examples.order_desk import stand_in_model
from examples.order_desk.agents import http_agent
from proctor.agents.contract import Asked, Said
from proctor.agents.making import conversation_of, settings_of
from proctor.cases.accounts import Accounts, read_accounts
from proctor.cases.case import Case
from proctor.cases.evaluating import evaluate
from proctor.cases.files import read_suite
from proctor.checks.writes import ToolEffects
from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, Config, load_config
from proctor.launch import agent_environment
from proctor.proxy.server import start_proxy
from proctor.trace import TraceRow
from proctor.trajectories.from_session import from_session
from proctor.wire import SessionInfo, SessionSpec
from tests.support import ROOT, Project, serving_app

DESK = ROOT / "examples" / "order_desk"
AT_ONCE = 3
SECONDS = 60.0
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

    calls: list[list[Any]]
    """Of tools: name and arguments, as the world saw them."""
    state: Any
    replies: list[str]
    failed: list[str]
    """Expectations of the case that were not met."""
    asked: list[Any]
    """Requests to the model."""


@dataclass(frozen=True)
class Desk:
    """A proxy over a project whose agent has one form, with a live stand-in model."""

    config: Config
    control: ControlClient
    accounts: Accounts

    async def run(self, cases: list[Case]) -> dict[str, Ran]:
        """Each case in a session of its own."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(case: Case) -> Ran:
            async with gate:
                return await self._one(case)

        return dict(zip((case.id for case in cases), await asyncio.gather(*map(one, cases)), strict=True))

    async def _one(self, case: Case) -> Ran:
        info = await self.control.open(SessionSpec(cassette=case.id, modes={"orders": "world", "llm": "live"}))
        replies = await self._replies(case, info)
        world = await self.control.world(info.session, "orders")
        rows: list[TraceRow] = await self.control.trace(info.session)
        summary = await self.control.close(info.session)
        run, *others = from_session(summary, rows, worlds={"orders": world.state}, case=case.id)
        assert not others
        looked = evaluate(case, run, ToolEffects(reads=("query_*", "search_policy")))
        failed = [f"{each.turn}: {each.result}" for each in looked if each.result.outcome != "pass"]
        calls = [[row.tool, row.arguments] for row in rows if row.service == "orders" and row.tool]
        asked = [row.arguments for row in rows if row.service == "llm"]
        return Ran(calls, world.state, replies, failed, asked)

    async def _replies(self, case: Case, info: SessionInfo) -> list[str]:
        variables = agent_environment(self.config, info)
        history: list[Said] = []
        async with conversation_of(self.config, info, variables, len(case.turns)) as agent:
            for number, turn in enumerate(case.turns):
                asked = Asked(
                    case=case.id,
                    trial=0,
                    session=info.session,
                    session_url=info.url,
                    services={name: f"{info.url}/{name}" for name in info.modes},
                    account=case.account,
                    audience=self.accounts.accounts[case.account].audience,
                    settings=settings_of(self.config.agent),
                    turn=number,
                    user=turn.user,
                    history=tuple(history),
                )
                reply = (await agent.ask(asked, SECONDS)).reply
                history += [Said(role="user", content=turn.user), Said(role="assistant", content=reply)]
        return [said.content for said in history if said.role == "assistant"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """What the ten cases come to with the chat, which needs no process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        patch.setenv("OPENAI_API_KEY", KEY)
        return await ran(tmp_path_factory.mktemp("chat"), CHAT)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, no_proxies: None) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@asynccontextmanager
async def desk(folder: Path, model: str, form: str, settings: str = "") -> AsyncIterator[Desk]:
    """The order desk with an agent of that form."""
    project = Project(folder)
    shutil.copytree(DESK, folder / "examples" / "order_desk", ignore=shutil.ignore_patterns("__pycache__"))
    project.layout.ensure_state()
    local = shutil.copy(DESK / "accounts.example.toml", project.layout.state / "accounts.toml")
    Path(local).chmod(0o600)
    name = "openai/gpt-4.1-mini" if form == CHAT else "gpt-4.1-mini"
    project.configure(TOML.format(model=model, name=name, form=form, settings=settings))
    config = load_config(folder / CONFIG_NAME)
    proxy = await start_proxy(config)
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            yield Desk(config, control, read_accounts(project.layout.state))
    finally:
        await proxy.close()


SUITE = (
    *("refund_zh", "address_zh", "replace_zh", "policy_zh", "notify_zh"),
    *("refund_en", "logistics_en", "out_of_stock_en", "policy_en", "notify_en"),
)


def cases() -> list[Case]:
    """The ten of the order desk's suite."""
    return [placed.case for placed in read_suite(DESK / "suite.yaml").cases]


def without_channel(value: Any) -> Any:
    """The same without what says by which channel the customer wrote: only agents that are programs add it."""
    if isinstance(value, dict):
        return {key: without_channel(each) for key, each in value.items() if key != "channel"}
    return [without_channel(each) for each in value] if isinstance(value, list) else value


async def ran(folder: Path, form: str) -> dict[str, Ran]:
    """The ten cases by an agent of that form, each of which met what its case expects."""
    async with serving_app(stand_in_model.create_app()) as model, desk(folder / "desk", model, form) as running:
        found = await running.run(cases())
    assert {name: each.failed for name, each in found.items()} == {name: [] for name in SUITE}
    return found


async def same(folder: Path, form: str, expected: dict[str, Ran]) -> None:
    """An agent of that form did what the chat did, and told its world by which channel the customer wrote."""
    for name, each in (await ran(folder, form)).items():
        assert without_channel(each.calls) == without_channel(expected[name].calls), name
        assert without_channel(each.state) == without_channel(expected[name].state), name
        assert each.replies == expected[name].replies, name
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


SET = "temperature = 0.3\ntop_p = 0.9\nseed = 11\n"


@pytest.mark.req(130, 218)
@pytest.mark.parametrize("settings", ["", SET])
@pytest.mark.parametrize("form", ["chat", "python", "service", "program"])
async def test_the_model_is_asked_with_the_settings_of_the_configuration(
    tmp_path: Path, form: str, settings: str
) -> None:
    if form == "program" and shutil.which("node") is None:
        pytest.skip("there is no node here")
    case = next(case for case in cases() if case.id == "notify_zh")
    async with (
        serving_app(http_agent.create_app()) as url,
        serving_app(stand_in_model.create_app()) as model,
    ):
        forms = {"chat": CHAT, "python": PYTHON, "service": f'url = "{url}/turns"', "program": NODE}
        async with desk(tmp_path / "desk", model, forms[form], settings) as running:
            asked = (await running.run([case]))[case.id].asked
    told = [{key: each.get(key) for key in ("model", "temperature", "top_p", "seed")} for each in asked]
    wanted = (0.3, 0.9, 11) if settings else (0, None, None)
    assert told == [dict(zip(told[0], ("gpt-4.1-mini", *wanted), strict=True))] * 5
