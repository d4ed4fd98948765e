"""A tool that gives what the state holds: it is written once, and what it changed is found all the same."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Json, TypeAdapter, computed_field, field_serializer

from proctor.errors import WorldFailed
from proctor.world import World, tool
from proctor.world.kind import WorldKind
from proctor.world.plain import is_plain
from proctor.world.session import WorldSession


class Line(BaseModel):
    sku: str = "TV"
    price: Decimal = Decimal("1.50")


class Order(BaseModel):
    status: str = "paid"
    lines: list[Line] = [Line()]
    """Which a tool may put something else into."""


class Doubled(BaseModel):
    amount: int = 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        """Answered, and not stored."""
        return 2 * self.amount


class State(BaseModel):
    orders: dict[str, Order] = {"A": Order(), "B": Order()}
    cart: Order = Order()
    doubled: dict[str, Doubled] = {"A": Doubled()}


class Shop(World[State]):
    @tool
    def look(self, key: str) -> Order:
        """Look."""
        return self.state.orders[key]

    @tool
    def look_into_cart(self) -> Order:
        """Look."""
        return self.state.cart

    @tool
    def cancel(self, key: str) -> Order:
        """Change what is given."""
        order = self.state.orders[key]
        order.status = "cancelled"
        return order

    @tool
    def fill_cart(self) -> Order:
        """Change what is given, which is no table's."""
        self.state.cart.lines.append(Line(sku="PC"))
        return self.state.cart

    @tool
    def cancel_another(self) -> Order:
        """Give one, change another."""
        self.state.orders["B"].status = "cancelled"
        return self.state.orders["A"]

    @tool
    def alias(self) -> Order:
        """Put what is given in two further places."""
        order = self.state.orders["A"]
        self.state.orders["B"].status = "shipped"
        self.state.orders["C"] = self.state.cart = order
        return order

    @tool
    def overwrite(self) -> Order:
        """Put what is given where another one differs."""
        self.state.orders["A"].status = "late"
        self.state.orders["B"] = order = self.state.orders["A"]
        return order

    @tool(effect="read")
    def lie(self) -> Order:
        """Change what is given, though declared to read."""
        self.state.orders["A"].lines[0].sku = "PC"
        return self.state.orders["A"]

    @tool
    def spoil(self) -> Order:
        """Give what is stored so, but is not of its type."""
        order = self.state.orders["A"]
        order.lines = [line.model_dump() for line in order.lines]  # type: ignore[misc]
        return order

    @tool
    def spoil_both(self) -> Order:
        """Leave in the state, and give, what neither allows."""
        order = self.state.orders["A"]
        order.status = 5  # type: ignore[assignment]
        return order

    @tool
    def double(self) -> Doubled:
        """Give what is answered otherwise than it is stored."""
        return self.state.doubled["A"]


@pytest.fixture
def shop() -> WorldSession:
    return WorldSession(WorldKind(Shop), 0)


def paths(shop: WorldSession, name: str, **arguments: Any) -> list[str]:
    answer = shop.call(name, json.dumps(arguments).encode())
    assert answer.status == 200, answer.body
    return [step["path"] for step in answer.patch]


@pytest.mark.parametrize(("name", "given"), [("look", {"key": "A"}), ("look_into_cart", {})])
def test_what_is_only_looked_at_is_answered_as_it_is_stored(
    shop: WorldSession, name: str, given: dict[str, str]
) -> None:
    before = shop.state_text()
    answer = shop.call(name, json.dumps(given).encode())
    assert answer.body == TypeAdapter(Order).dump_json(Order())
    assert (answer.effect, answer.patch) == ("read", [])
    assert shop.state_text() == before


def test_what_is_given_and_changed_is_a_change(shop: WorldSession) -> None:
    assert paths(shop, "cancel", key="A") == ["/orders/A/status"]
    assert paths(shop, "cancel", key="A") == []
    assert json.loads(shop.call("look", b'{"key": "A"}').body)["status"] == "cancelled"
    assert paths(shop, "fill_cart") == ["/cart/lines/1"]
    assert len(json.loads(shop.call("look_into_cart", b"{}").body)["lines"]) == 2


def test_what_stands_beside_it_is_looked_through_too(shop: WorldSession) -> None:
    assert paths(shop, "cancel_another") == ["/orders/B/status"]


def test_one_value_in_several_places_is_compared_with_each(shop: WorldSession) -> None:
    assert paths(shop, "alias") == ["/orders/B/status", "/orders/C"]
    assert paths(shop, "overwrite") == ["/orders/A/status", "/orders/B/status"]
    assert {key: each["status"] for key, each in shop.state()["orders"].items()} == {
        "A": "late",
        "B": "late",
        "C": "paid",
    }


@pytest.mark.parametrize(
    ("name", "code"), [("lie", "world_effect"), ("spoil", "world_result_bad"), ("spoil_both", "world_state_bad")]
)
def test_what_may_not_be_is_the_worlds_fault_as_ever(shop: WorldSession, name: str, code: str) -> None:
    before = shop.state_text()
    with pytest.raises(WorldFailed) as failed:
        shop.call(name, b"{}")
    assert failed.value.code == code
    assert shop.state_text() == before
    assert shop.call("look", b'{"key": "A"}').body == TypeAdapter(Order).dump_json(Order())


def test_what_is_answered_otherwise_than_stored_is_written_for_each(shop: WorldSession) -> None:
    answer = shop.call("double", b"{}")
    assert (json.loads(answer.body), answer.patch) == ({"amount": 1, "twice": 2}, [])
    assert shop.state()["doubled"]["A"] == {"amount": 1}
    assert shop.kind.give_stored.isdisjoint({"double"})
    assert "look" in shop.kind.give_stored


class Way(Enum):
    POST = "post"


class Odd(Enum):
    ONE = (1, 2)


class Plain(BaseModel, extra="forbid"):
    due: date
    way: Way | None
    kind: Literal["a", "b"]
    more: dict[str, list[Line]] = {}
    metadata: int = 0


class Serializing(BaseModel):
    amount: int

    @field_serializer("amount")
    def _write(self, amount: int, info: Any) -> int:
        return amount if info.round_trip else -amount


class Holding(BaseModel):
    default: Serializing
    metadata: Doubled


class Open(BaseModel, extra="allow"):
    amount: int


class Recursive(BaseModel):
    inner: list[Recursive] = []


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (Order, True),
        (Plain, True),
        (Recursive, True),
        (Doubled, False),
        (Serializing, False),
        (Holding, False),
        (Open, False),
        (Odd, False),
        (dict[str, Json[int]], False),
        (list[Any], False),
        (int | str, False),
    ],
)
def test_only_what_is_surely_written_one_way_is_written_once(kind: Any, plain: bool) -> None:
    assert is_plain(TypeAdapter(kind).core_schema) is plain
