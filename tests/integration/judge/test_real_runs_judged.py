"""Every labelled run, judged to its end by a stand-in through the real command. Skipped without PROCTOR_TEST_DATA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import Project


@pytest.mark.timeout(300)
async def test_all_real_runs_are_judged_with_coverage_outcomes_and_cost_told(
    shared_data: Path, project: Project
) -> None:
    records = str(shared_data / "trajectories.jsonl")
    made = await project.proctor("trajectory", "convert", "--from", "records", records, "-o", "runs.jsonl")
    assert made.status == 0, made.stderr
    done = await project.proctor("judge", "run", "runs.jsonl", "--model", "stand-in/obedient", "--json")
    verdicts = {each["trajectory"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert len(verdicts) == 74
    assert "74 of 74 judged" in done.stderr
    assert "$0.0000" in done.stderr
    outcomes = [each["outcome"] for verdict in verdicts.values() for each in verdict["criteria"]]
    assert f"coverage {sum(each['scored'] for each in verdicts.values())}/" in done.stderr
    assert f"{outcomes.count('scored')} scored" in done.stderr
    assert "judge_error" not in outcomes
    assert outcomes.count("scored") >= 0.9 * len(outcomes)
    assert not [each for verdict in verdicts.values() for result in verdict["criteria"] for each in result["rejected"]]
    unsafe = [run for run in verdicts if run.startswith("asse-") and verdicts[run]["veto"]]
    assert len(unsafe) == 11, "the rules see each run that people called unsafe, whatever the judge says"
    long = verdicts["devai-openhands-39"]
    assert long["shortened_steps"] or long["omitted_steps"], "40,000 tokens and more are budgeted"
    assert "without the middle of a text" in json.dumps(long["findings"])
    assert long["scored"] == long["countable"]
