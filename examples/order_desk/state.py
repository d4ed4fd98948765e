"""What the order desk knows: its state, as the world keeps it. Amounts are decimal strings with two places."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel

Topic = Literal["parcels", "offers"]
Way = Literal["sms", "email", "none"]


class Item(BaseModel):
    """One line of an order."""

    sku: str
    name: str
    quantity: int
    unit_price: str


class Event(BaseModel):
    """One scan of a parcel; `at` is ISO 8601 with the offset of the place."""

    at: str
    place: str
    text: str


class Refund(BaseModel):
    """What was paid back for an order, once."""

    refund_id: str
    amount: str
    channel: str | None
    created_at: datetime


class Shipment(BaseModel):
    """An item that was sent again."""

    shipment_id: str
    sku: str
    name: str
    address: str
    created_at: datetime


class AddressChange(BaseModel):
    """That an order goes elsewhere."""

    old_address: str
    new_address: str
    channel: str | None
    changed_at: datetime


class Order(BaseModel):
    """One order as the shop knows it. It has a carrier once it has shipped."""

    customer_id: str
    items: list[Item]
    shipping_fee: str
    currency: str
    status: Literal["paid", "shipped", "delivered"]
    address: str
    carrier: str | None = None
    tracking_number: str | None = None
    events: list[Event] = []
    quote: str | None = None
    """What a refund would pay, as last calculated."""
    refund: Refund | None = None
    shipments: list[Shipment] = []
    address_changes: list[AddressChange] = []


class Customer(BaseModel):
    """Who buys, and how they want to hear of what."""

    name: str
    has_phone: bool
    notifications: dict[Topic, Way]


class Product(BaseModel):
    """What there is of a product; `restock_on` is when there will be more, if that is known."""

    name: str
    on_hand: int
    restock_on: date | None = None


class Policy(BaseModel):
    """An after-sales rule, and the words by which it is found."""

    title: str
    text: str
    keywords: list[str]


class DeskState(BaseModel):
    """All of it, by number."""

    customers: dict[str, Customer] = {}
    orders: dict[str, Order] = {}
    products: dict[str, Product] = {}
    policies: dict[str, Policy] = {}
