"""The order desk's business rules that several tools share, or that need a sentence of their own."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from examples.order_desk.state import Order, Policy, Product
from proctor.world import BusinessError

MOST_POLICIES = 2
"""A search answers so many at most."""


def goods(order: Order) -> Decimal:
    """What the items of an order cost."""
    return sum((Decimal(item.unit_price) * item.quantity for item in order.items), Decimal(0))


def money(value: Decimal) -> str:
    """An amount with two places."""
    return f"{value:.2f}"


def refuse_second_remedy(order_id: str, order: Order) -> None:
    """An order is refunded once, or its items are sent again; never both."""
    if order.refund is not None:
        told = f"Order {order_id} was refunded before."
        raise BusinessError("already_refunded", told, refund_id=order.refund.refund_id)
    if order.shipments:
        told = f"An item of order {order_id} was sent again before."
        raise BusinessError("already_replaced", told, shipment_id=order.shipments[0].shipment_id)


def quoted(order_id: str, order: Order, amount: Decimal) -> str:
    """The amount last calculated for an order, which must be the given one."""
    if order.quote is not None and Decimal(order.quote) == amount:
        return order.quote
    found = "has not been calculated" if order.quote is None else "is not the calculated one"
    told = f"The refund amount for {order_id} {found}."
    hint = "call calc_refund for this order, then send the amount that it answers"
    raise BusinessError("refund_amount_required", told, hint, "amount")


def deliverable(order_id: str, order: Order, sku: str, product: Product | None) -> str:
    """The name of an item that can be sent again: it was delivered, and there is one in stock."""
    if order.status != "delivered":
        told = f"Order {order_id} is {order.status}; only what was delivered can be sent again."
        raise BusinessError("not_delivered", told, order_status=order.status)
    name = next((item.name for item in order.items if item.sku == sku), None)
    if name is None:
        told = f"Order {order_id} has no item {sku}."
        raise BusinessError("item_not_in_order", told, "query_order tells the sku of each item", "sku", 404)
    if product is None or product.on_hand < 1:
        restock = product.restock_on if product else None
        told = f"{sku} is out of stock."
        raise BusinessError("out_of_stock", told, "offer a refund", restock_on=restock and restock.isoformat())
    return name


def search(policies: Mapping[str, Policy], query: str) -> list[tuple[str, Policy]]:
    """The policies of which most keywords stand in a text, the best first; those with none are left out."""
    low = query.lower()
    found = [(sum(word in low for word in each.keywords), key, each) for key, each in policies.items()]
    best = sorted((entry for entry in found if entry[0]), key=lambda entry: (-entry[0], entry[1]))
    return [(key, each) for _, key, each in best[:MOST_POLICIES]]
