"""What a run leaves: for people, for scripts, for any SQLite tool; and that nothing of it is lost on the way."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import sqlite3
import sys
from typing import Any

import pytest
from aiohttp import ClientSession, web

from proctor.trajectories.file import read_trajectories
from proctor.trajectory import Trajectory
from tests.integration.harness.shop import CALLING, GOOD, case, ends, run, set_up
from tests.support import Finished, Project, clean_environment, running, serving

SETTINGS = """[agent]
url = "{url}"
version = "1.4"
model = "gpt-4.1-mini"
prompt_version = "7"
temperature = 0.1
top_p = 0.9
seed = 11
"""


class Agent:
    """An agent that is a service: it refunds at once, but for `waits` it waits until something else is done."""

    def __init__(self) -> None:
        self.waiting, self.go_on = asyncio.Event(), asyncio.Event()
        self.asked: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.asked.append(asked)
        if asked["case"] == "waits":
            self.waiting.set()
            await self.go_on.wait()
        async with (
            ClientSession() as http,
            http.post(f"{asked['services']['orders']}/tools/create_refund", json={"order_id": "A1"}) as answer,
        ):
            return web.json_response({"reply": await answer.text()})


async def started(project: Project, *options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "run", "shop", "--at-once", "1", *options),
        cwd=project.root,
        env=clean_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process) -> Finished:
    out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())


def rows(project: Project, query: str) -> list[tuple[Any, ...]]:
    """As somebody reads them who has nothing but SQLite."""
    with sqlite3.connect(f"file:{project.root}/.proctor/runs.db?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


@pytest.mark.req(130)
@pytest.mark.req(199)
@pytest.mark.req(218)
async def test_settings_versions_identity_and_seed_stand_on_record_and_reach_the_agent(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("a", trials=2)], SETTINGS.format(url=url))
        _, told = await run(project, "--seed", "5", "--at-once", "1")
    settings = {"model": "gpt-4.1-mini", "prompt_version": "7", "temperature": 0.1, "top_p": 0.9, "seed": 11}
    assert [asked["settings"] for asked in agent.asked] == [settings, settings]
    wanted = (
        "SELECT model, prompt_version, temperature, top_p, model_seed, seed, agent_version, suite_version FROM runs"
    )
    ((*found, suite_version),) = rows(project, wanted)
    assert found == ["gpt-4.1-mini", "7", 0.1, 0.9, 11, 5, "1.4"]
    trials = rows(project, "SELECT set_up, llm, user_id, seed FROM trials ORDER BY number")
    assert [trial[:2] for trial in trials] == [("world", "none")] * 2
    assert [trial[2] for trial in trials] == [asked["user_id"] for asked in agent.asked]
    assert len({trial[3] for trial in trials}) == 2
    data = (project.root / ".proctor" / "runs" / told["id"] / "trajectories.jsonl").read_bytes()
    for line, trial in zip(read_trajectories(data), trials, strict=True):
        assert isinstance(line, Trajectory)
        assert (line.seed, line.identity) == (trial[3], trial[2])
        assert (line.versions.agent, line.versions.suite) == ("1.4", suite_version)


async def test_a_model_is_asked_at_temperature_zero_where_nothing_else_is_said(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("a")], f'[agent]\nurl = "{url}"')
        await run(project)
    assert agent.asked[0]["settings"]["temperature"] == 0.0
    assert rows(project, "SELECT temperature FROM runs") == [(0.0,)]


@pytest.mark.req(16)
async def test_runs_and_trials_are_shown_by_their_names_and_unknown_ones_by_the_nearest(project: Project) -> None:
    fails = GOOD.replace('"refund" in asked["user"]', 'asked["case"] != "fails"')
    set_up(project, fails, [case("fails"), case("pays")])
    _, told = await run(project)
    listed = (await project.proctor("runs")).stdout
    assert told["id"] in listed
    assert "1 fail, 1 pass" in listed
    assert json.loads((await project.proctor("runs", told["id"], "--json")).stdout)["trials"] == told["trials"]
    shown = (await project.proctor("trial", "show", "fails")).stdout
    assert "fails#0: fail, final_state, definite" in shown
    again = (await project.proctor("trial", "show", "fails", "--again")).stdout
    assert again.startswith("fails#0+: fail, final_state")
    whole = json.loads((await project.proctor("trial", "show", "pays", "--full", "--json")).stdout)
    assert whole["trial"]["outcome"] == "pass"
    assert [check["name"] for check in whole["checks"]] == ["final_state"]
    assert whole["trajectory"]["steps"][0]["text"] == "Please refund A1."
    for arguments, nearest in (
        (("runs", told["id"][:-1] + "z"), told["id"]),
        (("trial", "show", "pay"), "pays"),
        (("trial", "show", "pays", "--trial", "7"), "pays#0"),
        (("trial", "show", "pays", "--again"), "pays#0"),
        (("run", "shop", "--only", "pay"), "pays"),
        (("run", "shopp"), "shop"),
        (("run", "--resume", told["id"][:-1] + "z"), "no run that is not finished"),
    ):
        done = await project.proctor(*arguments)
        assert (done.status, nearest in done.stderr) == (2, True), (arguments, done.stderr)


async def test_other_programs_read_the_record_and_go_their_way_while_a_run_goes_on(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("first"), case("waits"), case("last")], f'[agent]\nurl = "{url}"')
        process = await started(project)
        await agent.waiting.wait()
        assert rows(project, "SELECT state, planned FROM runs") == [("running", 3)]
        assert rows(project, "SELECT case_id, outcome FROM trials") == [("first", "pass")]
        shown = await project.proctor("runs", "last")
        assert "first#0" in shown.stdout
        assert "2 of 3 trials are missing" in shown.stdout
        busy = await project.proctor("run", "--resume", "last")
        assert (busy.status, "run_busy" in busy.stderr, f"process {process.pid}" in busy.stderr) == (2, True, True)
        other, told = await run(project, "--only", "first")
        assert (other.status, ends(told)) == (0, {"first": ("pass", "")})
        agent.go_on.set()
        done = await ended(process)
    assert done.status == 0
    assert sorted(rows(project, "SELECT state, planned FROM runs")) == [("finished", 1), ("finished", 3)]
    assert len(rows(project, "SELECT * FROM trials")) == 4


WAITS = (
    CALLING
    + """
