"""What the order desk's tools answer."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel

from examples.order_desk.state import Event, Item, Shipment, Topic, Way


class TokenAnswer(BaseModel):
    """Whom a token acts for."""

    customer_id: str
    token: str


class RefundMade(BaseModel):
    """The refund of an order."""

    refund_id: str
    amount: str
    created_at: datetime


class OrderAnswer(BaseModel):
    """An order with its total, its refund, and what was sent again."""

    order_id: str
    customer_name: str
    items: list[Item]
    shipping_fee: str
    currency: str
    status: str
    address: str
    amount: str
    refund: RefundMade | None
    shipments: list[Shipment]


class ParcelAnswer(BaseModel):
    """Where a parcel is; one that has not shipped has no carrier and no events."""

    order_id: str
    status: Literal["not_shipped", "shipped", "delivered"]
    carrier: str | None
    tracking_number: str | None
    deliver_to: str
    events: list[Event]


class StockAnswer(BaseModel):
    """How many there are of a product."""

    sku: str
    name: str
    on_hand: int
    restock_on: date | None


class PolicyFound(BaseModel):
    """A policy that the search found."""

    policy_id: str
    title: str
    text: str


class PoliciesAnswer(BaseModel):
    """What the search found, the best first; empty where no policy is about it."""

    policies: list[PolicyFound]


class Breakdown(BaseModel):
    """What a refund is made of."""

    goods: str
    shipping_fee: str


class QuoteAnswer(BaseModel):
    """What a refund would pay."""

    order_id: str
    amount: str
    currency: str
    breakdown: Breakdown


class RefundAnswer(RefundMade):
    """A refund that was made just now."""

    order_id: str
    currency: str


class ShipmentAnswer(Shipment):
    """An item that was sent again just now."""

    order_id: str


class AddressAnswer(BaseModel):
    """Where an order goes now."""

    order_id: str
    old_address: str
    new_address: str


class NotificationsAnswer(BaseModel):
    """How a customer hears of what, now."""

    customer_id: str
    notifications: dict[Topic, Way]
