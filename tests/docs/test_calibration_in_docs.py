"""docs/calibration.md: its files are read, its commands give what it shows, and its table is the arithmetic's."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from proctor.cli.main import main
from proctor.judge.intervals import at_most_share, percent, wilson
from proctor.judge.labels import read_labels
from proctor.judge.sample_size import TABLED, TRUTHS, needed_right, power
from proctor.review_wire import LabelCitation
from tests.docs.test_commands_in_docs import commands_of
from tests.support import ROOT
from tests.unit.judge.labelled import lines, verdict

PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
RUNS = (("refund-1", 2), ("refund-2", 1), ("cancel-1", 0))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the files that the page shows, and verdicts for those that it only names."""
    for name, text in re.findall(r"`(\w+\.jsonl)`:\n\n```json\n(.*?)```", PAGE, flags=re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = lines(*(verdict(run, {"safety": level}) for run, level in RUNS))
    for name in ("verdicts", "anchors", "today"):
        (tmp_path / f"{name}.jsonl").write_bytes(given)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_as_typed(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status and what is printed."""
    program, *arguments = shlex.split(command)
    assert program == "proctor"
    status = main(arguments)
    return status, capsys.readouterr().out


def test_the_commands_give_what_the_page_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.findall(r"```console\n\$ ([^\n]*)\n```\n\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert [run_as_typed(command, capsys) for command, _ in shown] == [(1, shown[0][1]), (0, shown[1][1])]


def test_every_command_can_be_typed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {command: run_as_typed(command, capsys) for command in commands_of("docs/calibration.md")}
    assert "no drift shown" in told["proctor judge drift anchors.jsonl today.jsonl"][1]
    assert json.loads((folder / "calibration.json").read_text())["judge"]["model"] == "other/judge-1"


def test_the_table_of_labels_is_what_the_arithmetic_says() -> None:
    rows = [tuple(re.findall(r"[\d.]+", line)) for line in PAGE.splitlines() if re.match(r"\| \d", line)]
    wanted = []
    for n in TABLED:
        right = needed_right(n, 0.85)
        assert right is not None
        chances = (f"{power(n, 0.85, truth) * 100:.0f}" for truth in TRUTHS)
        wanted.append((str(n), str(right), f"{right / n * 100:.1f}", *chances))
    assert rows == wanted


def test_the_numbers_in_its_sentences_are_right() -> None:
    interval = wilson(51, 60)
    assert interval is not None
    assert "85 % observed on 60 pairs" in PAGE
    assert f"the true\nagreement may be {interval.low * 100:.0f} %" in PAGE
    assert needed_right(21, 0.85) is None
    assert f"none in 60 leaves room for {percent(at_most_share(60) or 0)}" in PAGE


def test_every_field_of_a_label_is_explained_and_the_decision_settles_the_gap() -> None:
    (shown, decision) = re.findall(r"```json\n(\{\"annotator.*?)```", PAGE, flags=re.DOTALL)
    labels, bad = read_labels((shown + decision).encode())
    assert (len(labels), bad) == (7, [])
    assert labels[0].citations == (LabelCitation(step=4, quote="refunded"),)
    explained = re.findall(r"`(\w+)`", "\n".join(line for line in PAGE.splitlines() if line.startswith("| `")))
    assert set(type(labels[0]).model_fields) == set(explained)
