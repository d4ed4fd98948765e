"""`calibrate` and `drift` as commands: what they print, and how they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from proctor.cli.judge_calibrate import calibrate_labels
from proctor.cli.judge_drift import find_drift
from proctor.errors import UsageError
from proctor.judge.calibration_file import read_calibration
from tests.unit.judge.labelled import JUDGE, label, lines, verdict

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder of its own: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def _run(command: click.Command, *arguments: str) -> tuple[int, str, str]:
        status = command.main(list(arguments), standalone_mode=False)
        told = capsys.readouterr()
        return status, told.out, told.err

    return _run


def write_labels(*more: Any, wrong: int = 0) -> None:
    """Thirty runs that two people agree on, and a judge that is wrong on some."""
    labels = [label(who, f"t{at}", "safety", at % 3) for at in range(30) for who in ("ann", "bob")]
    Path("labels.jsonl").write_bytes(lines(*labels, *more))
    given = [verdict(f"t{at}", {"safety": 1 if at < wrong and at % 3 != 1 else at % 3}) for at in range(30)]
    Path("verdicts.jsonl").write_bytes(lines(*given))


def test_the_published_pairs_give_their_figures(run: Run, shared_data: Path) -> None:
    status, out, _ = run(calibrate_labels, str(shared_data / "agreement_devai.jsonl"))
    assert status == 0
    for told in ("PROVEN", "89.6 % (984/1098)", "1098 pairs of 165 trajectories", "kappa 0.778 (0.73", "AC1 0.805"):
        assert told in out
    _, out, _ = run(calibrate_labels, str(shared_data / "agreement_devai.jsonl"), "--json")
    told = json.loads(out)
    assert (told["pooled"]["n"], round(told["pooled"]["kappa"]["value"], 3), told["unread"]) == (1098, 0.778, [])


def test_the_claim_stands_first_with_what_a_proof_needs_beside_it(run: Run) -> None:
    write_labels(wrong=5)
    status, out, _ = run(calibrate_labels, "labels.jsonl", "--verdicts", "verdicts.jsonl")
    first = out.splitlines()[:5]
    assert status == 0
    assert first[0] == "calibration of other/judge-1, trajectory 1, prompt p1"
    assert first[1] == "  claim       agrees with people in at least 85 %: REACHED, NOT PROVEN"
    assert first[2].startswith("  raw         90.0 % (27/30); 95 %: 74.4 to 96.5")
    assert first[3] == "  to prove it 30 of 30 right; or 196 pairs that agree as these do"
    assert first[4].startswith("  people      agree with one another in 100.0 % (30/30), alpha 1.000")
    assert "  worst       safety: 90.0 % (27/30)" in out


def test_a_judge_below_the_target_ends_with_status_1(run: Run) -> None:
    write_labels(wrong=12)
    status, out, _ = run(calibrate_labels, "labels.jsonl", "--verdicts", "verdicts.jsonl")
    assert (status, "73.3 % (22/30)" in out, "NOT REACHED" in out) == (1, True, True)
    assert "at this agreement no number of pairs would" in out
    status, _, _ = run(calibrate_labels, "labels.jsonl", "--verdicts", "verdicts.jsonl", "--target", "0.7")
    assert status == 0


def test_a_bad_line_is_told_fails_the_command_and_stays_in_the_file(run: Run) -> None:
    write_labels({"annotator": "ann", "trajectory": "t0", "criterion": "safety", "level": 9, "blind": True})
    status, out, err = run(
        calibrate_labels, "labels.jsonl", "--verdicts", "verdicts.jsonl", "--out", "calibration.json"
    )
    assert status == 1
    assert err.startswith("proctor: labels.jsonl: line 61: not_valid: level: ")
    assert "! 1 lines could not be read" in out
    assert read_calibration(Path("calibration.json")).bad_lines == 1


@pytest.mark.req(28)
def test_pairs_that_await_re_alignment_are_listed_and_fail_the_command(run: Run) -> None:
    write_labels(label("ann", "t90", "safety", 0), label("bob", "t90", "safety", 1.5))
    for more in ((), ("--verdicts", "verdicts.jsonl")):
        status, out, _ = run(calibrate_labels, "labels.jsonl", *more)
        assert (status, "    t90, safety: ann 0, bob 1.5" in out) == (1, True)
    write_labels(label("ann", "t90", "safety", 0), label("bob", "t90", "safety", 1))
    assert run(calibrate_labels, "labels.jsonl")[0] == 0


def test_labels_alone_measure_people_and_say_that_no_judge_was(run: Run) -> None:
    write_labels()
    status, out, _ = run(calibrate_labels, "labels.jsonl")
    assert (status, out.splitlines()[-1]) == (0, "  no judge was measured: give its verdicts with --verdicts")
    _, out, _ = run(calibrate_labels, "labels.jsonl", "--json")
    assert json.loads(out)["human"]["exact"]["right"] == 30


def test_what_cannot_be_measured_is_refused_with_its_fix(run: Run) -> None:
    write_labels()
    Path("pairs.jsonl").write_bytes(lines({"human": True, "judge": True, "criterion": "a", "trajectory": "t"}))
    Path("empty.jsonl").write_bytes(b"\n")
    for arguments, code in (
        (["pairs.jsonl", "--verdicts", "verdicts.jsonl"], "two_judges"),
        (["pairs.jsonl", "--out", "c.json"], "no_judge"),
        (["labels.jsonl", "--out", "c.json"], "no_judge"),
        (["empty.jsonl"], "nothing_read"),
        (["none.jsonl"], "unreadable"),
        (["labels.jsonl", "--verdicts", "labels.jsonl"], "nothing_read"),
        (["labels.jsonl", "--scale", "1-5"], "off_scale"),
    ):
        with pytest.raises(UsageError) as error:
            run(calibrate_labels, *arguments)
        assert error.value.code == code
    assert not Path("c.json").exists()


class TestDrift:
    def test_an_unchanged_judge_shows_none(self, run: Run) -> None:
        write_labels()
        status, out, _ = run(find_drift, "verdicts.jsonl", "verdicts.jsonl")
        assert status == 0
        assert out.startswith("no drift shown: of 30 criteria 0 changed to pass, 0 to fail (p = 1.000)")
        assert "still allow that 9.5 % of all changed" in out

    def test_one_that_turned_lenient_is_found_and_its_other_model_named(self, run: Run) -> None:
        write_labels()
        other = JUDGE.model_copy(update={"returned": ("judge-1-2026-06",)})
        today = [verdict(f"t{at}", {"safety": 2 if at < 15 else at % 3}, judge=other) for at in range(30)]
        Path("today.jsonl").write_bytes(lines(*today))
        status, out, _ = run(find_drift, "verdicts.jsonl", "today.jsonl")
        assert status == 1
        assert out.startswith("unequal versions (model that answered: judge-1-2026-01, then judge-1-2026-06)")
        assert "  t0, safety: 0, now 2" in out
        _, out, _ = run(find_drift, "verdicts.jsonl", "today.jsonl", "--json")
        told = json.loads(out)
        assert (told["who"], told["to_pass"], told["drifted"]) == ("the judge", 10, True)

    def test_an_anchor_without_a_score_now_fails(self, run: Run) -> None:
        write_labels()
        today = [verdict(f"t{at}", {"safety": "judge_error" if at == 3 else at % 3}) for at in range(30)]
        Path("today.jsonl").write_bytes(lines(*today))
        status, out, _ = run(find_drift, "verdicts.jsonl", "today.jsonl")
        assert (status, "1 have no score any more" in out) == (1, True)
