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

from proctor.trajectories.file import read_trajectories
from proctor.trajectory import Trajectory
from tests.integration.harness.shop import case, ends, run, set_up
from tests.support import Project, clean_environment, serving

TRIALS = 3
CASES = ("alpha", "beta", "fails", "crashes")
TURNS = 2
REQUESTS = TRIALS * (2 + 2 * 2) * TURNS
"""That the agent gets in an unbroken run: what fails is run once more."""
MOMENTS = tuple(range(1, REQUESTS, 8))
MANY = 50 if os.environ.get("PROCTOR_SOAK") else 0


class Agent:
    """An agent that is a service, and kills whoever runs it at one of its requests."""

    def __init__(self) -> None:
        self.victim: asyncio.subprocess.Process | None = None
        self.requests = 0
        self.kill_at = 0

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests += 1
        number = self.requests
        await self._call(asked, "query_order", order_id="A1")
        if self.victim and number == self.kill_at:
            os.kill(self.victim.pid, signal.SIGKILL)
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
    """A trajectory without its times, its session and its user."""
    told = run_.model_dump(mode="json", exclude={"session", "seconds", "identity", "source", "steps"})
    steps = [step.model_dump(mode="json", exclude={"seconds"}) for step in run_.steps]
    return {**told, "steps": steps}


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


async def killed(project: Project, agent: Agent, moment: int) -> None:
    """Run until the agent kills the runner at one of its requests."""
    agent.requests, agent.kill_at = 0, moment
    agent.victim = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "run", "shop", "--trials", str(TRIALS), "--at-once", "3"),
        cwd=project.root,
        env=clean_environment(),
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await agent.victim.wait() == -signal.SIGKILL
    agent.victim = None


@pytest.mark.parametrize("moments", [MOMENTS, *((moment,) for moment in Random(7).choices(range(1, REQUESTS), k=MANY))])
async def test_a_run_that_was_killed_and_goes_on_comes_to_the_same(project: Project, moments: tuple[int, ...]) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        whole, told = await run(project, "--trials", str(TRIALS), "--at-once", "3")
        expected = on_record(project.root, told)
        assert agent.requests == REQUESTS
        for moment in moments:
            await killed(project, agent, moment)
            left = json.loads((await project.proctor("runs", "--json")).stdout)["runs"][0]
            assert left["state"] == "running"
            resumed = await project.proctor("run", "--resume", "last", "--json")
            again = json.loads(resumed.stdout.splitlines()[-1])
            assert (again["id"], again["state"], resumed.status) == (left["id"], "finished", whole.status)
            assert on_record(project.root, again) == expected, f"killed at request {moment}"


async def test_trials_that_are_done_are_not_made_again(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        await killed(project, agent, REQUESTS - 1)
        before = agent.requests
        await project.proctor("run", "--resume", "last", "--json")
        assert agent.requests - before <= 3 * 2 * TURNS, "at most the three that were under way, and their one more run"


async def test_what_a_kill_left_half_written_is_dropped(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", cases(), f'[agent]\nurl = "{url}"')
        await killed(project, agent, 20)
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
        await killed(project, agent, 3)
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
