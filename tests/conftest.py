"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.property.counts import SOAK
from tests.support import ROOT, Project

# The same examples in every CI run: what a random one finds belongs to `make soak`, not to somebody's merge.
settings.register_profile("proctor", derandomize=not SOAK, deadline=None)
settings.load_profile("proctor")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project in a folder of its own."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real labelled trajectories (`PROCTOR_TEST_DATA`); the test is skipped, visibly, without it."""
    folder = Path(os.environ.get("PROCTOR_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "trajectories.jsonl").is_file():
        pytest.skip(f"no test data in {folder}: set PROCTOR_TEST_DATA")
    return folder
