"""The order desk's own project, for the commands that mend its tapes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import ROOT, Project


@pytest.fixture
def desk_project(tmp_path: Path) -> Project:
    """Its configuration, its tapes, and an agent that may be changed."""
    shutil.copy(ROOT / "proctor.toml", tmp_path)
    shutil.copytree(ROOT / "cassettes", tmp_path / "cassettes")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return Project(tmp_path)
