"""Trials that run at once see nothing of each other: neither state nor tape, neither user nor ids nor environment."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from proctor.trajectories.file import read_trajectories
from proctor.trajectory import Trajectory
from tests.integration.harness.shop import CALLING, case, run, set_up
from tests.support import Project, services, serving, session

MANY = 64
FEW = 8
PATIENT = {"tool": 120, "response": 120, "session": 400}
"""Limits in which this many trials fit on a slow machine too."""


def apart(values: Sequence[Any]) -> bool:
    """Whether there are some, and no two are the same."""
    return len(set(values)) == len(values) > 0


def trajectories(project: Project, told: Mapping[str, Any]) -> list[Trajectory]:
    """Those of a run."""
    path = project.root / ".proctor" / "runs" / told["id"] / "trajectories.jsonl"
    runs = list(read_trajectories(path.read_bytes()))
    return [each for each in runs if isinstance(each, Trajectory)]


class Held:
    """An agent that is a service. It holds all conversations until each of them has come as far as the others."""

    def __init__(self, trials: int) -> None:
        self.all_here = asyncio.Barrier(trials)
        self.asked: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.asked.append(asked)
        async with aiohttp.ClientSession() as http:
            return web.json_response(await self.conversation(asked, Tools(http, asked)))

    async def conversation(self, asked: dict[str, Any], tools: Tools) -> dict[str, Any]:
        """The answer to one turn."""
        raise NotImplementedError


class Tools:
    """The tools of one trial."""

    def __init__(self, http: aiohttp.ClientSession, asked: dict[str, Any]) -> None:
        self._http = http
        self._url = asked["services"]["orders"]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        async with self._http.post(f"{self._url}/tools/{tool}", json=arguments) as answer:
            return await answer.json()


class InWorld(Held):
    """Writes down its own session's name, and reads what stands there once all others have written too."""

    async def conversation(self, asked: dict[str, Any], tools: Tools) -> dict[str, Any]:
        own = asked["session"]
        await self.all_here.wait()
        await tools.call("note", text=f"{own} {asked['turn']}")
        refund = await tools.call("create_refund", order_id="A1")
        await self.all_here.wait()
        notes = await tools.call("read_notes")
        told = {"kind": "intent", "data": {"intent": own}}
        return {"reply": json.dumps({"own": own, "notes": notes, "refund": refund}), "events": [told]}


async def test_64_trials_at_once_each_have_a_world_ids_a_user_and_a_seed_of_their_own(project: Project) -> None:
    agent = InWorld(MANY)
    async with serving(agent.answer) as url:
        set_up(project, "", [case("notes", "First.", "Second.", limits=PATIENT)], f'[agent]\nurl = "{url}"')
        done, told = await run(project, "--trials", str(MANY), "--at-once", str(MANY))
    trials = told["trials"]
    assert (done.status, [trial["outcome"] for trial in trials]) == (0, ["pass"] * MANY)
    for column in ("session", "seed", "user_id"):
        assert apart([trial[column] for trial in trials]), column
    sessions = {trial["number"]: trial["session"] for trial in trials}
    users = {trial["number"]: trial["user_id"] for trial in trials}
    assert len(agent.asked) == 2 * MANY
    for asked in agent.asked:
        assert (asked["session"], asked["user_id"]) == (sessions[asked["trial"]], users[asked["trial"]])
    runs = trajectories(project, told)
    assert len(runs) == MANY
    for each in runs:
        assert_own_only(each, sessions[each.trial])
    assert apart([order for each in runs for order in each.end_state["refunds"]])


def assert_own_only(each: Trajectory, own: str) -> None:
    """A trial in which every name, in whatever place, is its own."""
    notes = [f"{own} 0", f"{own} 1"]
    said = [json.loads(step.text or "") for step in each.steps if step.role == "assistant" and step.text]
    refunds = list(each.end_state["refunds"])
    assert each.session == own
    assert each.end_state["notes"] == notes
    assert [(one["own"], one["notes"], one["refund"]) for one in said] == [
        (own, notes[:1], refunds[0]),
        (own, notes, refunds[1]),
    ]
    assert [(step.name, step.turn) for step in each.steps if step.role == "tool"] == [
        (tool, turn) for turn in (0, 1) for tool in ("note", "create_refund", "read_notes")
    ]
    assert [(event.kind, event.data) for event in each.events if event.by == "agent"] == [
        ("intent", {"intent": own}),
        ("intent", {"intent": own}),
    ]
    assert [(state.turn, state.before["notes"], state.after["notes"]) for state in each.states] == [
        (0, [], notes[:1]),
        (1, notes[:1], notes),
    ]


class OnTape(Held):
    """Reads, writes and reads. Half of the trials begin only when the others have written."""

    async def conversation(self, asked: dict[str, Any], tools: Tools) -> dict[str, Any]:
        answers = []
        if asked["trial"] % 2 == 0:
            answers += [await tools.call("read_notes"), await tools.call("note", text="one")]
        await self.all_here.wait()
        if asked["trial"] % 2:
            answers += [await tools.call("read_notes"), await tools.call("note", text="one")]
        await self.all_here.wait()
        answers += [await tools.call("read_notes")]
        return {"reply": json.dumps(answers)}


