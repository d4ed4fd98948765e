"""The order desk's state, in one SQLite file, and the business rules on it.

Every method is one short transaction on a local file and is called from one thread, so two tool calls
never interleave. A rule that forbids something raises `RefusalError`, which the server turns into an answer.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from examples.order_desk.seed import ORDERS, SeedOrder

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL, customer_name TEXT NOT NULL, items TEXT NOT NULL,
    shipping_fee TEXT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL, address TEXT NOT NULL,
    carrier TEXT NOT NULL, tracking TEXT NOT NULL, events TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, customer_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS quotes (order_id TEXT PRIMARY KEY, amount TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS refunds (
    refund_id TEXT PRIMARY KEY, order_id TEXT NOT NULL UNIQUE, amount TEXT NOT NULL,
    channel TEXT, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS address_changes (
    order_id TEXT NOT NULL, old_address TEXT NOT NULL, new_address TEXT NOT NULL,
    channel TEXT, changed_at TEXT NOT NULL);
"""


class RefusalError(Exception):
    """A call that the desk does not carry out: HTTP status, own number, stable name, text, extra fields."""

    def __init__(self, status: int, code: int, error: str, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "error": error, "message": message, **extra}


def now() -> str:
    """The time of day as every answer and row states it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """An open database. Amounts are decimal strings with two places throughout."""

    def __init__(self, database: Path) -> None:
        self._db = sqlite3.connect(database)
        self._db.row_factory = sqlite3.Row
        with self._db:
            self._db.executescript(SCHEMA)
            if self._one("SELECT 1 FROM orders LIMIT 1") is None:
                self._seed(ORDERS)

    def close(self) -> None:
        self._db.close()

    def issue_token(self, customer_id: str) -> str:
        """A new random token that acts for this customer."""
        if self._one("SELECT 1 FROM orders WHERE customer_id = ?", customer_id) is None:
            raise RefusalError(404, 40403, "customer_not_found", f"There is no customer {customer_id}.")
        token = secrets.token_urlsafe(24)
        with self._db:
            self._db.execute("INSERT INTO tokens VALUES (?, ?)", (token, customer_id))
        return token

    def customer_of(self, token: str) -> str | None:
        """Whom a token acts for, or None when it was never issued."""
        row = self._one("SELECT customer_id FROM tokens WHERE token = ?", token)
        return None if row is None else str(row["customer_id"])

    def order(self, customer_id: str, order_id: str) -> dict[str, Any]:
        """The order with its total and its refund, if any. Another customer's order does not exist."""
        order = self._order(customer_id, order_id)
        goods, fee = _goods(order), Decimal(order["shipping_fee"])
        shown = ("order_id", "customer_name", "items", "shipping_fee", "currency", "status", "address")
        refund = self._one("SELECT refund_id, amount, created_at FROM refunds WHERE order_id = ?", order_id)
        return {
            **{name: order[name] for name in shown},
            "amount": _money(goods + fee),
            "refund": None if refund is None else dict(refund),
        }

    def logistics(self, customer_id: str, order_id: str) -> dict[str, Any]:
        """Where the parcel is; an order that has not shipped has no carrier and no events."""
        order = self._order(customer_id, order_id)
        shipped = order["status"] != "paid"
        return {
            "order_id": order_id,
            "status": order["status"] if shipped else "not_shipped",
            "carrier": order["carrier"] or None,
            "tracking_number": order["tracking"] or None,
            "deliver_to": order["address"],
            "events": order["events"],
        }

    def quote_refund(self, customer_id: str, order_id: str) -> dict[str, Any]:
        """What a refund would pay: the goods, and the shipping fee while nothing has shipped."""
        order = self._order(customer_id, order_id)
        self._refuse_second_refund(order_id)
        goods = _goods(order)
        fee = Decimal(order["shipping_fee"]) if order["status"] == "paid" else Decimal(0)
        amount = _money(goods + fee)
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO quotes VALUES (?, ?)", (order_id, amount))
        breakdown = {"goods": _money(goods), "shipping_fee": _money(fee)}
        return {"order_id": order_id, "amount": amount, "currency": order["currency"], "breakdown": breakdown}

    def refund(self, customer_id: str, order_id: str, amount: Decimal, channel: str | None) -> dict[str, Any]:
        """Pays back, once, exactly the amount last quoted for the order."""
        order = self._order(customer_id, order_id)
        self._refuse_second_refund(order_id)
        quote = self._one("SELECT amount FROM quotes WHERE order_id = ?", order_id)
        if quote is None or Decimal(quote["amount"]) != amount:
            found = "has not been calculated" if quote is None else "is not the calculated one"
            action = "call calc_refund for this order, then send the amount that it answers"
            raise RefusalError(
                409,
                40901,
                "refund_amount_required",
                f"The refund amount for {order_id} {found}.",
                hint={"argument": "amount", "action": action},
            )
        refund_id, at = "RF-" + secrets.token_hex(5).upper(), now()
        row = (refund_id, order_id, quote["amount"], channel, at)
        with self._db:
            self._db.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?)", row)
        return {
            "refund_id": refund_id,
            "order_id": order_id,
            "amount": quote["amount"],
            "currency": order["currency"],
            "created_at": at,
        }

    def change_address(self, customer_id: str, order_id: str, address: str, channel: str | None) -> dict[str, Any]:
        """Sends an order elsewhere, as long as it has not shipped."""
        order = self._order(customer_id, order_id)
        if order["status"] != "paid":
            message = f"Order {order_id} is {order['status']}; its address can no longer change."
            raise RefusalError(409, 40903, "already_shipped", message, order_status=order["status"])
        row = (order_id, order["address"], address, channel, now())
        with self._db:
            self._db.execute("UPDATE orders SET address = ? WHERE order_id = ?", (address, order_id))
            self._db.execute("INSERT INTO address_changes VALUES (?, ?, ?, ?, ?)", row)
        return {"order_id": order_id, "old_address": order["address"], "new_address": address}

    def _order(self, customer_id: str, order_id: str) -> dict[str, Any]:
        sql = "SELECT * FROM orders WHERE order_id = ? AND customer_id = ?"
        row = self._one(sql, order_id, customer_id)
        if row is None:
            message = f"Customer {customer_id} has no order {order_id}."
            raise RefusalError(404, 40402, "order_not_found", message)
        return {**dict(row), "items": json.loads(row["items"]), "events": json.loads(row["events"])}

    def _refuse_second_refund(self, order_id: str) -> None:
        row = self._one("SELECT refund_id FROM refunds WHERE order_id = ?", order_id)
        if row is not None:
            message = f"Order {order_id} was refunded before."
            raise RefusalError(409, 40902, "already_refunded", message, refund_id=row["refund_id"])

    def _one(self, sql: str, *values: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._db.execute(sql, values).fetchone()
        return row

    def _seed(self, orders: tuple[SeedOrder, ...]) -> None:
        for order in orders:
            row = asdict(order)
            for name in ("items", "events"):
                row[name] = json.dumps(row[name], ensure_ascii=False)
            names = ", ".join(f":{name}" for name in row)
            self._db.execute(f"INSERT INTO orders ({', '.join(row)}) VALUES ({names})", row)


def _goods(order: Mapping[str, Any]) -> Decimal:
    return sum((Decimal(i["unit_price"]) * i["quantity"] for i in order["items"]), Decimal(0))


def _money(value: Decimal) -> str:
    return f"{value:.2f}"
