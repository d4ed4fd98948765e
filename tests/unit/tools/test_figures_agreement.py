"""The figures of the published judge: those of its labels, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import figures, figures_agreement


def test_they_are_those_of_the_published_labels(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_TEST_DATA", str(shared_data))
    assert figures_agreement.devai([]) == {"devai_raw": 0.896, "devai_kappa": 0.778, "devai_ac1": 0.805}
    assert figures_agreement.devai in figures.MEASURES


def test_without_the_labels_there_are_none_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROCTOR_TEST_DATA", str(tmp_path))
    assert figures_agreement.devai([]) == {}
    assert "left out" in capsys.readouterr().out