for line in sys.stdin:
    asked = json.loads(line)
    if asked["case"] == "waits" and os.path.exists("wait"):
        DIRECT.open(open("wait").read(), str(os.getpid()).encode())
        time.sleep(600)
    reply(call("create_refund", order_id="A1"))
"""
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_agents_and_the_run_goes_on_later(project: Project, number: signal.Signals) -> None:
    told_pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def note(request: web.Request) -> web.Response:
        told_pid.set_result(int(await request.read()))
        return web.Response()

    set_up(project, WAITS, [case("first"), case("waits"), case("last")])
    async with serving(note) as url:
        (project.root / "wait").write_text(url)
        process = await started(project)
        pid = await told_pid
    process.send_signal(number)
    done = await ended(process)
    assert done.status == 130
    assert not running(pid)
    ((run_id, state),) = rows(project, "SELECT id, state FROM runs")
    assert state == "stopped"
    assert f"proctor run --resume {run_id}" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads((await project.proctor("runs", "last", "--json")).stdout)["status"] == 2
    (project.root / "wait").unlink()
    resumed = await project.proctor("run", "--resume", "last", "--json")
    told = json.loads(resumed.stdout)
    assert (resumed.status, told["id"], told["state"]) == (0, run_id, "finished")
    assert [trial["case_id"] for trial in told["trials"]] == ["first", "waits", "last"]


async def test_a_full_disk_ends_the_run_and_nothing_that_was_kept_is_lost(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("first"), case("waits"), case("last")], f'[agent]\nurl = "{url}"')
        process = await started(project)
        await agent.waiting.wait()
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, hard))
        agent.go_on.set()
        done = await ended(process)
        assert (done.status, "not_writable" in done.stderr) == (4, True), done.stderr
        assert "Traceback" not in done.stderr
        assert rows(project, "SELECT case_id, outcome FROM trials") == [("first", "pass")]
        resumed = await project.proctor("run", "--resume", "last", "--json")
    told = json.loads(resumed.stdout)
    assert (resumed.status, [trial["case_id"] for trial in told["trials"]]) == (0, ["first", "waits", "last"])


@pytest.mark.parametrize("place", [".proctor", ".proctor/runs", ".proctor/runs.db"])
async def test_where_nothing_can_be_kept_no_trial_begins(project: Project, place: str) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        set_up(project, "", [case("first")], f'[agent]\nurl = "{url}"')
        path = project.root / place
        path.parent.mkdir(exist_ok=True)
        if place.endswith(".db"):
            path.mkdir()
        else:
            path.touch()
        done = await project.proctor("run", "shop")
    assert (done.status, "Traceback" in done.stderr, str(path) in done.stderr) == (4, False, True), done.stderr
    assert agent.asked == []
