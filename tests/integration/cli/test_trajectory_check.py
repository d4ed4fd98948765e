"""`proctor trajectory check`: rules over a file of runs, with the evidence, and never green for want of evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.trajectories.file import line_of
from proctor.trajectory import Step, ToolCall, Trajectory
from tests.integration.cli.support import error_of
from tests.support import Project


def run_of(name: str, *steps: dict[str, Any], **facts: Any) -> Trajectory:
    numbered = [Step.model_validate({"index": index, **step}) for index, step in enumerate(steps)]
    return Trajectory(id=name, steps=tuple(numbered), **facts)


def pay(amount: int, result: str = '{"ok": true}') -> tuple[dict[str, Any], dict[str, Any]]:
    call = ToolCall(name="create_refund", id=f"c{amount}", arguments={"amount": amount})
    return {"role": "assistant", "tool_calls": (call,)}, {"role": "tool", "tool_call_id": call.id, "text": result}


ASKED = {"role": "user", "text": "Refund 84 of order A1, please."}
GOOD = run_of("good", ASKED, *pay(84), {"role": "assistant", "text": "I have refunded 84."})
LIED = run_of("lied", ASKED, *pay(84, '{"error": "closed"}'), {"role": "assistant", "text": "I have refunded 84."})
LOOPED = run_of("looped", ASKED, *(step for _ in range(4) for step in pay(84)))


def write(project: Project, *runs: Trajectory) -> Path:
    path = project.root / "runs.jsonl"
    path.write_bytes(b"".join(map(line_of, runs)))
    return path


async def test_each_run_is_told_with_what_failed_and_where(project: Project) -> None:
    write(project, GOOD, LIED, LOOPED)
    ended = await project.proctor("trajectory", "check", "runs.jsonl")
    assert (ended.status, ended.stderr) == (1, "")
    good, lied = ended.stdout.split("lied: ")
    assert good.startswith("good: 0 failed, ")
    assert "FAIL" not in good
    assert 'FAIL  success_claimed: the agent says "refunded" after create_refund had failed' in lied
    assert "step 3 text: I have refunded" in lied
    assert "FAIL  loops: " in lied.split("looped: ")[1]


async def test_one_run_can_be_checked_alone_and_passes(project: Project) -> None:
    write(project, GOOD, LIED)
    ended = await project.proctor("trajectory", "check", "runs.jsonl:good", "--all")
    assert ended.status == 0
    assert "  pass  loops: " in ended.stdout
    assert "  n.a.  goal_drift: " in ended.stdout
    assert "          needs " in ended.stdout


async def test_checks_with_parameters_come_from_a_file(project: Project) -> None:
    write(project, GOOD)
    checks = {
        "tool_called": {"tool": "create_refund", "arguments": {"amount": 85}},
        "tool_not_called": {"tool": "delete_*"},
    }
    (project.root / "checks.json").write_text(json.dumps(checks))
    chosen = ("--check", "tool_called", "--check", "tool_not_called")
    ended = await project.proctor("trajectory", "check", "runs.jsonl", "--with", "checks.json", *chosen, "--json")
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(each["id"], each["check"], each["outcome"]) for each in results] == [
        ("good", "tool_called", "fail"),
        ("good", "tool_not_called", "pass"),
    ]
    assert "/amount" in results[0]["message"]
    assert ended.status == 1


async def test_a_run_of_which_nothing_can_be_said_is_not_green(project: Project) -> None:
    write(project, run_of("empty"))
    ended = await project.proctor("trajectory", "check", "runs.jsonl")
    assert (ended.status, ended.stdout.startswith("empty: 0 failed, 0 passed, ")) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "checks", "code"),
    [
        (("--check", "lops"), None, "unknown_check"),
        (("--check", "tool_called"), None, "bad_checks"),
        (("--with", "checks.json"), '{"tool_called": {"tol": "x"}}', "bad_checks"),
        (("--with", "checks.json"), '{"tool_called": {}}', "bad_checks"),
        (("--with", "checks.json"), '{"tool_called": {"tool": 7}}', "bad_checks"),
        (("--with", "checks.json"), '{"tool_called": {"tool": "pay", "at_least": -1}}', "bad_checks"),
        (("--with", "checks.json"), '{"calls_match": {"expected": ["pay"], "mode": "nope"}}', "bad_checks"),
        (("--with", "checks.json"), '{"answer_contains": {"texts": "one"}}', "bad_checks"),
        (("--with", "checks.json"), '{"final_state": {"assertions": [{"path": "$["}]}}', "bad_checks"),
        (("--with", "checks.json"), '{"branch_taken": {"branches": {"a": [7]}, "wanted": "a"}}', "bad_checks"),
        (("--with", "checks.json"), "[]", "bad_checks"),
        (("--with", "checks.json"), "{", "not_json"),
        (("--with", "checks.json"), '{"lops": {}}', "unknown_check"),
    ],
)
async def test_checks_that_cannot_be_run_are_named(
    project: Project, arguments: tuple[str, ...], checks: str | None, code: str
) -> None:
    write(project, GOOD)
    if checks is not None:
        (project.root / "checks.json").write_text(checks)
    ended = await project.proctor("trajectory", "check", "runs.jsonl", "--json", *arguments)
    assert (ended.status, error_of(ended)["code"]) == (2, code)


async def test_bad_lines_do_not_pass(project: Project) -> None:
    path = write(project, GOOD)
    path.write_bytes(path.read_bytes() + b"{no\n")
    ended = await project.proctor("trajectory", "check", "runs.jsonl")
    assert (ended.status, "line 2: not_json" in ended.stderr) == (1, True)
