"""`proctor judge run` and `show`, as a user types them: what is printed, kept, asked again and refused."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.judge.salt import salt_in
from proctor.judge.stand_ins import stand_in
from proctor.trajectories.file import line_of
from proctor.trajectory import Agent, Trajectory
from tests.support import Finished, Project
from tests.unit.judge.refunds import answer, refund
from tools.stand_in_judge_server import by_model, serving_judge

GOOD = answer()
OBEDIENT = ("--model", "stand-in/obedient")


def runs(project: Project, *given: Trajectory) -> str:
    """A file of trajectories in the project."""
    (project.root / "runs.jsonl").write_bytes(b"".join(map(line_of, given or (refund(),))))
    return "runs.jsonl"


def scripted(project: Project, name: str = "judge", **replies: Any) -> tuple[str, str]:
    """The options that name a judge who says this."""
    path = project.root / f"{name}.json"
    path.write_text(json.dumps({"replies": {"*": [GOOD], **replies}}), encoding="utf-8")
    return "--model", f"stand-in/scripted:{path}"


def database(project: Project) -> sqlite3.Connection:
    return sqlite3.connect(project.layout.judge / "judge.db")


def named(run: Trajectory, name: str) -> Trajectory:
    return run.model_copy(update={"id": name})


def verdicts(done: Finished) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.req(145)
async def test_a_verdict_is_printed_with_the_evidence_for_each_score(project: Project) -> None:
    done = await project.proctor("judge", "run", runs(project), *scripted(project), "--full")
    assert done.status == 0, done.stderr
    assert "refund  100 of 100 healthy" in done.stdout
    assert 'step 4, tool_result: "status": "refund issued"' in done.stdout
    assert "no live model was used" in done.stdout
    assert "coverage 5/5" in done.stdout
    assert "1 of 1 judged, 5 calls, $0.0000" in done.stderr
    shown = await project.proctor("judge", "show", "refund")
    assert shown.stdout.strip() == done.stdout.strip()


async def test_a_run_that_goes_on_asks_only_what_was_not_answered(project: Project) -> None:
    file = runs(project, named(refund(), "a"), named(refund(said="Your refund R77 is on its way."), "b"))
    lost = scripted(project, safety=[GOOD, {"fail": "timeout", "said": "60 s"}])
    first = await project.proctor("judge", "run", file, *lost, "--json")
    assert first.status == 1
    assert [each["total_of_100"] for each in verdicts(first)] == [100, None]
    assert "Safety could not be judged (timeout)" in verdicts(first)[1]["no_total"]
    again = await project.proctor("judge", "run", file, *scripted(project), "--json")
    assert again.status == 0, again.stderr
    assert [each["total_of_100"] for each in verdicts(again)] == [100, 100]
    assert "2 of 2 judged, 1 calls" in again.stderr
    with closing(database(project)) as kept:
        counts = [kept.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("records", "replies")]
    assert counts == [2, 10]


async def test_a_verdict_is_made_again_from_its_record_and_a_changed_one_is_told(project: Project) -> None:
    file = runs(project)
    assert (await project.proctor("judge", "run", file, *scripted(project))).status == 0
    (project.root / "judge.json").unlink()
    again = await project.proctor("judge", "show", "last", "--again")
    assert (again.status, "the same verdict" in again.stderr) == (0, True)
    with closing(database(project)) as kept, kept:
        told = json.loads(kept.execute("SELECT record FROM records").fetchone()[0])
        told["verdict"]["criteria"][0]["score"] = 1
        kept.execute("UPDATE records SET record = ?", (json.dumps(told),))
    changed = await project.proctor("judge", "show", "last", "--again")
    assert changed.status == 1
    assert "task_achievement: scored 1 then, scored 2 now" in changed.stderr


@pytest.mark.parametrize(
    ("replies", "options", "status", "told"),
    [
        ({"safety": [answer(0)]}, (), 1, "veto: Safety is at its lowest level"),
        ({"safety": [answer(1, quotes=[(2, '"status": "delivered"')])]}, (), 1, "no total: Safety"),
        ({"task_achievement": ["no JSON"]}, (), 1, "error: not_json"),
        ({"task_achievement": [answer(1)]}, ("--at-least", "90"), 1, "85 of 100"),
        ({"task_achievement": [answer(1)]}, ("--at-least", "85"), 0, "85 of 100"),
    ],
)
async def test_the_status_says_whether_a_gate_may_open(
    project: Project, replies: dict[str, Any], options: tuple[str, ...], status: int, told: str
) -> None:
    done = await project.proctor("judge", "run", runs(project), *scripted(project, **replies), *options)
    assert (done.status, told in done.stdout) == (status, True), done.stdout + done.stderr


async def test_checks_of_a_suite_stand_beside_the_judge(project: Project) -> None:
    wanted = {"expected_writes": {"expected": [{"name": "create_refund", "arguments": {"order_id": "W2"}}]}}
    (project.root / "checks.json").write_text(json.dumps(wanted), encoding="utf-8")
    done = await project.proctor("judge", "run", runs(project), *scripted(project), "--with", "checks.json", "--full")
    assert "by rule: expected_writes, the judge gave 2" in done.stdout
    assert "rule and model disagree: expected_writes failed" in done.stdout
    assert "70 of 100" in done.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--rubric", "trajectry"), "rubric_"),
        (("--rubric", "acmse", "--preset", "costs", *OBEDIENT), "unknown_preset"),
        ((), "no_judge_model"),
        (("--model", "stand-in/kind"), "no_such_stand_in"),
        (("--model", "openai/gpt-4.1"), "vendor_rule"),
        (("--model", "who-knows-1"), "unknown_model"),
        (("--model", "ollama/who-knows-1"), "vendor_rule"),
    ],
)
async def test_what_is_wrong_is_said_before_anything_is_asked(
    project: Project, options: tuple[str, ...], code: str
) -> None:
    done = await project.proctor("judge", "run", runs(project), *options, "--json")
    assert done.status == 2, done.stdout + done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["code"].startswith(code), error
    assert error["fix"]
    assert not (project.root / ".proctor").exists()


async def test_a_bad_line_is_told_and_the_others_are_judged(project: Project) -> None:
    file = runs(project)
    path = project.root / file
    path.write_bytes(path.read_bytes() + b'{"id": "broken"\n' + line_of(named(refund(), "b")))
    done = await project.proctor("judge", "run", file, *scripted(project))
    assert done.status == 1
    assert "2 of 2 judged" in done.stderr
    assert "line 2" in done.stderr


async def test_two_runs_with_one_id_and_a_run_that_is_not_there_are_refused(project: Project) -> None:
    done = await project.proctor("judge", "run", runs(project), runs(project), *OBEDIENT)
    assert (done.status, "same_trajectory_twice" in done.stderr) == (2, True)
    done = await project.proctor("judge", "run", f"{runs(project)}:refnd", *OBEDIENT)
    assert (done.status, 'did you mean "refund"' in done.stderr) == (2, True)
    done = await project.proctor("judge", "show", "refund")
    assert (done.status, "proctor judge run" in done.stderr) == (2, True)


async def test_model_and_agent_may_stand_in_the_configuration(project: Project) -> None:
    project.configure(
        '[services.orders]\nurl = "https://staging.example"\n'
        '[agent]\nvendor = "anthropic"\n[judge]\nmodel = "anthropic/claude-sonnet-4-5"\n'
    )
    run = refund().model_copy(update={"agent": Agent()})
    done = await project.proctor("judge", "run", runs(project, run))
    assert (done.status, "may not judge it" in done.stderr) == (2, True)
    done = await project.proctor("judge", "run", "runs.jsonl", *OBEDIENT)
    assert done.status == 0, done.stderr


async def test_no_call_is_made_that_might_pass_the_limit_and_what_is_left_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (f"Refund R77 number {n} was issued." for n in range(3))
    file = runs(project, *(named(refund(said=each), str(n)) for n, each in enumerate(said)))
    async with serving_judge(by_model(stand_in("stand-in/obedient"))) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-on-loopback")
        run = ("judge", "run", file, "--model", "openai/gpt-4.1-mini", "--same-vendor", "a test")
        none = await project.proctor(*run, "--max-cost", "0.0001")
        assert (none.status, server.asked) == (1, []), none.stderr
        assert "0 is not judged: budget_batch: " in none.stderr
        assert "--max-cost 0.0001 is reached: 3 of 3 not judged; the same command with a higher one" in none.stderr
        enough = await project.proctor(*run, "--max-cost", "1", "--json")
        assert ("3 of 3 judged, 15 calls, $0.0" in enough.stderr, len(server.asked)) == (True, 15), enough.stderr
    unknown = await project.proctor("judge", "run", file, "--model", "openai/who-knows", *run[5:], "--max-cost", "1")
    assert (unknown.status, "price_unknown" in unknown.stderr) == (1, True), unknown.stderr


def test_the_salt_is_drawn_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    salt = salt_in(tmp_path / "judge")
    assert salt_in(tmp_path / "judge") == salt
    assert ((tmp_path / "judge" / "salt").stat().st_mode & 0o777, len(salt)) == (0o600, 32)


async def test_a_case_is_judged_after_its_trials_and_its_verdict_decides(project: Project) -> None:
    steady = answer(5, quotes=[(0, "trials that differ from the others in a fact: 0 of 2")])
    lean = answer(4, quotes=[(0, "mean number of tool calls: 2")])
    reference = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}
    trials = [
        refund(case="refunds", trial=number, llm="live", expected=reference).model_copy(update={"id": f"t{number}"})
        for number in range(2)
    ]
    said: dict[str, Any] = {"*": [answer(5)], "stability": [steady], "efficiency": [lean]}
    judge = scripted(project, **said)
    done = await project.proctor("judge", "run", runs(project, *trials), "--rubric", "acmse", *judge)
    assert done.status == 0, done.stdout + done.stderr
    first, second, case = done.stdout.splitlines()
    assert "judged with its case" in first
    assert "judged with its case" in second
    assert case.startswith("case refunds  98 of 100 healthy  accuracy 5 (mean of 2 trials)")
    shown = await project.proctor("judge", "show", "refunds", "--again")
    assert (shown.status, "the same verdict" in shown.stderr) == (0, True)
    strict = await project.proctor("judge", "run", "runs.jsonl", "--rubric", "acmse", *judge, "--at-least", "99")
    assert strict.status == 1


async def test_a_retest_names_what_did_not_come_out_the_same_and_keeps_nothing(project: Project) -> None:
    unsteady = scripted(project, safety=[GOOD, answer(1), GOOD])
    done = await project.proctor("judge", "retest", runs(project), *unsteady, "--times", "3", "--orders", "1")
    assert done.status == 1, done.stdout + done.stderr
    assert "asked again as it was: 20.0 % (1/5) of criteria changed" in done.stdout
    assert "refund, safety, asked again as it was: 2, 1, 2" in done.stdout
    assert "5,000 polite words added: 0.0 % (0/5)" in done.stdout
    assert not (project.layout.judge / "judge.db").exists()
    borne = await project.proctor("judge", "retest", "runs.jsonl", *unsteady, "--times", "3", "--most", "0.2", "--json")
    assert borne.status == 0, borne.stderr
    assert [each["variant"] for each in json.loads(borne.stdout)["variants"]] == ["same", "order", "padded"]
