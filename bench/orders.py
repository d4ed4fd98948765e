"""The world of the bench: it answers as the recorded service does, from a state of its own."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from bench.traffic import DISTINCT, answer_body
from proctor.world import BusinessError, World, tool


class Item(BaseModel):
    """A line of an order."""

    sku: str
    quantity: int
    price: float


class Delivery(BaseModel):
    """Where an order goes."""

    city: str
    days: int


class Customer(BaseModel):
    """Who asks."""

    name: str
    city: str
    vip: bool


class Order(BaseModel):
    """As the answers have it."""

    order_id: str
    status: str
    items: list[Item]
    delivery: Delivery
    remarks: str


class State(BaseModel):
    """Every order that the bench asks for."""

    orders: dict[str, Order] = {}


class Orders(World[State]):
    """One tool that reads, as the tape's, and one that writes."""

    @classmethod
    def start(cls) -> State:
        """An order for each distinct request."""
        return State.model_validate(state_of(DISTINCT))

    @tool(effect="read")
    def query_order(self, order_id: str, customer: Customer, fields: list[str], limit: int, reason: str) -> Order:
        """Look an order up."""
        if order_id not in self.state.orders:
            raise BusinessError("order_not_found", f"no order {order_id}", status=404)
        return self.state.orders[order_id]

    @tool(effect="write")
    def cancel_order(self, order_id: str) -> str:
        """Cancel an order."""
        self.state.orders[order_id].status = "cancelled"
        return "cancelled"


def state_of(count: int) -> dict[str, Any]:
    """A state with that many orders, as JSON data."""
    answers = [json.loads(answer_body(number)) for number in range(count)]
    return {"orders": {answer["order_id"]: answer for answer in answers}}
