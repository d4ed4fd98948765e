"""The labelled runs that the figures are measured on: `trajectories.jsonl` of the folder in PROCTOR_TEST_DATA."""

from __future__ import annotations

import json
import os
from pathlib import Path

from proctor.trajectories.from_records import from_record
from proctor.trajectory import Trajectory

ROOT = Path(__file__).resolve().parents[1]


def folder() -> Path:
    """Where the runs are, or should be."""
    return Path(os.environ.get("PROCTOR_TEST_DATA", ROOT.parent / "shared" / "data"))


def labelled_runs(data: Path) -> list[Trajectory]:
    """Every run of the file, in its order. Raises FileNotFoundError."""
    with (data / "trajectories.jsonl").open(encoding="utf-8") as lines:
        return [from_record(json.loads(line)) for line in lines]
