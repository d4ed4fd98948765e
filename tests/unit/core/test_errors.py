"""Errors say what is nearest to what was typed, and how a command ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor import errors
from proctor.errors import ProctorError, cassette_missing, nearest


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("ordrs", ["orders", "llm"], 'did you mean "orders"?'),
        ("ordr", ["order", "orders"], 'did you mean "order"?'),
        ("zzz", ["orders", "llm"], "known: llm, orders"),
        ("", ["b", "a"], "known: a, b"),
        ("orders", [], ""),
    ],
)
def test_the_nearest_name_is_suggested_else_all_that_are_known(wrong: str, right: list[str], said: str) -> None:
    assert nearest(wrong, right) == said
    assert nearest(wrong, dict.fromkeys(reversed(right))) == said


def test_an_error_tells_its_fix_on_a_line_of_its_own_and_carries_all_three_parts() -> None:
    error = ProctorError("some_code", "what happened", "what to do")
    assert str(error) == "what happened\n  what to do"
    assert error.as_dict() == {"code": "some_code", "message": "what happened", "fix": "what to do"}
    assert str(ProctorError("some_code", "what happened")) == "what happened"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("ConfigError", 2),
        ("SessionError", 2),
        ("CassetteMissing", 2),
        ("CassetteUndecodable", 2),
        ("CassetteTorn", 2),
        ("CassetteVersion", 2),
        ("RubricError", 2),
        ("BudgetSpent", 2),
        ("PortInUse", 2),
        ("JournalError", 4),
        ("PlatformError", 4),
        ("UpstreamError", 1),
    ],
)
def test_each_error_ends_a_command_with_the_status_that_the_tree_says(kind: str, status: int) -> None:
    assert getattr(errors, kind)("c", "m").exit_code == status


def test_a_missing_tape_is_told_with_its_file_the_nearest_name_and_the_command() -> None:
    error = cassette_missing("refnd", Path("/p/cassettes/refnd.yaml"), ["refund", "query"])
    assert error.code == "cassette_missing"
    assert error.message == ('no cassette "refnd": /p/cassettes/refnd.yaml does not exist. did you mean "refund"?')
    assert error.fix == "record it: proctor record --cassette refnd -- COMMAND"
    assert cassette_missing("x", Path("/x.yaml"), []).message.endswith("does not exist.")
