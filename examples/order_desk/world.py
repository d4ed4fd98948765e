"""The order desk as a world: ten tools and every rule on them. `server.py` serves the same class as staging."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from examples.order_desk import answers, rules
from examples.order_desk.seed import seeded
from examples.order_desk.state import AddressChange, DeskState, Order, Refund, Shipment, Topic, Way
from proctor.world import CREDENTIAL, BusinessError, World, tool

OrderId = Annotated[str, Field(description="The order number, such as CN1001.")]
Sku = Annotated[str, Field(description="The product's number, as the order's items have it, such as MUG-01.")]
Amount = Annotated[
    str, Field(pattern=r"^\d{1,7}(\.\d{1,2})?$", description="The amount from calc_refund, unchanged, such as 84.90.")
]
Address = Annotated[str, Field(pattern=r"\S", max_length=200, description="The full new delivery address.")]
Channel = Annotated[str | None, Field(max_length=20, description="How the customer wrote: chat, email, phone.")]


class OrderDesk(World[DeskState]):
    """A shop's customer service. All but get_token act for the customer whose token comes with the request."""

    @classmethod
    def start(cls) -> DeskState:
        """See seed.py."""
        return seeded()

    @tool(effect="write")
    def get_token(
        self,
        customer_id: Annotated[str, Field(description="The customer's number, such as C-1001.")],
        channel: Channel = None,
    ) -> answers.TokenAnswer:
        """Verify the customer. Must be called before any other tool."""
        if customer_id not in self.state.customers:
            raise BusinessError("customer_not_found", f"There is no customer {customer_id}.", status=404)
        return answers.TokenAnswer(customer_id=customer_id, token=self.new_token(holder=customer_id))

    @tool(effect="read", token=CREDENTIAL)
    def query_order(self, order_id: OrderId, channel: Channel = None) -> answers.OrderAnswer:
        """Look up an order: items, amount, status, address, refund, what was sent again."""
        order = self._order(order_id)
        refund = order.refund
        return answers.OrderAnswer(
            order_id=order_id,
            customer_name=self.state.customers[self.holder].name,
            items=order.items,
            shipping_fee=order.shipping_fee,
            currency=order.currency,
            status=order.status,
            address=order.address,
            amount=rules.money(rules.goods(order) + Decimal(order.shipping_fee)),
            refund=None if refund is None else answers.RefundMade(**refund.model_dump(exclude={"channel"})),
            shipments=order.shipments,
        )

    @tool(effect="read", token=CREDENTIAL)
    def query_logistics(self, order_id: OrderId, channel: Channel = None) -> answers.ParcelAnswer:
        """Where the parcel of an order is."""
        order = self._order(order_id)
        return answers.ParcelAnswer(
            order_id=order_id,
            status="not_shipped" if order.status == "paid" else order.status,
            carrier=order.carrier,
            tracking_number=order.tracking_number,
            deliver_to=order.address,
            events=order.events,
        )

    @tool(effect="read", token=CREDENTIAL)
    def query_stock(self, sku: Sku, channel: Channel = None) -> answers.StockAnswer:
        """How many of a product are in stock, and when there will be more."""
        if sku not in self.state.products:
            told = f"There is no product {sku}."
            raise BusinessError("product_not_found", told, "query_order tells the sku of each item", "sku", 404)
        product = self.state.products[sku]
        return answers.StockAnswer(sku=sku, **product.model_dump())

    @tool(effect="read", token=CREDENTIAL)
    def search_policy(
        self,
        query: Annotated[str, Field(min_length=1, max_length=200, description="Words of the customer's question.")],
        channel: Channel = None,
    ) -> answers.PoliciesAnswer:
        """Search the after-sales policies: returns, damage, shipping fees, changes of address."""
        found = rules.search(self.state.policies, query)
        named = [answers.PolicyFound(policy_id=key, title=each.title, text=each.text) for key, each in found]
        return answers.PoliciesAnswer(policies=named)

    @tool(effect="write", token=CREDENTIAL)
    def calc_refund(self, order_id: OrderId, channel: Channel = None) -> answers.QuoteAnswer:
        """Calculate what a refund of an order would pay. Pays nothing."""
        order = self._order(order_id)
        rules.refuse_second_remedy(order_id, order)
        goods = rules.goods(order)
        fee = Decimal(order.shipping_fee) if order.status == "paid" else Decimal(0)
        order.quote = rules.money(goods + fee)
        parts = answers.Breakdown(goods=rules.money(goods), shipping_fee=rules.money(fee))
        return answers.QuoteAnswer(order_id=order_id, amount=order.quote, currency=order.currency, breakdown=parts)

    @tool(effect="write", token=CREDENTIAL)
    def create_refund(self, order_id: OrderId, amount: Amount, channel: Channel = None) -> answers.RefundAnswer:
        """Refund an order, once. Needs the amount that calc_refund answered."""
        order = self._order(order_id)
        rules.refuse_second_remedy(order_id, order)
        quote = rules.quoted(order_id, order, Decimal(amount))
        order.refund = Refund(refund_id=self.new_id("RF"), amount=quote, channel=channel, created_at=self.now())
        made = order.refund.model_dump(exclude={"channel"})
        return answers.RefundAnswer(order_id=order_id, currency=order.currency, **made)

    @tool(effect="write", token=CREDENTIAL)
    def create_shipment(self, order_id: OrderId, sku: Sku, channel: Channel = None) -> answers.ShipmentAnswer:
        """Send an item of a delivered order again, once, from stock."""
        order = self._order(order_id)
        rules.refuse_second_remedy(order_id, order)
        name = rules.deliverable(order_id, order, sku, self.state.products.get(sku))
        self.state.products[sku].on_hand -= 1
        number = self.new_id("SH")
        sent = Shipment(shipment_id=number, sku=sku, name=name, address=order.address, created_at=self.now())
        order.shipments.append(sent)
        return answers.ShipmentAnswer(order_id=order_id, **sent.model_dump())

    @tool(effect="write", token=CREDENTIAL)
    def change_address(self, order_id: OrderId, address: Address, channel: Channel = None) -> answers.AddressAnswer:
        """Change where an order goes. Only before it ships."""
        order = self._order(order_id)
        if order.status != "paid":
            told = f"Order {order_id} is {order.status}; its address can no longer change."
            raise BusinessError("already_shipped", told, order_status=order.status)
        old, order.address = order.address, address
        change = AddressChange(old_address=old, new_address=address, channel=channel, changed_at=self.now())
        order.address_changes.append(change)
        return answers.AddressAnswer(order_id=order_id, old_address=old, new_address=address)

    @tool(effect="write", token=CREDENTIAL)
    def set_notifications(
        self,
        topic: Annotated[Topic, Field(description="About what: parcels on their way, or offers.")],
        way: Annotated[Way, Field(description="How, or none for not at all.")],
        channel: Channel = None,
    ) -> answers.NotificationsAnswer:
        """Set how the customer is told about a topic."""
        customer = self.state.customers[self.holder]
        if way == "sms" and not customer.has_phone:
            told = f"Customer {self.holder} has no phone number."
            raise BusinessError("phone_missing", told, "offer email instead", "way")
        customer.notifications[topic] = way
        return answers.NotificationsAnswer(customer_id=self.holder, notifications=customer.notifications)

    def _order(self, order_id: str) -> Order:
        """An order of the customer who asks. Another customer's does not exist for them."""
        order = self.state.orders.get(order_id)
        if order is None or order.customer_id != self.holder:
            told = f"Customer {self.holder} has no order {order_id}."
            raise BusinessError("order_not_found", told, "ask the customer for the order number", "order_id", 404)
        return order
