"""A run that was killed, and goes on: it comes to what an unbroken one comes to, times and users apart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from examples.order_desk import stand_in_model
from examples.order_desk.agents import http_agent
from proctor.trajectories.file import read_trajectories
from proctor.trajectory import Trajectory
from tests.integration.agents.test_four_forms import KEY, SUITE_FILE, desk
from tests.integration.harness.shop import case, ends, run, set_up
from tests.support import Project, clean_environment, serving, serving_app

TRIALS = 3
CASES = ("alpha", "beta", "fails", "crashes")
TURNS = 2
REQUESTS = TRIALS * (2 + 2 * 2) * TURNS
"""That the agent gets in an unbroken run: what fails is run once more."""
SOAK = bool(os.environ.get("PROCTOR_SOAK"))
MOMENTS = tuple(Random(7).choices(range(1, REQUESTS), k=50)) if SOAK else (9, 25, 30)
DESK_TURNS = 25
"""That the user speaks in the ten cases of the order desk."""
DESK_MOMENTS = tuple(Random(7).choices(range(1, DESK_TURNS), k=50)) if SOAK else (1, 7, 13, 19, 24)


class Killer:
    """Kills whoever runs the agent at one of the agent's requests."""

    def __init__(self) -> None:
        self.victim: asyncio.subprocess.Process | None = None
        self.requests = 0
        self.kill_at = 0

    def count(self) -> bool:
        """One more request; tells whether it is the one at which the runner is killed."""
        self.requests += 1
        return self.victim is not None and self.requests == self.kill_at

    def kill(self) -> None:
        assert self.victim is not None
        os.kill(self.victim.pid, signal.SIGKILL)

    async def killed(self, project: Project, moment: int, suite: str, *options: str) -> None:
        """Run until the runner is killed at that request."""
        self.requests, self.kill_at = 0, moment
        self.victim = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proctor", "run", suite, "--at-once", "3", *options),
            cwd=project.root,
            env={**clean_environment(), "OPENAI_API_KEY": KEY},
            stderr=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await self.victim.wait() == -signal.SIGKILL
        self.victim = None


class Agent(Killer):
    """An agent that is a service, half of whose cases go wrong."""

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        last = self.count()
        await self._call(asked, "query_order", order_id="A1")
        if last:
            self.kill()
        if asked["case"] == "crashes" and asked["turn"]:
            return web.Response(status=500, text="out of order")
        if not asked["turn"] and asked["case"] != "fails":
            return web.json_response({"reply": await self._call(asked, "create_refund", order_id="A1")})
        return web.json_response({"reply": "You are welcome."})

    async def _call(self, asked: dict[str, Any], tool: str, **arguments: str) -> str:
        url = f"{asked['services']['orders']}/tools/{tool}"
        try:
            async with aiohttp.ClientSession() as http, http.post(url, json=arguments) as answer:
                return await answer.text()
        except aiohttp.ClientError as error:  # whoever ran it is gone
            return str(error)


def plain(run_: Trajectory) -> dict[str, Any]:
    """A trajectory without its times, its session, its user, and the ids that a model minted for its calls."""
    ids: dict[str, str] = {}
    for step in run_.steps:
        for call in step.tool_calls:
            ids.setdefault(call.id, f"call {len(ids)}")
    told = run_.model_dump(mode="json", exclude={"session", "seconds", "identity", "source"})
    for step in told["steps"]:
        step["seconds"] = None
        step["tool_call_id"] = ids.get(step["tool_call_id"], step["tool_call_id"])
        for call in step["tool_calls"]:
            call["id"] = ids[call["id"]]
    return told


def on_record(root: Path, told: dict[str, Any]) -> dict[str, Any]:
    """All that a run came to, without times, sessions and users."""
    data = (root / ".proctor" / "runs" / told["id"] / "trajectories.jsonl").read_bytes()
    runs = {}
    for line in read_trajectories(data):
        assert isinstance(line, Trajectory)
        runs[line.id] = plain(line)
    with sqlite3.connect(root / ".proctor" / "runs.db") as database:
        wanted = "SELECT case_id, number, again, place, turn, name, outcome, message FROM checks WHERE run = ?"
        checks = sorted(database.execute(wanted, (told["id"],)).fetchall(), key=str)
    apart = {"run", "session", "user_id", "seconds", "ended", "line_at", "line_bytes", "rowid"}
    trials = [{name: value for name, value in trial.items() if name not in apart} for trial in told["trials"]]
    return {
        "trials": sorted(trials, key=lambda trial: (trial["case_id"], trial["number"], trial["again"])),
        "runs": runs,
        "checks": checks,
        "status": told["status"],
        "counts": told["every"],
    }


