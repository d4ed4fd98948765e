"""The agreement figures of a judge that others published with its labels: a measure for `make figures`."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.judge.agreement import agreement
from proctor.judge.pairs import pairs_of, read_pairs
from proctor.trajectory import Trajectory
from tools.records import folder

FILE = "agreement_devai.jsonl"


def devai(runs: Sequence[Trajectory]) -> dict[str, float]:
    """Raw agreement, kappa and AC1 of the DevAI judge with people. Without its file there are no figures."""
    path = folder() / FILE
    if not path.is_file():
        print(f"no {path}: the figures of agreement are left out")
        return {}
    found, bad = read_pairs(path.read_bytes())
    result = agreement(pairs_of(found), "0-1")
    print(f"devai: the judge agrees in {result.exact}; {len(bad)} lines could not be read")
    figures = {"devai_raw": result.exact.value, "devai_kappa": result.kappa.value, "devai_ac1": result.ac1.value}
    return {name: round(value, 3) for name, value in figures.items() if value is not None}


MEASURES = (devai,)
