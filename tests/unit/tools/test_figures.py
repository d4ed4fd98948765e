"""The figures: read from labelled runs, printed as one JSON object on the last line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs import call, run_of
from tools import figures, figures_citations, figures_judge, figures_service
from tools.records import labelled_runs


def test_the_rules_tell_at_least_44_of_the_47_runs_with_expected_actions(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = labelled_runs(shared_data)
    judged = figures.judge_by_writes(runs)
    assert len(judged) == 47
    assert figures.rules_right(runs)["rules_right"] >= 44
    printed = capsys.readouterr().out
    assert all(each.run.id in printed for each in judged if not each.agrees)
    accepted = [each.run.id for each in judged if each.result.outcome == "pass" and not each.succeeded]
    assert accepted == []


def test_the_last_line_is_one_object_with_the_figures(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROCTOR_TEST_DATA", str(shared_data))
    monkeypatch.setattr(figures_citations, "GENERATED", 100)
    monkeypatch.setattr(figures_judge, "FULL", 30)
    monkeypatch.setattr(figures_judge, "ROUNDS", 2)
    for name, few in (("VERDICTS", 40), ("SENDERS", 5), ("WARM_UP", 10), ("WINDOW", 10)):
        monkeypatch.setattr(figures_service, name, few)
    assert figures.main() == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"rules_right", "rule_cpu_ms_p50", "rule_cpu_step_ratio", "judge_overhead_ratio"} <= last.keys()
    assert {"service_cpu_ratio", "service_rss_ratio"} <= last.keys()
    assert last["injections_moved"] == 0
    assert (last["probe_false_accepts"], last["probe_false_rejects"], last["vendor_wrong"]) == (0, 0, 0)


def test_without_the_data_it_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROCTOR_TEST_DATA", str(tmp_path))
    assert figures.main() == 2
    assert "set PROCTOR_TEST_DATA" in capsys.readouterr().err


def test_a_disagreement_is_printed_with_its_reason_and_a_doubt_is_no_agreement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    actions = [{"name": "refund", "arguments": {"id": "W1"}}]
    labels = {"outcome": {"success": True}}
    expected = {"actions": actions, "write_actions": actions, "outputs": []}
    wrong = run_of("user: Go.", call("refund", id="W2"), id="wrong", expected=expected, labels=labels)
    doubt = run_of({"call": "refund", "arguments": {"id": "W1"}}, id="doubt", expected=expected, labels=labels)
    right = run_of(call("refund", id="W1"), expected=expected, labels=labels)
    assert figures.rules_right([wrong, doubt, right]) == {"rules_right": 1}
    printed = capsys.readouterr().out
    assert (
        'rules disagree: wrong succeeded, the rules say fail: refund at step 1: /id: wanted "W1", got "W2"' in printed
    )
    assert "rules disagree: doubt succeeded, the rules say not_assessable" in printed
