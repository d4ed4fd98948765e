"""Whatever an agent does has a name, the other trials go on, and nothing of it is left running."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.integration.harness.shop import CALLING, case, ends, run, set_up
from tests.support import Project, running, serving

MISBEHAVING = (
    CALLING
    + """
import subprocess
asked = json.loads(sys.stdin.readline())
case = asked["case"]
done = lambda: reply("Refunded: " + call("create_refund", order_id="A1"))
if case == "crashes":
    call("query_order", order_id="A1")
    sys.exit("cannot go on")
elif case == "hangs":
    time.sleep(600)
elif case == "floods":
    while True: sys.stdout.write("x" * 65_536)
elif case == "garbage":
    print("{this is no JSON")
elif case == "ends_early":
    pass
elif case == "calls_late":
    done()
    call("note", text="nobody is told of this")
elif case == "leaks":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    open(os.environ["PID_FILE"], "w").write(str(child.pid))
    done()
elif case == "apologises":
    reply("I am sorry, I could not do that.")
elif case == "loops":
    for _ in range(9): call("query_order", order_id="A1")
    done()
elif case == "many_steps":
    for number in range(9): call("note", text=str(number))
    done()
elif case == "slow_tool":
    answer = call("query_order", order_id="A1")
    done() if answer["status"] == 504 else reply(json.dumps(answer))
elif case == "tells_rubbish":
    reply("Refunded: " + call("create_refund", order_id="A1"), events=[{"kind": "no such kind"}])
else:
    done()
"""
)
ENDS = {
    "crashes": ("fail", "agent_crashed"),
    "hangs": ("fail", "limit_response"),
    "floods": ("fail", "agent_flood"),
    "garbage": ("fail", "agent_garbage"),
    "ends_early": ("fail", "agent_ended"),
    "calls_late": ("fail", "called_after_end"),
    "leaks": ("fail", "agent_leaked"),
    "apologises": ("fail", "final_state"),
    "loops": ("fail", "loop"),
    "many_steps": ("fail", "limit_steps"),
    "slow_tool": ("pass", ""),
    "tells_rubbish": ("fail", "events_dropped"),
    "good": ("pass", ""),
}
MORE: dict[str, dict[str, Any]] = {
    "hangs": {"limits": {"response": 1}},
    "many_steps": {"limits": {"steps": 5}},
    "slow_tool": {
        "limits": {"tool": 0.3},
        "faults": {"fault": [{"tool": "query_order", "kind": "timeout", "seconds": 60}]},
    },
}


@pytest.mark.req(16)
@pytest.mark.req(19)
@pytest.mark.req(20)
@pytest.mark.req(153)
@pytest.mark.req(202)
@pytest.mark.req(206)
@pytest.mark.req(223)
async def test_each_way_to_misbehave_is_named_and_the_rest_goes_on(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
    set_up(project, MISBEHAVING, [case(name, **MORE.get(name, {})) for name in ENDS])
    done, told = await run(project)
    assert ends(told) == ENDS
    assert done.status == 1
    assert not running(int((tmp_path / "pid").read_text()))
    by_case = {trial["case_id"]: trial for trial in told["trials"] if not trial["again"]}
    assert {name for name, trial in by_case.items() if trial["label"] == "definite"} == {
        name for name, (outcome, _) in ENDS.items() if outcome == "fail"
    }
    assert "cannot go on" in by_case["crashes"]["facts"]["shown"]
    assert by_case["crashes"]["tool_calls"] == 1, "what it did before is kept"
    assert by_case["slow_tool"]["limits"] == ["limit_tool"]


async def test_a_service_that_calls_tools_after_its_answer_is_found_out_at_the_end(project: Project) -> None:
    """Its session is over by then, and other trials are under way."""
    late: list[asyncio.Task[None]] = []
    over = asyncio.Event()

    async def call(url: str, wait: bool) -> None:
        if wait:
            await over.wait()
        async with aiohttp.ClientSession() as http, http.post(url, json={"order_id": "A1"}):
            pass

    async def answer(request: web.Request) -> web.Response:
        asked = await request.json()
        url = asked["services"]["orders"] + "/tools/create_refund"
        await call(url, wait=False)
        if asked["case"] == "late":
            late.append(asyncio.create_task(call(url, wait=True)))
        else:
            over.set()
            await asyncio.gather(*late)
        return web.json_response({"reply": "done"})

    async with serving(answer) as url:
        set_up(project, "", [case("late"), case("next")], f'[agent]\nurl = "{url}"')
        _, told = await run(project, "--at-once", "1")
    assert ends(told) == {"late": ("fail", "called_after_end"), "next": ("pass", "")}


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ('[agent]\ncommand = ["/no/such/program"]', "agent_unstartable"),
        ('[agent]\nurl = "http://127.0.0.1:1/"', "agent_unreachable"),
    ],
)
async def test_an_agent_that_is_not_there_measures_nothing(project: Project, toml: str, reason: str) -> None:
    set_up(project, "", [case("a")], toml)
    done, told = await run(project)
    assert (ends(told), done.status) == ({"a": ("error", reason)}, 4)
    (trial,) = told["trials"]
    assert trial["attempts"] == (3 if reason == "agent_unreachable" else 1)
    assert len(trial["errors"]) == trial["attempts"] - 1


async def test_without_any_agent_there_is_no_run(project: Project) -> None:
    set_up(project, "", [case("a")])
    done = await project.proctor("run", "shop")
    assert (done.status, "agent_missing" in done.stderr) == (2, True)
    assert "command =" in done.stderr
    assert not (project.layout.state / "runs.db").exists()


async def test_an_agent_that_asks_nothing_of_anyone_does_not_pass_unseen(project: Project) -> None:
    agent = CALLING + '\nreply("Nothing was written, as you wished.")\n'
    set_up(project, agent, [case("a", "Do nothing.", expect={"writes": [], "says": ["Nothing"]})])
    done, told = await run(project)
    assert (ends(told), done.status) == ({"a": ("pass", "")}, 3)
    assert "no trial made any request" in done.stderr


PAST = """
asked = json.loads(sys.stdin.readline())
try:
    urllib.request.urlopen("http://example.invalid/x")
except OSError:
    pass
reply("Refunded: " + call("create_refund", order_id="A1"))
"""


async def test_a_call_past_the_services_is_refused_and_told(project: Project) -> None:
    set_up(project, CALLING + PAST, [case("a")])
    done, told = await run(project)
    assert (ends(told), done.status) == ({"a": ("off_tape", "unseen_traffic")}, 3)


def test_the_names_of_failures_are_on_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "running.md").read_text(encoding="utf-8")
    assert all(f"`{reason}`" in page for outcome, reason in ENDS.values() if reason not in ("final_state", ""))
