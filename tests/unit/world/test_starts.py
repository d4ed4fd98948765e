"""What a session begins with: the class's start, or the case's; never what an earlier session left."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pydantic import BaseModel

from proctor.errors import WorldError, WorldFailed
from proctor.world import World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.unit.world.shop import Shop

KIND = WorldKind(Shop)


@pytest.mark.req(132)
def test_a_case_s_state_has_ids_of_its_own() -> None:
    given = {
        "orders": {"{id:ORD:first}": {"owner": "alice"}, "{id:ORD:second}": {}},
        "notes": ["see {id:ORD:first}"],
    }
    one, again, other = (WorldSession(KIND, seed, given) for seed in (1, 1, 2))
    assert one.ids == again.ids
    assert set(one.ids) == {"{id:ORD:first}", "{id:ORD:second}"}
    assert not set(one.ids.values()) & set(other.ids.values())
    assert list(one.state()["orders"]) == list(one.ids.values())
    assert one.state()["notes"] == [f"see {one.ids['{id:ORD:first}']}"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"orders": {"A1": {"status": "lost"}}}, "orders/A1/status"),
        ({"stock": -1}, "stock"),
        ([], "all of it: "),
    ],
)
def test_a_state_that_does_not_fit_is_refused_with_its_place(given: Any, told: str) -> None:
    with pytest.raises(WorldError, match="the state to begin with does not fit") as refused:
        WorldSession(KIND, 1, given)
    assert told in refused.value.message


@pytest.mark.req(222)
def test_what_sessions_share_cannot_be_left_dirty() -> None:
    kind = WorldKind(Shop)
    dirty = WorldSession(kind, 1)
    clean = dirty.state_text()
    with pytest.raises(WorldFailed) as failed:
        dirty.call("leak", b"")
    assert failed.value.code == "world_failed"
    assert dirty.state_text() == clean
    assert WorldSession(kind, 2).state_text() == clean


@pytest.mark.req(222)
def test_a_state_that_a_tool_kept_and_changes_later_reaches_no_session() -> None:
    kind = WorldKind(Keeper)
    first = WorldSession(kind, 1)
    clean = first.state_text()
    first.call("look", b"")
    first.call("spoil", b"")
    assert first.state_text() == clean
    assert WorldSession(kind, 2).state_text() == clean


class Kept(BaseModel):
    lines: dict[str, list[int]] = {"a": [1]}
    plain: list[int] = [1]


KEPT: list[Kept] = []


class Keeper(World[Kept]):
    @tool
    def look(self) -> list[int]:
        """Look, and keep what was seen."""
        KEPT.append(self.state)
        return self.state.lines["a"] + self.state.plain

    @tool
    def spoil(self) -> None:
        """Change what an earlier call saw."""
        for state in KEPT:
            state.lines["a"].append(9)
            state.lines["b"] = []
            state.plain.append(9)


class Counted(BaseModel):
    number: int


class NewEachTime(World[Counted]):
    numbers = itertools.count()

    @classmethod
    def start(cls) -> Counted:
        return Counted(number=next(cls.numbers))

    @tool
    def look(self) -> int:
        """Look."""
        return self.state.number


def test_a_start_that_differs_each_time_is_refused() -> None:
    with pytest.raises(WorldError) as refused:
        WorldKind(NewEachTime)
    assert refused.value.code == "world_start_varies"


def test_sessions_share_the_start_until_they_write() -> None:
    one, other = WorldSession(KIND, 1), WorldSession(KIND, 2)
    one.call("cancel_order", b'{"order_id": "A1"}', "alice")
    assert other.diff() == []
    assert other.state()["orders"]["A1"]["status"] == "paid"
