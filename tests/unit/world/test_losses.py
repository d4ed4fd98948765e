"""What a state or a tool's types would lose is refused when the world is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from proctor.errors import WorldError
from proctor.world import World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.unit.world.test_definitions import State, class_of


def look(self: Any) -> int:
    """Look."""
    return 1


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    number: int = Field(0, alias="orderNumber")


class Lost(BaseModel):
    number: int = Field(0, alias="orderNumber")


class Left(BaseModel):
    number: int = Field(0, exclude=True)


class Hidden(BaseModel):
    _number: int = PrivateAttr(0)


@pytest.mark.parametrize("inner", [Lost, Left, Hidden])
@pytest.mark.parametrize("place", ["field", "list", "table"])
def test_a_state_of_which_a_part_would_be_lost_is_refused(inner: type[BaseModel], place: str) -> None:
    annotation = {"field": inner | None, "list": list[inner], "table": dict[str, inner]}[place]  # type: ignore[valid-type]
    state = type("State", (BaseModel,), {"__annotations__": {"it": annotation}, "it": {} if place == "table" else None})
    with pytest.raises(WorldError, match="umber is") as refused:
        WorldKind(class_of(World[state], {"look": tool(look)}))  # type: ignore[valid-type]
    assert refused.value.code == "world_state_class"


class Orders(BaseModel):
    orders: dict[str, Aliased] = {}


class Shop(World[Orders]):
    @tool
    def place(self) -> int:
        """Place the next order."""
        order = self.state.orders.setdefault("it", Aliased(orderNumber=0))
        order.number += 1
        return order.number


def test_a_field_with_an_alias_is_kept_where_its_class_reads_its_name() -> None:
    shop = WorldSession(WorldKind(Shop), 1)
    assert [shop.call("place", b"").body for _ in range(3)] == [b"1", b"2", b"3"]


@pytest.mark.parametrize("where", ["argument", "result", "state"])
def test_an_iterable_is_refused_since_it_is_read_after_the_call(where: str) -> None:
    def argument(self: Any, given: Iterable[int]) -> int:
        """Take one."""
        return sum(given)

    def result(self: Any) -> Iterable[int]:
        """Give one."""
        return [1]

    class Lazy(BaseModel):
        given: Iterable[int] = ()

    base = World[Lazy] if where == "state" else World[State]
    method: Any = result if where == "result" else argument
    with pytest.raises(WorldError) as refused:
        WorldKind(class_of(base, {"work": tool(look if where == "state" else method)}))
    assert refused.value.code == "world_type"
