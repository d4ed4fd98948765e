"""Names of tools: exact, prefix, alias; anything else is another tool."""

from __future__ import annotations

import pytest

from proctor.matching.names import name_match, named, nearest_name

ALIASES = {"refund": ["issue_refund", "mcp__shop__*"], "cancel": ["cancelar"]}


@pytest.mark.req(85)
@pytest.mark.parametrize(
    ("wanted", "made", "how"),
    [
        ("refund", "refund", "exact"),
        ("query_*", "query_order", "prefix"),
        ("*", "anything", "prefix"),
        ("refund", "issue_refund", "alias"),
        ("refund", "mcp__shop__refund", "alias"),
        ("query_*", "requery_order", None),
        ("refund", "refund_all", None),
        ("refund", "Refund", None),
        ("issue_refund", "refund", None),
        ("cancel", "issue_refund", None),
    ],
)
def test_a_name_is_the_one_wanted_in_one_of_three_ways(wanted: str, made: str, how: str | None) -> None:
    assert name_match(wanted, made, ALIASES) == how
    assert named(["nothing", wanted], made, ALIASES) is (how is not None)


def test_the_nearest_name_is_told_and_a_far_one_is_not() -> None:
    assert nearest_name("query_order", ["get_weather", "queryOrder"]) == "queryOrder"
    assert nearest_name("query_order", ["xyz"]) is None
