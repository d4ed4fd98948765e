"""An agent that tells of itself, under the real command: its trajectory, its trace, and what a kill leaves."""

from __future__ import annotations

import json

from proctor.trajectory import Trajectory
from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Project, services, serving

TELL = """
def tell(**event):
    return call(os.environ["PROCTOR_SESSION_URL"] + "/_events", event)
"""
TELLING = f"""{TELL}
assert tell(kind="intent", data={{"intent": "refund", "confidence": 0.9}})[0] == 200
assert call(DESK + "/a")[0] == 200
assert tell(kind="memory_miss", data={{"query": "address"}})[0] == 200
assert call(DESK + "/b")[0] == 200
assert tell(kind="state", when="after", data={{"paid": True}})[0] == 200
"""
MISSPELT = f"""{TELL}
assert call(DESK + "/a")[0] == 200
tell(kind="intent", data={{"intent": "refund", "confidense": 0.9}})
"""
KILLED = f"""{TELL}
assert call(DESK + "/a")[0] == 200
assert tell(kind="note", data={{"text": "gone next", "token": "Zq81LmZq81LmZq81Lm"}})[0] == 200
os.kill(os.getppid(), signal.SIGKILL)
"""


async def test_the_trajectory_of_a_replay_has_what_its_agent_told_in_place(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        recorded = await record(project, 'call(DESK + "/a"); call(DESK + "/b")')
        assert recorded.status == 0, recorded.stderr
    ended = await replay(project, TELLING)
    assert (ended.status, ended.summary["exchanges"], ended.summary["events"]) == (0, 2, 3), ended.stderr
    made = await project.proctor("trajectory", "convert", "--from", "session", "last", "-o", "run.jsonl")
    assert made.status == 0, made.stderr
    run = Trajectory.model_validate_json((project.root / "run.jsonl").read_bytes())
    assert [(each.kind, each.step, each.by) for each in run.events] == [
        ("intent", None, "agent"),
        ("memory_miss", 1, "agent"),
        ("state", 3, "agent"),
    ]
    assert [(each.turn, each.after) for each in run.states] == [(0, {"paid": True})]
    shown = (await project.proctor("trajectory", "show", "run.jsonl")).stdout.splitlines()
    places = [next(n for n, line in enumerate(shown) if text in line) for text in ("GET /a", "memory_miss", "GET /b")]
    assert places == sorted(places)


async def test_session_show_tells_events_among_the_exchanges_and_apart_from_them(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, TELLING)
        assert ended.status == 0, ended.stderr
    shown = await project.proctor("session", "show", "--trace")
    assert "  events      3 told by the agent\n" in shown.stdout
    heads = [line[:4].strip() for line in shown.stdout.splitlines() if " s  " in line]
    assert heads == ["0", "1", "2", "3", "4"]
    assert 'the agent told: memory_miss  {"query": "address"}' in shown.stdout
    assert 'the agent told: state after  {"paid": true}' in shown.stdout
    rows = [
        json.loads(line)
        for line in (await project.proctor("session", "show", "--trace", "--json")).stdout.split("\n")
        if line
    ]
    assert [row["source"] for row in rows] == ["agent", "record", "agent", "record", "agent"]
    same = await project.proctor("cassette", "diff", "t", ended.summary["session"])
    assert same.status == 0, same.stdout


async def test_a_misspelt_event_fails_the_run_and_says_what_to_write(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a")')).status == 0
        old = project.layout.cassette("t").read_bytes()
        ended = await record(project, MISSPELT)
    assert (ended.status, ended.summary["events"], ended.summary["events_dropped"]) == (1, 0, 1)
    assert 'unknown field "data.confidense"' in ended.stderr
    assert 'did you mean "confidence"?' in ended.stderr
    assert "1 DROPPED" in ended.stderr
    assert project.layout.cassette("t").read_bytes() == old
    played = await replay(project, MISSPELT)
    assert played.status == 1
    assert "(unknown_field)" in played.stderr


async def test_a_kill_leaves_what_was_told_and_recovery_keeps_it_in_the_trace_alone(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, KILLED)).status == -9
        recovered = await project.proctor("cassette", "recover")
    assert recovered.status == 0, recovered.stdout + recovered.stderr
    (folder,) = project.layout.sessions.iterdir()
    trace = project.whole_trace(folder.name)
    assert [(row.index, row.source) for row in trace.exchanges] == [(0, "record")]
    (told,) = trace.events
    assert (told.index, told.kind, told.data["text"]) == (1, "note", "gone next")
    assert "Zq81Lm" not in (folder / "trace.jsonl").read_text(encoding="utf-8")
    assert kept(project) == ["cassettes/t.yaml"]
    assert "gone next" not in project.layout.cassette("t").read_text(encoding="utf-8")
    assert len(project.tape("t").interactions) == 1
