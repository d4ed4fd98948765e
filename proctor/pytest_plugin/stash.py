"""What the plugin keeps with pytest's own objects."""

from __future__ import annotations

import pytest

REPORTS = pytest.StashKey[dict[str, pytest.TestReport]]()
"""Of a test with a session: its reports so far, by phase."""
SHARED = pytest.StashKey[dict[str, tuple[str, ...]]]()
"""Of the run: the tests that would have one tape with others, by `test_id`."""
