"""How often a citation is taken that is no evidence, or refused that is: measures for `make figures`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from proctor.judge.citations import Cited, check
from proctor.judge.transcript import Transcript
from proctor.trajectory import Trajectory
from proctor.verdict import VerifiedQuote
from tools.citation_probes import EVERYTHING, Probe, probes
from tools.citation_seeds import own_runs
from tools.plain_transcripts import plain
from tools.records import folder

GENERATED = 10_000
"""Probes beside those of `citation_probes.jsonl`."""


def probe_false(runs: Sequence[Trajectory]) -> dict[str, float]:
    """False accepts and rejects over the labelled probes and the generated ones; each is printed."""
    shown = {run.id: plain(run) for run in runs}
    everything = [*labelled(shown), *probes([*shown.values(), *map(plain, own_runs())], GENERATED)]
    accepted, refused = mistakes(everything)
    kinds, evidence = {probe.kind for probe in everything}, sum(probe.accept for probe in everything)
    print(f"citations: {len(everything):,} probes of {len(kinds)} kinds, {evidence:,} are evidence")
    return {"probe_false_accepts": len(accepted), "probe_false_rejects": len(refused)}


def mistakes(each_probe: Iterable[Probe]) -> tuple[list[Probe], list[Probe]]:
    """The probes that are taken and no evidence, and those that are refused and are."""
    accepted: list[Probe] = []
    refused: list[Probe] = []
    for probe in each_probe:
        found = check(Cited(probe.step, probe.quote, probe.pointer), probe.transcript, probe.criterion)
        if isinstance(found, VerifiedQuote) == probe.accept:
            continue
        (refused if probe.accept else accepted).append(probe)
        said = "taken" if isinstance(found, VerifiedQuote) else f"refused, {found.code}: {found.reason}"
        print(f"citation wrong: {probe.kind}, step {probe.step}, {probe.quote!r} {probe.pointer}: {said}")
    return accepted, refused


def labelled(shown: dict[str, Transcript]) -> list[Probe]:
    """The rows of `citation_probes.jsonl` that say accept or reject."""
    rows = map(json.loads, (folder() / "citation_probes.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Probe(
            row["mutation"],
            shown[row["trajectory_id"]],
            row["step"],
            row["quote"],
            "",
            EVERYTHING,
            row["expect"] == "accept",
        )
        for row in rows
        if row["expect"] != "policy"
    ]


MEASURES = (probe_false,)
