"""What a call would answer can be told beforehand, and telling it changes nothing."""

from __future__ import annotations

import json

import pytest

from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.unit.world.shop import Shop

KIND = WorldKind(Shop)
PLACE = {"lines": [{"sku": "TV01"}], "gift": True, "discount": 0.5, "due": "2026-02-01", "way": "post"}
CALLS = [
    ("query_order", b'{"order_id": "A1"}'),
    ("get_token", b""),
    ("roll_dice", b""),
    ("place_order", json.dumps(PLACE).encode()),
    ("cancel_order", b'{"order_id": "A1"}'),
    ("calc_refund", b'{"order_id": "A1"}'),
]


@pytest.mark.parametrize(("name", "body"), CALLS)
def test_what_is_foretold_is_answered_and_nothing_comes_of_telling_it(name: str, body: bytes) -> None:
    world, untold = WorldSession(KIND, 1), WorldSession(KIND, 1)
    foretold = [world.foretell(name, body, "alice") for _ in range(3)]
    assert (world.diff(), world.calls, world.log) == ([], 0, [])
    answer = world.call(name, body, "alice")
    assert foretold == [answer.body] * 3
    assert answer == untold.call(name, body, "alice")


@pytest.mark.parametrize(
    ("name", "body"),
    [("query_order", b'{"order_id": "none"}'), ("none", b""), ("lie", b""), ("break_down", b'{"how": "throw"}')],
)
def test_what_would_be_refused_or_fail_is_not_foretold(name: str, body: bytes) -> None:
    world = WorldSession(KIND, 1)
    assert world.foretell(name, body, "alice") is None
    assert world.diff() == []
