"""The order desk's API: every rule and every error code, over real sockets."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from examples.order_desk.seed import ORDERS
from examples.order_desk.server import create_app
from tests.integration.order_desk.support import Desk
from tests.support import serving_app

NEW_ADDRESS = "浙江省杭州市西湖区文三路 478 号"


async def test_health_and_json_content_type(desk: Desk) -> None:
    async with desk.session.get(f"{desk.url}/health") as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        assert await answer.json() == {"status": "ok"}


async def test_seed_has_eight_orders_in_two_languages_and_three_states() -> None:
    assert len(ORDERS) == 8
    assert {order.currency for order in ORDERS} == {"CNY", "USD"}
    assert {order.status for order in ORDERS} == {"paid", "shipped", "delivered"}


async def test_tokens_are_random_and_each_acts_for_its_customer(desk: Desk) -> None:
    first, second = await desk.token("C-1001"), await desk.token("C-1001")
    assert first != second
    assert len(first) == 32
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


TOOLS_WITH_TOKEN = ("query_order", "query_logistics", "calc_refund", "create_refund", "change_address")


@pytest.mark.parametrize("tool", TOOLS_WITH_TOKEN)
@pytest.mark.req(105)
async def test_every_tool_but_get_token_wants_a_valid_token(desk: Desk, tool: str) -> None:
    arguments = {"order_id": "CN1001", "amount": "1.00", "address": "x"}
    status, body = await desk.call(tool, arguments)
    assert (status, body["code"], body["error"]) == (401, 40101, "token_required")
    status, body = await desk.call(tool, arguments, "wrong")
    assert (status, body["code"], body["error"]) == (401, 40102, "token_invalid")


@pytest.mark.parametrize("tool", TOOLS_WITH_TOKEN)
@pytest.mark.parametrize("order_id", ["US2001", "ZZ9999"])
async def test_another_customers_order_does_not_exist(desk: Desk, tool: str, order_id: str) -> None:
    token = await desk.token("C-1001")
    arguments = {"order_id": order_id, "amount": "1.00", "address": "x"}
    status, body = await desk.call(tool, arguments, token)
    assert (status, body["code"], body["error"]) == (404, 40402, "order_not_found")


async def test_unknown_customer_unknown_tool_and_unknown_path(desk: Desk) -> None:
    status, body = await desk.call("get_token", {"customer_id": "C-9999"})
    assert (status, body["code"], body["error"]) == (404, 40403, "customer_not_found")
    status, body = await desk.call("drop_tables", {})
    assert (status, body["code"], body["error"]) == (404, 40401, "unknown_tool")
    async with desk.session.get(f"{desk.url}/nothing") as answer:
        assert (answer.status, (await answer.json())["error"]) == (404, "not_found")
    async with desk.session.get(f"{desk.url}/tools/query_order") as answer:
        assert (answer.status, (await answer.json())["error"]) == (405, "method_not_allowed")


BAD_ARGUMENTS: list[tuple[str, Any, str]] = [
    ("get_token", {}, "customer_id_required"),
    ("get_token", {"customer_id": 7}, "customer_id_invalid"),
    ("query_order", {}, "order_id_required"),
    ("query_order", {"order_id": 1001}, "order_id_invalid"),
    ("query_order", {"order_id": " "}, "order_id_invalid"),
    ("query_logistics", {"order_id": None}, "order_id_invalid"),
    ("calc_refund", {"order_id": ["CN1001"]}, "order_id_invalid"),
    ("create_refund", {"order_id": "CN1001"}, "amount_required"),
    ("create_refund", {"order_id": "CN1001", "amount": 119.0}, "amount_invalid"),
    ("create_refund", {"order_id": "CN1001", "amount": "a lot"}, "amount_invalid"),
    ("create_refund", {"order_id": "CN1001", "amount": "NaN"}, "amount_invalid"),
    ("change_address", {"order_id": "CN1002"}, "address_required"),
    ("change_address", {"order_id": "CN1002", "address": {}}, "address_invalid"),
    ("query_order", {"order_id": "CN1001", "channel": 3}, "channel_invalid"),
    ("query_order", ["CN1001"], "body_not_object"),
]


@pytest.mark.parametrize(("tool", "arguments", "error"), BAD_ARGUMENTS)
@pytest.mark.req(107)
async def test_bad_arguments_are_named(desk: Desk, tool: str, arguments: Any, error: str) -> None:
    token = await desk.token("C-1001")
    status, body = await desk.call(tool, arguments, token)
    assert (status, body["error"]) == (400, error)
    assert set(body) == {"code", "error", "message"}


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b'{"order_id": "\\ud800"}', b"[" * 100_000])
async def test_a_body_that_is_not_json(desk: Desk, raw: bytes) -> None:
    headers = {"Authorization": f"Bearer {await desk.token('C-1001')}"}
    async with desk.session.post(f"{desk.url}/tools/query_order", data=raw, headers=headers) as answer:
        assert (answer.status, (await answer.json())["error"]) == (400, "body_not_json")


@pytest.mark.req(104, 105, 108)
async def test_refund_needs_the_calculated_amount_and_is_made_once(desk: Desk, database: Path) -> None:
    token = await desk.token("C-1001")
    order = {"order_id": "CN1001"}
    refund = {**order, "amount": "119.00", "channel": "chat"}
    status, body = await desk.call("create_refund", refund, token)
    assert (status, body["code"], body["error"]) == (409, 40901, "refund_amount_required")
    assert body["hint"]["argument"] == "amount"

    status, quote = await desk.call("calc_refund", order, token)
    assert (status, quote["amount"]) == (200, "119.00")  # delivered: without the shipping fee
    status, body = await desk.call("create_refund", {**refund, "amount": "129.00"}, token)
    assert (status, body["error"]) == (409, "refund_amount_required")

    status, made = await desk.call("create_refund", refund, token)
    assert status == 200
    assert re.fullmatch(r"RF-[0-9A-F]{10}", made["refund_id"])
    for tool in ("create_refund", "calc_refund"):
        status, body = await desk.call(tool, refund, token)
        assert (status, body["code"], body["error"]) == (409, 40902, "already_refunded")
        assert body["refund_id"] == made["refund_id"]
    _, seen = await desk.call("query_order", order, token)
    assert seen["refund"]["refund_id"] == made["refund_id"]
    assert rows(database, "SELECT amount, channel FROM refunds") == [("119.00", "chat")]


async def test_refund_before_shipping_pays_the_shipping_fee_too(desk: Desk) -> None:
    token = await desk.token("C-1002")
    _, quote = await desk.call("calc_refund", {"order_id": "CN1003"}, token)
    assert quote["amount"] == "471.00"
    assert quote["breakdown"] == {"goods": "459.00", "shipping_fee": "12.00"}


async def test_of_refunds_sent_at_once_one_is_made(desk: Desk, database: Path) -> None:
    token = await desk.token("C-2001")
    await desk.call("calc_refund", {"order_id": "US2001"}, token)
    refund = {"order_id": "US2001", "amount": "84.9"}
    answers = await asyncio.gather(*(desk.call("create_refund", refund, token) for _ in range(8)))
    assert sorted(status for status, _ in answers) == [200] + [409] * 7
    assert rows(database, "SELECT amount, channel FROM refunds") == [("84.90", None)]


async def test_address_changes_until_shipped(desk: Desk, database: Path) -> None:
    token = await desk.token("C-1002")
    change = {"order_id": "CN1003", "address": NEW_ADDRESS, "channel": "phone"}
    status, changed = await desk.call("change_address", change, token)
    assert (status, changed["new_address"]) == (200, NEW_ADDRESS)
    _, parcel = await desk.call("query_logistics", {"order_id": "CN1003"}, token)
    assert (parcel["status"], parcel["deliver_to"], parcel["events"]) == ("not_shipped", NEW_ADDRESS, [])
    status, body = await desk.call("change_address", {**change, "order_id": "CN1004"}, token)
    assert (status, body["code"], body["error"]) == (409, 40903, "already_shipped")
    assert rows(database, "SELECT order_id, new_address, channel FROM address_changes") == [
        ("CN1003", NEW_ADDRESS, "phone")
    ]


async def test_logistics_of_a_shipped_order_lists_its_scans(desk: Desk) -> None:
    token = await desk.token("C-2002")
    _, parcel = await desk.call("query_logistics", {"order_id": "US2003"}, token)
    assert parcel["carrier"] == "USPS"
    assert [event["place"] for event in parcel["events"]] == ["Reno, NV", "Portland, OR"]


async def test_state_outlives_the_server(desk: Desk, database: Path) -> None:
    token = await desk.token("C-1002")
    await desk.call("change_address", {"order_id": "CN1003", "address": NEW_ADDRESS}, token)
    async with serving_app(create_app(database)) as url:
        again = Desk(url, desk.session)
        status, order = await again.call("query_order", {"order_id": "CN1003"}, token)
    assert (status, order["address"]) == (200, NEW_ADDRESS)
    assert rows(database, "SELECT count(*) FROM orders") == [(8,)]


def rows(database: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()
