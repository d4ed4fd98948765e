"""Parameters of checks, as a file of checks holds them: what cannot be meant is refused before any run is checked."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.asked import checked_parameters
from proctor.errors import UsageError

NEEDED: dict[str, dict[str, Any]] = {"tool_called": {"tool": "pay", "at_least": 0}, "recall": {"fact": "C1"}}
COUNTS = [
    ("tool_called", "at_least"),
    ("tool_called", "at_most"),
    ("loops", "most"),
    ("retries", "most"),
    ("recall", "losses"),
]


@pytest.mark.parametrize(("check", "key"), COUNTS)
@pytest.mark.parametrize("count", [-1, "2", True, 1.5])
def test_what_is_no_count_is_refused_by_the_name_of_its_key(check: str, key: str, count: object) -> None:
    with pytest.raises(UsageError, match=f"^{check}: {key}: Input should be ") as caught:
        checked_parameters(check, {**NEEDED.get(check, {}), key: count})
    assert caught.value.code == "bad_checks"


@pytest.mark.parametrize(("check", "key"), COUNTS)
def test_none_at_all_is_a_count(check: str, key: str) -> None:
    assert checked_parameters(check, {**NEEDED.get(check, {}), key: 0})[key] == 0


@pytest.mark.parametrize("counts", [{"at_least": 2, "at_most": 1}, {"at_most": 0}])
def test_counts_between_which_no_number_lies_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=r"^tool_called: at_most \(\d\) is below at_least \(\d\)") as caught:
        checked_parameters("tool_called", {"tool": "pay", **counts})
    assert (caught.value.code, "at_least is 1 unless given" in caught.value.fix) == ("bad_checks", True)
