"""A small world with every kind of argument, rule and change: the sample of the tests."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.world import BusinessError, World, tool


class Status(Enum):
    PAID = "paid"
    CANCELLED = "cancelled"


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sku: Annotated[str, Field(pattern=r"^[A-Z]{2}\d{2}$")]
    quantity: Annotated[int, Field(ge=1, le=99)] = 1


class Order(BaseModel):
    owner: str = "alice"
    status: Status = Status.PAID
    total: Decimal = Decimal("10.00")
    lines: list[Line] = []
    tags: dict[str, str] = {}


class Refund(BaseModel):
    order_id: str
    amount: Decimal
    at: datetime


class ShopState(BaseModel):
    orders: dict[str, Order] = {}
    refunds: dict[str, Refund] = {}
    notes: list[str] = []
    stock: Annotated[int, Field(ge=0)] = 5


class Placed(BaseModel):
    order_id: str
    order: Order


class Shop(World[ShopState]):
    audiences: ClassVar[dict[str, str]] = {"alice": "buyer", "bob": "buyer"}

    @classmethod
    def start(cls) -> ShopState:
        return ShopState(orders={"A1": Order(), "A2": Order(owner="bob", lines=[Line(sku="TV01")])})

    @tool(effect="read")
    def get_token(self) -> str:
        """Get the token that refunds want."""
        return self.new_token(timedelta(minutes=1))

    @tool(effect="read")
    def query_order(self, order_id: str) -> Order:
        """Look an order up.

        Args:
            order_id: The number on the receipt,
                as it is printed.
        """
        return self._order(order_id)

    @tool(effect="read")
    def list_orders(self, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> list[str]:
        """List the numbers of orders."""
        return list(self.state.orders)[:limit]

    @tool
    def place_order(
        self,
        lines: Annotated[list[Line], Field(min_length=1, max_length=3)],
        gift: bool,
        discount: float,
        due: date,
        way: Literal["post", "courier"],
        note: Annotated[str, Field(max_length=20)] | None = None,
        tags: dict[str, str] | None = None,
    ) -> Placed:
        """Place an order."""
        self.state.stock -= sum(line.quantity for line in lines)
        if self.state.stock < 0:
            raise BusinessError("out_of_stock", "there is not so much", "ask for less", "lines")
        number = self.new_id("ORD")
        order = Order(owner=self.caller or "nobody", lines=lines, tags=tags or {})
        self.state.orders[number] = order
        self.state.notes.append(f"{number} {way} {due} {gift} {discount} {note}")
        return Placed(order_id=number, order=order)

    @tool(effect="write", audience="buyer")
    def cancel_order(self, order_id: str) -> Order:
        """Cancel an order."""
        order = self._order(order_id)
        order.status = Status.CANCELLED
        order.tags["by"] = self.caller
        return order

    @tool(effect="write", audience="buyer")
    def calc_refund(self, order_id: str) -> Decimal:
        """Tell how much a refund would be."""
        total = self._order(order_id).total
        self.state.notes.append(f"calculated {order_id}")
        return total

    @tool(effect="write", audience=("buyer",), after={"calc_refund": "refund_amount_required"}, token="token")
    def create_refund(self, order_id: str, amount: Decimal, token: str) -> str:
        """Pay an order back."""
        number = self.new_id("RF")
        self.state.refunds[number] = Refund(order_id=order_id, amount=amount, at=self.now())
        if amount > self._order(order_id).total:
            raise BusinessError("refund_too_large", "it did not cost that much", "give less", "amount", status=422)
        return number

    @tool
    def roll_dice(self) -> list[int]:
        """Roll three dice."""
        return [self.random.randint(1, 6) for _ in range(3)]

    @tool
    def dump_all(self) -> ShopState:
        """Everything there is."""
        return self.state

    @tool
    def break_down(self, how: Literal["throw", "exit", "oversell", "wrong_result", "wrong_type"]) -> str:
        """Change much, then fail."""
        self.state.orders.clear()
        self.state.notes.append("half")
        self.new_id("RF")
        if how == "throw":
            raise KeyError("gone")
        if how == "exit":
            raise SystemExit(3)
        if how == "oversell":
            self.state.stock = -1
        if how == "wrong_type":
            self.state.notes = 7  # type: ignore[assignment]
        wrong: Any = {"no": "text"}
        return wrong if how == "wrong_result" else ""

    @tool(effect="read")
    def lie(self) -> str:
        """Say that it reads, and write."""
        self.state.notes.append("lied")
        return ""

    @tool(effect="write")
    def leak(self) -> str:
        """Change what is stored, past every guard."""
        self.state.orders.rows._base["A1"] = b"{}"  # type: ignore[attr-defined]
        return ""

    def _order(self, order_id: str) -> Order:
        if order_id not in self.state.orders:
            raise BusinessError("order_not_found", f"no order {order_id}", "see list_orders", "order_id", status=404)
        return self.state.orders[order_id]
