"""The order desk's API: every rule and every error code, over real sockets."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from typing import Any

import pytest

from examples.order_desk.seed import seeded
from examples.order_desk.tools import TOOLS
from examples.order_desk.world import OrderDesk
from proctor.world.kind import WorldKind
from tests.integration.order_desk.support import Desk

NEW_ADDRESS = "浙江省杭州市西湖区文三路 478 号"


async def test_health_and_json_content_type(desk: Desk) -> None:
    async with desk.session.get(f"{desk.url}/health") as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        assert await answer.json() == {"status": "ok"}


def test_seed_has_ten_orders_in_two_languages_and_three_states() -> None:
    state = seeded()
    assert len(state.orders) == 10
    assert {order.currency for order in state.orders.values()} == {"CNY", "USD"}
    assert {order.status for order in state.orders.values()} == {"paid", "shipped", "delivered"}
    assert {order.customer_id for order in state.orders.values()} == set(state.customers)
    assert {item.sku for order in state.orders.values() for item in order.items} == set(state.products)


def test_the_agent_is_told_of_the_ten_tools_as_the_world_has_them() -> None:
    """All but the channel, which the agent itself fills in."""
    tools = WorldKind(OrderDesk).tools
    assert len(tools) == 10
    told = {each["function"]["name"]: each["function"] for each in TOOLS}
    assert {name: each["description"] for name, each in told.items()} == {n: t.description for n, t in tools.items()}
    for name, each in told.items():
        known = tools[name].arguments.json_schema()["properties"]
        del known["channel"]
        given: Any = each["parameters"]["properties"]
        facts = ("description", "type", "enum")
        assert given == {key: {fact: of[fact] for fact in facts if fact in of} for key, of in known.items()}


async def test_the_service_lists_its_tools(desk: Desk) -> None:
    async with desk.session.get(f"{desk.url}/tools") as answer:
        listed = await answer.json()
    assert [each["function"]["name"] for each in listed] == [each["function"]["name"] for each in TOOLS]


async def test_tokens_are_random_and_each_acts_for_its_customer(desk: Desk) -> None:
    first, second = await desk.token("C-1001"), await desk.token("C-1001")
    assert first != second
    for token in (first, second):
        assert (await desk.call("query_order", {"order_id": "CN1001"}, token))[0] == 200


async def test_order_answer_is_readable_text_with_fresh_time_and_id(desk: Desk) -> None:
    token = await desk.token("C-1001")
    headers = {"Authorization": f"Bearer {token}"}
    async with desk.session.post(
        f"{desk.url}/tools/query_order", json={"order_id": "CN1001"}, headers=headers
    ) as answer:
        raw = await answer.text()
    assert "手绘陶瓷马克杯" in raw
    _, one = await desk.call("query_order", {"order_id": "CN1001"}, token)
    _, two = await desk.call("query_order", {"order_id": "CN1001"}, token)
    assert one["request_id"] != two["request_id"]
    assert re.search(r"\.\d{3}\+00:00$", one["served_at"])
    assert datetime.fromisoformat(one["served_at"]) <= datetime.fromisoformat(two["served_at"])
    for body in (one, two):
        del body["request_id"], body["served_at"]
    assert one == two
    assert (one["amount"], one["status"], one["refund"]) == ("129.00", "delivered", None)


CALLS: dict[str, dict[str, str]] = {
    "query_order": {"order_id": "CN1001"},
    "query_logistics": {"order_id": "CN1001"},
    "query_stock": {"sku": "MUG-01"},
    "search_policy": {"query": "运费"},
    "calc_refund": {"order_id": "CN1001"},
    "create_refund": {"order_id": "CN1001", "amount": "1.00"},
    "create_shipment": {"order_id": "CN1001", "sku": "MUG-01"},
    "change_address": {"order_id": "CN1001", "address": "x"},
    "set_notifications": {"topic": "offers", "way": "none"},
}


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.req(105)
async def test_every_tool_but_get_token_wants_a_valid_token(desk: Desk, tool: str) -> None:
    status, body = await desk.call(tool, CALLS[tool])
    assert (status, body["error"]) == (401, "token_required")
    status, body = await desk.call(tool, CALLS[tool], "wrong")
    assert (status, body["error"]) == (401, "token_invalid")


@pytest.mark.parametrize("tool", [name for name, arguments in CALLS.items() if "order_id" in arguments])
@pytest.mark.parametrize("order_id", ["US2001", "ZZ9999"])
async def test_another_customers_order_does_not_exist(desk: Desk, tool: str, order_id: str) -> None:
    token = await desk.token("C-1001")
    status, body = await desk.call(tool, {**CALLS[tool], "order_id": order_id}, token)
    assert (status, body["error"], body["argument"]) == (404, "order_not_found", "order_id")


async def test_unknown_customer_unknown_tool_and_unknown_path(desk: Desk) -> None:
    status, body = await desk.call("get_token", {"customer_id": "C-9999"})
    assert (status, body["error"]) == (404, "customer_not_found")
    status, body = await desk.call("drop_tables", {})
    assert (status, body["error"]) == (404, "tool_unknown")
    async with desk.session.get(f"{desk.url}/nothing") as answer:
        assert (answer.status, (await answer.json())["error"]) == (404, "not_found")
    async with desk.session.get(f"{desk.url}/tools/query_order") as answer:
        assert (answer.status, (await answer.json())["error"]) == (405, "method_not_allowed")


BAD_ARGUMENTS: list[tuple[str, Any, str, str]] = [
    ("get_token", {}, "customer_id", "argument_missing"),
    ("get_token", {"customer_id": 7}, "customer_id", "argument_type"),
    ("query_order", {}, "order_id", "argument_missing"),
    ("query_order", {"order_id": 1001}, "order_id", "argument_type"),
    ("query_logistics", {"order_id": None}, "order_id", "argument_type"),
    ("calc_refund", {"order_id": ["CN1001"]}, "order_id", "argument_type"),
    ("create_refund", {"order_id": "CN1001"}, "amount", "argument_missing"),
    ("create_refund", {"order_id": "CN1001", "amount": 119.0}, "amount", "argument_type"),
    ("create_refund", {"order_id": "CN1001", "amount": "a lot"}, "amount", "argument_value"),
    ("create_refund", {"order_id": "CN1001", "amount": "NaN"}, "amount", "argument_value"),
    ("create_refund", {"order_id": "CN1001", "amount": "-1.00"}, "amount", "argument_value"),
    ("change_address", {"order_id": "CN1002"}, "address", "argument_missing"),
    ("change_address", {"order_id": "CN1002", "address": " "}, "address", "argument_value"),
    ("search_policy", {"query": ""}, "query", "argument_range"),
    ("set_notifications", {"topic": "offers", "way": "pigeon"}, "way", "argument_value"),
    ("query_order", {"order_id": "CN1001", "channel": 3}, "channel", "argument_type"),
    ("query_order", {"order_id": "CN1001", "colour": "red"}, "colour", "argument_unknown"),
]


@pytest.mark.parametrize(("tool", "arguments", "argument", "error"), BAD_ARGUMENTS)
@pytest.mark.req(107)
async def test_bad_arguments_are_named(desk: Desk, tool: str, arguments: Any, argument: str, error: str) -> None:
    token = await desk.token("C-1001")
    status, body = await desk.call(tool, arguments, token)
    assert (status, body["error"], body["argument"]) == (422, error, argument)
    assert desk.world.diff() == []


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe", b'{"order_id": "\\ud800"}', b"[" * 100_000, b'["CN1001"]'])
async def test_a_body_that_is_no_json_object(desk: Desk, raw: bytes) -> None:
    headers = {"Authorization": f"Bearer {await desk.token('C-1001')}"}
    async with desk.session.post(f"{desk.url}/tools/query_order", data=raw, headers=headers) as answer:
        told = "arguments_not_object" if raw == b'["CN1001"]' else "arguments_not_json"
        assert (answer.status, (await answer.json())["error"]) == (400, told)


@pytest.mark.req(104, 105, 108)
async def test_refund_needs_the_calculated_amount_and_is_made_once(desk: Desk) -> None:
    token = await desk.token("C-1001")
    order = {"order_id": "CN1001"}
    refund = {**order, "amount": "119.00", "channel": "chat"}
    status, body = await desk.call("create_refund", refund, token)
    assert (status, body["error"]) == (409, "refund_amount_required")
    assert body["argument"] == "amount"
    assert "calc_refund" in body["hint"]

    status, quote = await desk.call("calc_refund", order, token)
    assert (status, quote["amount"]) == (200, "119.00")  # delivered: without the shipping fee
    status, body = await desk.call("create_refund", {**refund, "amount": "129.00"}, token)
    assert (status, body["error"]) == (409, "refund_amount_required")

    status, made = await desk.call("create_refund", refund, token)
    assert status == 200
    assert re.fullmatch(r"RF-[0-9A-Z]{8}", made["refund_id"])
    for tool, arguments in (("create_refund", refund), ("calc_refund", order)):
        status, body = await desk.call(tool, arguments, token)
        assert (status, body["error"]) == (409, "already_refunded")
        assert body["refund_id"] == made["refund_id"]
    _, seen = await desk.call("query_order", order, token)
    assert seen["refund"]["refund_id"] == made["refund_id"]
    kept = desk.order("CN1001")["refund"]
    assert (kept["refund_id"], kept["amount"], kept["channel"]) == (made["refund_id"], "119.00", "chat")


async def test_refund_before_shipping_pays_the_shipping_fee_too(desk: Desk) -> None:
    token = await desk.token("C-1002")
    _, quote = await desk.call("calc_refund", {"order_id": "CN1003"}, token)
    assert quote["amount"] == "471.00"
    assert quote["breakdown"] == {"goods": "459.00", "shipping_fee": "12.00"}


async def test_of_refunds_sent_at_once_one_is_made(desk: Desk) -> None:
    token = await desk.token("C-2001")
    await desk.call("calc_refund", {"order_id": "US2001"}, token)
    refund = {"order_id": "US2001", "amount": "84.9"}
    answers = await asyncio.gather(*(desk.call("create_refund", refund, token) for _ in range(8)))
    assert sorted(status for status, _ in answers) == [200] + [409] * 7
    assert (desk.order("US2001")["refund"]["amount"], desk.order("US2001")["refund"]["channel"]) == ("84.90", None)


async def test_address_changes_until_shipped(desk: Desk) -> None:
    token = await desk.token("C-1002")
    change = {"order_id": "CN1003", "address": NEW_ADDRESS, "channel": "phone"}
    status, changed = await desk.call("change_address", change, token)
    assert (status, changed["new_address"]) == (200, NEW_ADDRESS)
    _, parcel = await desk.call("query_logistics", {"order_id": "CN1003"}, token)
    assert (parcel["status"], parcel["deliver_to"], parcel["events"]) == ("not_shipped", NEW_ADDRESS, [])
    status, body = await desk.call("change_address", {**change, "order_id": "CN1004"}, token)
    assert (status, body["error"]) == (409, "already_shipped")
    (kept,) = desk.order("CN1003")["address_changes"]
    assert (kept["new_address"], kept["channel"]) == (NEW_ADDRESS, "phone")
    assert desk.order("CN1004")["address_changes"] == []


async def test_logistics_of_a_shipped_order_lists_its_scans(desk: Desk) -> None:
    token = await desk.token("C-2002")
    _, parcel = await desk.call("query_logistics", {"order_id": "US2003"}, token)
    assert parcel["carrier"] == "USPS"
    assert [event["place"] for event in parcel["events"]] == ["Reno, NV", "Portland, OR"]


async def test_an_item_is_sent_again_once_from_stock_and_not_refunded_too(desk: Desk) -> None:
    token = await desk.token("C-1003")
    order = {"order_id": "CN1005"}
    _, before = await desk.call("query_stock", {"sku": "TEAPOT-6"}, token)
    status, body = await desk.call("create_shipment", {**order, "sku": "MUG-01"}, token)
    assert (status, body["error"], body["argument"]) == (404, "item_not_in_order", "sku")
    status, sent = await desk.call("create_shipment", {**order, "sku": "TEAPOT-6"}, token)
    assert (status, sent["name"]) == (200, "玻璃茶壶 600ml")
    _, after = await desk.call("query_stock", {"sku": "TEAPOT-6"}, token)
    assert after["on_hand"] == before["on_hand"] - 1
    for tool, arguments in (("create_shipment", {**order, "sku": "TEAPOT-6"}), ("calc_refund", order)):
        status, body = await desk.call(tool, arguments, token)
        assert (status, body["error"], body["shipment_id"]) == (409, "already_replaced", sent["shipment_id"])
    _, seen = await desk.call("query_order", order, token)
    assert [each["shipment_id"] for each in seen["shipments"]] == [sent["shipment_id"]]


@pytest.mark.parametrize(
    ("customer", "order_id", "sku", "error"),
    [("C-2003", "US2005", "PAN-26", "out_of_stock"), ("C-2002", "US2003", "GRIND-1", "not_delivered")],
)
async def test_what_is_not_there_or_has_not_arrived_is_not_sent_again(
    desk: Desk, customer: str, order_id: str, sku: str, error: str
) -> None:
    token = await desk.token(customer)
    status, body = await desk.call("create_shipment", {"order_id": order_id, "sku": sku}, token)
    assert (status, body["error"]) == (409, error)
    assert desk.world.diff() == []


async def test_an_unknown_product_is_told(desk: Desk) -> None:
    status, body = await desk.call("query_stock", {"sku": "MUG-02"}, await desk.token("C-1001"))
    assert (status, body["error"], body["argument"]) == (404, "product_not_found", "sku")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("耳机拆封了还能七天无理由退吗", ["P-01"]),
        ("My pan arrived DAMAGED, may I return it?", ["P-11", "P-12"]),
        ("gift wrapping", []),
    ],
)
async def test_policies_are_found_by_their_keywords(desk: Desk, query: str, found: list[str]) -> None:
    _, body = await desk.call("search_policy", {"query": query}, await desk.token("C-1001"))
    assert [each["policy_id"] for each in body["policies"]] == found


async def test_notifications_are_set_by_topic_and_want_a_phone_for_text_messages(desk: Desk) -> None:
    token = await desk.token("C-2001")
    status, body = await desk.call("set_notifications", {"topic": "offers", "way": "sms"}, token)
    assert (status, body["error"], body["argument"]) == (409, "phone_missing", "way")
    assert desk.world.diff() == []
    status, body = await desk.call("set_notifications", {"topic": "offers", "way": "email"}, token)
    assert (status, body["notifications"]) == (200, {"parcels": "email", "offers": "email"})
    assert [step["path"] for step in desk.world.diff()] == ["/customers/C-2001/notifications/offers"]
