"""Generated quotes, verbatim and altered: none is taken that is no evidence, none refused that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from proctor.judge.transcript import Transcript
from tests.property.counts import count
from tools.citation_probes import KINDS, probes
from tools.citation_seeds import CHINESE, own_runs
from tools.figures_citations import mistakes
from tools.plain_transcripts import plain
from tools.records import labelled_runs

PROBES = count(ci=1_000, soak=10_000)


def hold(transcripts: Sequence[Transcript]) -> None:
    made = list(probes(transcripts, PROBES))
    assert Counter(probe.kind for probe in made).keys() == set(KINDS)
    assert mistakes(made) == ([], [])
    evidence = sum(probe.accept for probe in made)
    assert PROBES * 0.2 < evidence < PROBES * 0.5


@pytest.mark.req(157)
def test_no_false_accept_and_no_false_reject_on_our_own_runs() -> None:
    hold([plain(run) for run in own_runs()])


@pytest.mark.req(157)
def test_no_false_accept_and_no_false_reject_on_real_runs(shared_data: Path) -> None:
    hold([plain(run) for run in (*labelled_runs(shared_data), *own_runs())])


def test_forty_chinese_sentences_are_among_what_quotes_are_cut_from() -> None:
    runs = [plain(run) for run in own_runs()]
    texts = "\n".join(passage.text for run in runs for step in run.steps for passage in step.passages)
    assert len(set(CHINESE)) == 40
    assert all(sentence in texts for sentence in CHINESE)
    cut = {(id(probe.transcript), probe.step) for probe in probes(runs, 1_000) if not probe.transcript.omitted}
    assert {(id(run), step.index) for run in runs[1:] for step in run.steps} <= cut


def test_the_same_seed_gives_the_same_probes() -> None:
    runs = [plain(run) for run in own_runs()]
    assert list(probes(runs, 50)) == list(probes(runs, 50))
    assert list(probes(runs, 50)) != list(probes(runs, 50, seed=9))
