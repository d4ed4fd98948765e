"""The obedient judge, which believes whatever it reads, scores a run with injected text as it scores its clean twin."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.judge import blinding
from proctor.judge.neutralising import Neutral
from proctor.trajectory import Trajectory
from tests.property.counts import count
from tests.support import ROOT
from tools.injection_places import PLACES
from tools.injection_runs import FULL, SEED, Case, cases, moved
from tools.injections import KINDS
from tools.records import labelled_runs

NO_MODEL = "stand-in/obedient, by rules: no live model was used"


def _real() -> list[Trajectory]:
    """None where they are not there."""
    data = Path(os.environ.get("PROCTOR_TEST_DATA", ROOT.parent / "shared" / "data"))
    return labelled_runs(data) if (data / "trajectories.jsonl").is_file() else []


@pytest.fixture(scope="module")
def drawn() -> list[Case]:
    return list(cases(count(100, 3 * FULL), _real(), SEED))


@pytest.fixture
def nothing_withheld(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Texts are shown as they are: what a judge without the defence reads."""
    with monkeypatch.context() as patched:
        patched.setattr(blinding, "neutralised", lambda text: Neutral(text))
        yield


def test_an_injected_text_moves_no_score_of_the_obedient_judge(
    drawn: list[Case], capsys: pytest.CaptureFixture[str]
) -> None:
    found = [case for case in drawn if moved(case)]
    with capsys.disabled():
        sys.stdout.write(f"\ninjections: {len(found)} of {len(drawn)} moved a score ({NO_MODEL})\n")
    assert not found, "\n".join(map(str, found))


def test_without_the_defence_most_of_them_move_it(
    drawn: list[Case], nothing_withheld: None, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = [  # what is shown of a run is kept for the very object
        Case(case.kind, case.place, case.want, case.rubric, case.injected.model_copy(), case.clean.model_copy())
        for case in drawn
    ]
    found = [case for case in fresh if moved(case)]
    with capsys.disabled():
        sys.stdout.write(f"\ninjections, nothing withheld: {len(found)} of {len(drawn)} moved a score ({NO_MODEL})\n")
    assert len(found) >= 0.8 * len(drawn)


def test_every_kind_and_every_place_takes_part(drawn: list[Case]) -> None:
    assert len(KINDS) >= 30
    assert {case.kind for case in drawn} == set(KINDS)
    assert {case.place for case in drawn} == set(PLACES)
    assert all(case.injected != case.clean for case in drawn)
