"""How right the rules are on runs whose outcome is known, and what they cost. The last line is one JSON object.

    make figures

Each measure prints its disagreements with their reasons, and gives its figures by name.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from proctor.check import CheckResult
from proctor.checks.expected_writes import expected_writes
from proctor.checks.index import CHECKS
from proctor.trajectory import Trajectory
from tools import (
    figures_agreement,
    figures_citations,
    figures_judge,
    figures_service,
    figures_vendors,
    figures_words,
)
from tools.records import folder, labelled_runs

Runs = Sequence[Trajectory]
Measure = Callable[[Runs], dict[str, float]]


class Judged(NamedTuple):
    """A run with what the rules say of it and what its label says."""

    run: Trajectory
    result: CheckResult
    succeeded: bool

    @property
    def agrees(self) -> bool:
        """A run of which the rules can say nothing is no agreement."""
        return self.result.outcome == ("pass" if self.succeeded else "fail")


def rules_right(runs: Runs) -> dict[str, float]:
    """Of the runs with expected actions: how many the rules take for what they were."""
    judged = judge_by_writes(runs)
    for each in judged:
        if not each.agrees:
            label = "succeeded" if each.succeeded else "failed"
            print(f"rules disagree: {each.run.id} {label}, the rules say {each.result.outcome}: {each.result.message}")
    right = sum(each.agrees for each in judged)
    print(f"rules right: {right} of {len(judged)} runs with expected actions")
    return {"rules_right": right}


def judge_by_writes(runs: Runs) -> list[Judged]:
    """Every run with expected actions, judged by `expected_writes` alone.

    Which tools write is taken from the source as a whole: what any run's expected writes name. What is only ever an
    expected action and no write reads. Any other tool is told by the verb in its name.
    """
    known = [run for run in runs if run.expected and "write_actions" in run.expected]
    expected = [run.expected or {} for run in known]
    writes = {action["name"] for each in expected for action in each["write_actions"]}
    reads = {action["name"] for each in expected for action in each["actions"]} - writes
    return [
        Judged(run, expected_writes(run, writes=sorted(writes), reads=sorted(reads)), run.labels["outcome"]["success"])
        for run in known
    ]


def check_calls(run: Trajectory) -> None:
    """Every check on calls and state, each with something to look for."""
    declared: dict[str, dict[str, object]] = {
        "final_state": {"assertions": [{"path": "$[?@.tool == 'refund']", "over": "writes", "absent": True}]},
        "expected_writes": {},
        "tool_called": {"tool": "get_*"},
        "tool_not_called": {"tool": "refund"},
        "tools_in_order": {"tools": ["find_*", "get_*"]},
        "calls_match": {"expected": ["get_order_details"], "mode": "superset"},
        "preconditions": {"requires": {"cancel_*": ["get_*"]}},
        "branch_taken": {"branches": {"cancel": ["cancel_*"], "return": ["return_*"]}, "wanted": "cancel"},
        "state_held": {"points": [{"path": "$.user", "turn": 0}]},
        "recall": {"fact": "New York", "instead": ["Boston"]},
        "intent_known": {"intents": ["cancel"]},
        "skill_routed": {"skill": "orders"},
        "loops": {},
        "retries": {},
    }
    for name, parameters in declared.items():
        CHECKS[name](run, **parameters)


TIMED: tuple[Callable[[Trajectory], None], ...] = (check_calls, figures_words.check_words)
"""What runs every check of one kind on a run."""


def rule_cpu(runs: Runs) -> dict[str, float]:
    """CPU of all checks on one run in milliseconds (median), and that of a step of the longest against the median."""
    for run in runs[:3]:
        _cpu_ms(run)
    rounds = [{run.id: _cpu_ms(run) for run in runs if run.steps} for _ in range(3)]  # so no run finds itself kept
    spent = {identity: min(each[identity] for each in rounds) for identity in rounds[0]}
    a_step = {run.id: spent[run.id] / len(run.steps) for run in runs if run.steps}
    longest = max((run for run in runs if run.steps), key=lambda run: len(run.model_dump_json()))
    median = statistics.median(spent.values())
    ratio = a_step[longest.id] / statistics.median(a_step.values())
    print(
        f"rules cost {median:.2f} ms CPU a run; a step of {longest.id} costs {ratio:.2f} times that of the median run"
    )
    return {"rule_cpu_ms_p50": round(median, 3), "rule_cpu_step_ratio": round(ratio, 2)}


def _cpu_ms(run: Trajectory) -> float:
    run = run.model_copy()  # what is kept of a run is kept for this very object
    began = time.process_time()
    for checks in TIMED:
        checks(run)
    return (time.process_time() - began) * 1000


MEASURES: tuple[Measure, ...] = (
    rules_right,
    *figures_words.MEASURES,
    rule_cpu,
    *figures_citations.MEASURES,
    *figures_vendors.MEASURES,
    *figures_agreement.MEASURES,
    *figures_judge.MEASURES,
    *figures_service.MEASURES,
)


def figures(runs: Runs) -> dict[str, float]:
    """Every measure's figures."""
    return {name: value for measure in MEASURES for name, value in measure(runs).items()}


def main() -> int:
    """Print them; 2 where the labelled runs are not there."""
    data = folder()
    try:
        runs = labelled_runs(data)
    except FileNotFoundError:
        print(f"no trajectories.jsonl in {data}: set PROCTOR_TEST_DATA to the folder of labelled runs", file=sys.stderr)
        return 2
    print(json.dumps(figures(runs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