def cases() -> list[dict[str, Any]]:
    return [case(name, "Please refund A1.", "Thanks.") for name in CASES]


async def goes_on(project: Project, killer: Killer, moments: tuple[int, ...], suite: str, *options: str) -> None:
    """A run that is killed at each of these requests, and resumed, comes to what an unbroken one comes to."""
    env = {"OPENAI_API_KEY": KEY}
    whole = await project.proctor("run", suite, "--json", "--at-once", "3", *options, env=env)
    expected = on_record(project.root, json.loads(whole.stdout.splitlines()[-1]))
    for moment in moments:
        await killer.killed(project, moment, suite, *options)
        left = json.loads((await project.proctor("runs", "--json")).stdout)["runs"][0]
        assert left["state"] == "running"
        resumed = await project.proctor("run", "--resume", "last", "--json", env=env)
        again = json.loads(resumed.stdout.splitlines()[-1])
        assert (again["id"], again["state"], resumed.status) == (left["id"], "finished", whole.status)
        found = on_record(project.root, again)
        for name, each in found["runs"].items():
            assert each == expected["runs"][name], f"killed at request {moment}: {name}"
        assert found == expected, f"killed at request {moment}"


async def test_a_run_that_was_killed_and_goes_on_comes_to_the_same_with_failures_in_it(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        await goes_on(project, agent, MOMENTS, "shop", "--trials", str(TRIALS))


async def test_the_order_desk_with_a_stand_in_model_comes_to_the_same_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    killer = Killer()

    @web.middleware
    async def counting(request: web.Request, handler: Any) -> web.StreamResponse:
        if killer.count():
            killer.kill()
        answer: web.StreamResponse = await handler(request)
        return answer

    app = http_agent.create_app()
    app.middlewares.append(counting)
    async with serving_app(app) as url, serving_app(stand_in_model.create_app()) as model:
        project = desk(tmp_path / "desk", model, f'url = "{url}/turns"')
        await goes_on(project, killer, DESK_MOMENTS, SUITE_FILE)
        whole = json.loads((await project.proctor("runs", "--json")).stdout)["runs"][0]["outcomes"]
    assert whole == {"pass": 10}


async def test_trials_that_are_done_are_not_made_again(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        await agent.killed(project, REQUESTS - 1, "shop", "--trials", str(TRIALS))
        before = agent.requests
        await project.proctor("run", "--resume", "last", "--json")
        assert agent.requests - before <= 3 * 2 * TURNS, "at most the three that were under way, and their one more run"


async def test_what_a_kill_left_half_written_is_dropped(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        await agent.killed(project, 20, "shop", "--trials", str(TRIALS))
        (path,) = project.root.glob(".proctor/runs/*/trajectories.jsonl")
        with path.open("ab") as file:
            file.write(b'{"v": 1, "id": "torn')
        resumed = await project.proctor("run", "--resume", "last", "--json")
        assert ends(json.loads(resumed.stdout.splitlines()[-1]))["alpha"] == ("pass", "")
        assert all(isinstance(line, Trajectory) for line in read_trajectories(path.read_bytes()))


@pytest.mark.parametrize("what", ["suite", "agent"])
async def test_a_run_does_not_go_on_with_another_suite_or_agent(project: Project, what: str) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        toml = f'[agent]\nurl = "{url}"\nversion = "1"'
        set_up(project, "", cases(), toml)
        await agent.killed(project, 3, "shop")
        changed = cases()[:3] if what == "suite" else cases()
        set_up(project, "", changed, toml.replace('"1"', '"2"') if what == "agent" else toml)
        resumed = await project.proctor("run", "--resume", "last")
    assert (resumed.status, f"the {what} has changed" in resumed.stderr) == (2, True)


async def test_there_is_nothing_to_go_on_with_where_all_runs_are_finished(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("alpha")], f'[agent]\nurl = "{url}"')
        await run(project)
        resumed = await project.proctor("run", "--resume", "last")
    assert (resumed.status, "no run that is not finished" in resumed.stderr) == (2, True)


@pytest.mark.parametrize("options", [("--only", "alpha"), ("--trials", "3"), ("--record",), ("shop", "--", "python")])
async def test_a_run_that_goes_on_is_told_nothing_new(project: Project, options: tuple[str, ...]) -> None:
    set_up(project, "", [case("alpha")], '[agent]\nurl = "http://127.0.0.1:9"')
    resumed = await project.proctor("run", "--resume", "last", *options)
    assert (resumed.status, "resume_with_more" in resumed.stderr) == (2, True)
