"""The figures on citations count what is wrong, and print it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.citation_probes import probes
from tools.citation_seeds import own_runs
from tools.figures_citations import mistakes
from tools.plain_transcripts import plain


def test_a_probe_that_is_decided_otherwise_is_counted_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    made = list(probes([plain(run) for run in own_runs()], 60))
    assert mistakes(made) == ([], [])
    turned = [replace(probe, accept=not probe.accept) for probe in made]
    accepted, refused = mistakes(turned)
    assert [*accepted, *refused] == sorted(turned, key=lambda probe: probe.accept)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 60
    assert printed[0].startswith("citation wrong: verbatim, step ")