async def test_64_trials_at_once_each_have_one_tape_from_its_begin(project: Project) -> None:
    """The second read is told apart from the first by the state only: by the write of its own trial."""
    notes: list[str] = []

    async def desk(request: web.Request) -> web.Response:
        if request.path == "/tools/read_notes":
            return web.json_response(notes)
        notes.append((await request.json())["text"])
        return web.json_response(len(notes))

    effects = 'tools = "POST /tools/{tool}"\nreads = ["read_notes"]\nwrites = ["note"]\n'
    agent = OnTape(MANY)
    async with serving(desk) as real, serving(agent.answer) as url:
        project.configure(services(orders=real) + effects)
        async with session(project, "t") as recorded:
            for tool, arguments in (("read_notes", {}), ("note", {"text": "one"}), ("read_notes", {})):
                async with recorded.http.post(recorded.url("orders", f"/tools/{tool}"), json=arguments) as answer:
                    assert answer.status == 200
            assert (await recorded.close()).sealed
        only = case("taped", "Go.", expect={"says": ['"one"']}, tape="t", limits=PATIENT)
        set_up(project, "", [only])
        project.configure(services(orders=real) + effects + f'[agent]\nurl = "{url}"\n')
        done, told = await run(project, "--trials", str(MANY), "--at-once", str(MANY))
    assert (done.status, [trial["outcome"] for trial in told["trials"]]) == (0, ["pass"] * MANY), done.stderr
    assert apart([trial["session"] for trial in told["trials"]])
    runs = trajectories(project, told)
    assert len(runs) == MANY
    for each in runs:
        assert json.loads(each.final_answer or "") == [[], 1, ["one"]]
        assert [step.name for step in each.steps if step.role == "tool"] == ["read_notes", "note", "read_notes"]
    assert notes == ["one"], "the real service was asked in a replay"


AS_PROGRAM = (
    CALLING
    + """
asked = json.loads(sys.stdin.readline())
seen = {name: value for name, value in os.environ.items() if name.startswith(("PROCTOR_", "SHOP_", "ORDERS_"))}
told = {"asked": asked, "environ": seen, "proxy": os.environ["HTTP_PROXY"], "before": call("read_notes")}
DIRECT.open(os.environ["MEET"], json.dumps(told).encode()).read()
call("note", text=os.environ["PROCTOR_SESSION"])
MORE
DIRECT.open(os.environ["MEET"], b"null").read()
reply("Refunded: " + call("create_refund", order_id="A1"))
"""
)
ACCOUNTS = """\
[accounts.ann]
test = true
variables = { SHOP_KEY = "of-ann", SHOP_ONLY_ANN = "1" }

[accounts.bob]
test = true
variables = { SHOP_KEY = "of-bob", SHOP_ONLY_BOB = "1" }
"""


class Meeting:
    """Where programs wait until all of them are there; takes what each tells."""

    def __init__(self, programs: int) -> None:
        self._all_here = asyncio.Barrier(programs)
        self.told: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        told = await request.json()
        if told:
            self.told.append(told)
        await self._all_here.wait()
        return web.Response()


async def test_programs_of_two_cases_at_once_have_only_their_own_variables_account_and_start(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting = Meeting(FEW)
    cases = [
        case(name, account=name, state={"orders": {"notes": [f"{name}'s"]}}, limits=PATIENT) for name in ("ann", "bob")
    ]
    async with serving(meeting.answer) as url:
        monkeypatch.setenv("MEET", url)
        set_up(project, AS_PROGRAM.replace("MORE", ""), cases)
        secrets = project.root / ".proctor" / "accounts.toml"
        secrets.parent.mkdir(exist_ok=True)
        secrets.touch(mode=0o600)
        secrets.write_text(ACCOUNTS, encoding="utf-8")
        done, told = await run(project, "--trials", str(FEW // 2), "--at-once", str(FEW))
    assert (done.status, [trial["outcome"] for trial in told["trials"]]) == (0, ["pass"] * FEW), done.stderr
    sessions = {(trial["case_id"], trial["number"]): trial["session"] for trial in told["trials"]}
    assert apart(list(sessions.values()))
    assert len(meeting.told) == FEW
    for each in meeting.told:
        asked, environ = each["asked"], each["environ"]
        who, own = asked["case"], sessions[asked["case"], asked["trial"]]
        assert (asked["session"], environ["PROCTOR_SESSION"]) == (own, own)
        assert environ["ORDERS_URL"] == asked["services"]["orders"] == f"{environ['PROCTOR_SESSION_URL']}/orders"
        assert environ["ORDERS_URL"].endswith(f"/s/{own}/orders")
        assert each["proxy"].startswith(f"http://{own}:")
        shop = {name: value for name, value in environ.items() if name.startswith("SHOP_")}
        assert shop == {"SHOP_KEY": f"of-{who}", f"SHOP_ONLY_{who.upper()}": "1"}
        assert each["before"] == [f"{who}'s"]
    for run_ in trajectories(project, told):
        assert run_.end_state["notes"] == [f"{run_.case}'s", sessions[run_.case, run_.trial]]


STRAYING = """
try:
    if asked["trial"] == 3:
        urllib.request.urlopen("http://tool.invalid/x")
    elif asked["trial"] == 5:
        urllib.request.urlopen(os.environ["ORDERS_URL"].replace(asked["session"], "nobody"))
except OSError:
    pass
"""


async def test_a_call_of_one_trial_past_the_services_is_off_tape_in_that_trial_only(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others are under way when it comes."""
    meeting = Meeting(FEW)
    async with serving(meeting.answer) as url:
        monkeypatch.setenv("MEET", url)
        set_up(project, AS_PROGRAM.replace("MORE", STRAYING), [case("a", limits=PATIENT)])
        done, told = await run(project, "--trials", str(FEW), "--at-once", str(FEW))
    ended = {trial["number"]: (trial["outcome"], trial["reason"]) for trial in told["trials"]}
    strayed = {3: ("off_tape", "unseen_traffic"), 5: ("off_tape", "stray_request")}
    assert ended == {**dict.fromkeys(range(FEW), ("pass", "")), **strayed}
    assert done.status == 3
