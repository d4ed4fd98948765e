"""Where we fail, or whoever we need does: a trial is tried again, fewer run at once, and what is done is kept."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web

from proctor.agents.contract import Conversation
from proctor.agents.http import HttpConversation
from proctor.cli.run_doing import run_suite
from proctor.cli.run_ready import ready
from proctor.config import CONFIG_NAME, load_config
from proctor.errors import ConfigError
from proctor.harness.planning import RunOptions
from proctor.harness.run_reading import Recorded, one_run, trajectory_at
from proctor.harness.trial import TrialPlan
from proctor.wire import SessionInfo
from tests.integration.harness.shop import case, set_up
from tests.support import Project, serving

SAYS = {"says": ["here"]}


async def here(_: web.BaseRequest) -> web.Response:
    return web.json_response({"reply": "I am here."})


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Clock:
    """Waits for nothing, and does something at a given wait."""

    def __init__(self, port: int = 0, at: int = 0) -> None:
        self.waited: list[float] = []
        self._port, self._at, self._stack = port, at, AsyncExitStack()

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        if len(self.waited) == self._at:
            runner = web.ServerRunner(web.Server(here))
            await runner.setup()
            self._stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", self._port).start()

    async def close(self) -> None:
        await self._stack.aclose()


async def going(project: Project, cases: Sequence[dict[str, Any]], url: str, clock: Clock, **options: Any) -> Recorded:
    set_up(project, "", cases, f'[agent]\nurl = "{url}"')
    config = load_config(project.root / CONFIG_NAME)
    try:
        return await run_suite(ready(config, RunOptions(suite="shop", **options)), wait=clock.wait)
    finally:
        await clock.close()


@pytest.mark.req(233)
async def test_a_trial_whose_agent_is_there_at_the_third_try_passes_and_keeps_what_went_wrong(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    clock = Clock(port, at=2)
    recorded = await going(project, [case("a", "Hello.", expect=SAYS)], f"http://127.0.0.1:{port}", clock)
    (trial,) = recorded.trials
    assert (trial["outcome"], trial["attempts"], clock.waited) == ("pass", 3, [1.0, 2.0])
    errors = json.loads(trial["errors_json"])
    assert [error.partition(":")[0] for error in errors] == ["agent_unreachable"] * 2
    notes = trajectory_at(project.layout.state, trial).notes
    assert [note[:24] for note in notes if note.startswith("attempt")] == [
        *("attempt 1 failed inside:", "attempt 2 failed inside:"),
    ]
    assert capsys.readouterr().err.count("again  a#0  agent_unreachable") == 2


@pytest.mark.req(128)
async def test_after_three_tries_a_trial_is_an_error_and_is_not_run_once_more(project: Project) -> None:
    clock = Clock()
    recorded = await going(project, [case("a", expect=SAYS)], f"http://127.0.0.1:{free_port()}", clock)
    assert [(trial["outcome"], trial["attempts"], trial["label"]) for trial in recorded.trials] == [("error", 3, "")]
    assert len(clock.waited) == 2


@pytest.mark.req(233)
async def test_three_errors_of_the_platform_in_a_row_halve_how_many_run_at_once(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [case(name, expect=SAYS) for name in "abcdefgh"]
    await going(project, cases, f"http://127.0.0.1:{free_port()}", Clock(), at_once=4)
    told = capsys.readouterr().err
    assert "shop: 8 trials, 4 at once" in told
    assert told.index("several platform errors in a row: 2 at once from now on") < told.index("1 at once from now on")


async def test_a_wrong_configuration_in_the_middle_ends_the_run_and_keeps_what_is_done(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def agent_of(plan: TrialPlan, _: SessionInfo) -> Conversation:
        if plan.case.id == "b":
            raise ConfigError("agent_odd", "no such agent", "name another")
        return HttpConversation(url)

    monkeypatch.setattr("proctor.cli.run_doing.agents_of", lambda *_: agent_of)
    cases = [case(name, expect=SAYS) for name in "abc"]
    async with serving(here) as url:
        with pytest.raises(ConfigError) as wrong:
            await going(project, cases, url, Clock(), at_once=1)
    assert wrong.value.exit_code == 2
    recorded = await one_run(project.layout.state, "last")
    assert recorded.run["state"] == "stopped"
    assert [(trial["case_id"], trial["outcome"]) for trial in recorded.trials] == [("a", "pass")]
    assert f"proctor run --resume {recorded.run['id']}" in capsys.readouterr().err
