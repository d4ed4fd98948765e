"""The orders a new database starts with: four customers, eight orders, Chinese and English."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One line of an order; `unit_price` is a decimal string."""

    name: str
    quantity: int
    unit_price: str


@dataclass(frozen=True)
class Event:
    """One scan of a parcel; `at` is ISO 8601 with the offset of the place."""

    at: str
    place: str
    text: str


@dataclass(frozen=True)
class SeedOrder:
    """One order as the shop knows it. `carrier` and `tracking` are empty until it has shipped."""

    order_id: str
    customer_id: str
    customer_name: str
    items: tuple[Item, ...]
    shipping_fee: str
    currency: str
    status: str  # paid | shipped | delivered
    address: str
    carrier: str = ""
    tracking: str = ""
    events: tuple[Event, ...] = ()


CHINESE = (
    SeedOrder(
        "CN1001",
        "C-1001",
        "王小雨",
        (Item("手绘陶瓷马克杯", 2, "59.50"),),
        "10.00",
        "CNY",
        "delivered",
        "上海市徐汇区漕溪北路 88 号 5 栋 602 室",
        "顺丰速运",
        "SF1029384756",
        (
            Event("2025-03-02T09:12:00+08:00", "景德镇", "快件已揽收"),
            Event("2025-03-04T15:40:00+08:00", "上海", "快件已签收，签收人：本人"),
        ),
    ),
    SeedOrder(
        "CN1002",
        "C-1001",
        "王小雨",
        (Item("无线降噪耳机", 1, "699.00"),),
        "0.00",
        "CNY",
        "paid",
        "上海市徐汇区漕溪北路 88 号 5 栋 602 室",
    ),
    SeedOrder(
        "CN1003",
        "C-1002",
        "李建国",
        (Item("加厚羽绒服（藏青，XL）", 1, "459.00"),),
        "12.00",
        "CNY",
        "paid",
        "浙江省杭州市拱墅区莫干山路 110 号 2 单元 301 室",
    ),
    SeedOrder(
        "CN1004",
        "C-1002",
        "李建国",
        (Item("智能电饭煲 4L", 1, "329.00"),),
        "15.00",
        "CNY",
        "shipped",
        "浙江省杭州市拱墅区莫干山路 110 号 2 单元 301 室",
        "中通快递",
        "ZT7711223344",
        (
            Event("2025-03-05T18:05:00+08:00", "佛山", "快件已揽收"),
            Event("2025-03-06T07:30:00+08:00", "长沙", "快件已到达转运中心"),
        ),
    ),
)

ENGLISH = (
    SeedOrder(
        "US2001",
        "C-2001",
        "Emma Clark",
        (Item("Brass desk lamp", 1, "84.90"),),
        "6.50",
        "USD",
        "delivered",
        "12 Maple Avenue, Burlington, VT 05401",
        "UPS",
        "1Z0099887766",
        (
            Event("2025-03-01T10:20:00-05:00", "Newark, NJ", "Picked up"),
            Event("2025-03-04T13:02:00-05:00", "Burlington, VT", "Delivered, front door"),
        ),
    ),
    SeedOrder(
        "US2002",
        "C-2001",
        "Emma Clark",
        (Item("Hiking boots, size 8", 1, "139.00"), Item("Wool socks", 3, "12.25")),
        "0.00",
        "USD",
        "shipped",
        "12 Maple Avenue, Burlington, VT 05401",
        "FedEx",
        "778812345601",
        (Event("2025-03-05T16:45:00-07:00", "Denver, CO", "Picked up"),),
    ),
    SeedOrder(
        "US2003",
        "C-2002",
        "Daniel O'Neill",
        (Item("Burr coffee grinder", 1, "119.99"),),
        "7.25",
        "USD",
        "shipped",
        "401 Pine Street, Apt 9, Seattle, WA 98101",
        "USPS",
        "9400110200881",
        (
            Event("2025-03-05T08:15:00-08:00", "Reno, NV", "Picked up"),
            Event("2025-03-06T21:50:00-08:00", "Portland, OR", "Arrived at sorting centre"),
        ),
    ),
    SeedOrder(
        "US2004",
        "C-2002",
        "Daniel O'Neill",
        (Item("Dotted notebook, set of 3", 2, "18.00"),),
        "4.00",
        "USD",
        "paid",
        "401 Pine Street, Apt 9, Seattle, WA 98101",
    ),
)

ORDERS = CHINESE + ENGLISH
