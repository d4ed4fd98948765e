"""`proctor trajectory`: from a real session to a timeline, and bad input by name."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from proctor.trajectories.file import line_of
from proctor.trajectory import Step, Trajectory
from tests.support import ROOT, Project

RUNS = [Trajectory(id=name, steps=(Step(index=0, role="user", text=f"hello {name} " + "x" * 200),)) for name in "ab"]


@pytest.fixture
def desk(project: Project) -> Project:
    """The order desk's project with its tapes; nothing of it runs."""
    shutil.copy(ROOT / "proctor.toml", project.root)
    shutil.copytree(ROOT / "cassettes", project.layout.cassettes)
    return project


@pytest.mark.req(17, 18)
async def test_a_replayed_session_becomes_a_trajectory_and_a_timeline(desk: Project) -> None:
    agent = str(ROOT / "examples" / "order_desk" / "agent.py")
    command = (sys.executable, agent, "--conversation", "refund_en")
    ended = await desk.proctor("replay", "--cassette", "order_desk/refund_en", "--json", "--", *command)
    assert ended.status == 0
    session = ended.summary["session"]
    made = await desk.proctor("trajectory", "convert", "--from", "session", session, "-o", "run.jsonl")
    assert (made.status, made.stderr) == (0, "wrote 1 trajectories to run.jsonl\n")
    last = await desk.proctor("trajectory", "convert", "--from", "session", "last")
    assert last.stdout.encode() == (desk.root / "run.jsonl").read_bytes()
    run = Trajectory.model_validate_json((desk.root / "run.jsonl").read_bytes())
    names = [call.name for step in run.steps for call in step.tool_calls]
    asked = ["get_token", "query_order", "calc_refund", "query_order", "calc_refund", "create_refund", "query_order"]
    assert names == asked
    results = [step for step in run.steps if step.role == "tool"]
    assert [step.name for step in results] == asked
    assert [step.status for step in results] == [200] * 7
    assert [step.effect for step in results] == ["write", "read", "write", "read", "write", "write", "read"]
    assert (run.set_up, run.llm, run.notes, run.differences) == ("code", "replayed", (), ())
    assert run.tools is not None
    assert len(run.tools) == 10
    shown = await desk.proctor("trajectory", "show", "run.jsonl")
    assert (shown.status, shown.stderr) == (0, "")
    assert "agent calls create_refund" in shown.stdout
    assert "  turn 3" in shown.stdout
    assert "tool create_refund  (" in shown.stdout


async def test_show_takes_one_of_a_file_whole_or_as_json(project: Project) -> None:
    (project.root / "runs.jsonl").write_bytes(b"".join(map(line_of, RUNS)))
    both = await project.proctor("trajectory", "show", "runs.jsonl")
    assert [line for line in both.stdout.splitlines() if not line.startswith(" ")] == ["a", "", "b"]
    assert "... (208 characters)" in both.stdout
    one = await project.proctor("trajectory", "show", "runs.jsonl:b", "--full")
    assert one.stdout.startswith("b\n")
    assert "x" * 200 in one.stdout
    as_json = await project.proctor("trajectory", "show", "runs.jsonl:b", "--json")
    assert Trajectory.model_validate_json(as_json.stdout) == RUNS[1]
    wrong = await project.proctor("trajectory", "show", "runs.jsonl:c")
    assert (wrong.status, "no_trajectory" in wrong.stderr) == (2, True)


async def test_bad_lines_are_named_and_the_rest_is_shown(project: Project) -> None:
    (project.root / "runs.jsonl").write_bytes(line_of(RUNS[0]) + b"{no\n" + line_of(RUNS[1]))
    shown = await project.proctor("trajectory", "show", "runs.jsonl")
    assert shown.status == 1
    assert "proctor: runs.jsonl: line 2: not_json: " in shown.stderr
    assert "hello b" in shown.stdout
    (project.root / "empty.jsonl").write_bytes(b"")
    empty = await project.proctor("trajectory", "show", "empty.jsonl")
    assert (empty.status, "no trajectory in it" in empty.stderr) == (2, True)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("messages", json.dumps({"messages": [{"role": "user", "content": "hi"}]})),
        ("spans", json.dumps({"name": "chat", "attributes": {"gen_ai.operation.name": "chat"}})),
        ("records", json.dumps({"id": "x", "steps": [{"role": "user", "content": "hi"}]})),
    ],
)
async def test_convert_reads_each_kind_and_names_what_it_cannot(project: Project, kind: str, content: str) -> None:
    (project.root / "in.json").write_text(content)
    made = await project.proctor("trajectory", "convert", "--from", kind, "in.json")
    assert (made.status, made.stderr) == (0, "")
    assert Trajectory.model_validate_json(made.stdout).v == 1
    (project.root / "in.json").write_text("{")
    broken = await project.proctor("trajectory", "convert", "--from", kind, "in.json")
    assert (broken.status, "not_json" in broken.stderr, broken.stdout) == (2, True, "")
    missing = await project.proctor("trajectory", "convert", "--from", kind, "none.json")
    assert (missing.status, "unreadable" in missing.stderr) == (2, True)


async def test_an_export_that_tells_of_no_run_is_named(project: Project) -> None:
    (project.root / "in.json").write_text(json.dumps({"resourceSpans": []}))
    ended = await project.proctor("trajectory", "convert", "--from", "spans", "in.json")
    assert (ended.status, ended.stdout) == (2, "")
    assert "the export holds 0 spans, and none is of a model or a tool" in ended.stderr


async def test_a_session_that_is_not_there_is_named(project: Project, tmp_path: Path) -> None:
    project.configure('[services.desk]\nurl = "http://desk.test"\n')
    ended = await project.proctor("trajectory", "convert", "--from", "session", "../../etc")
    assert (ended.status, "unknown_session" in ended.stderr) == (2, True)
