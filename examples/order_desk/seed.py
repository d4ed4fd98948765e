"""What a new desk starts with: six customers, ten orders, their products and policies, in Chinese and English."""

from __future__ import annotations

from datetime import date

from examples.order_desk.policies import POLICIES
from examples.order_desk.state import Customer, DeskState, Event, Item, Order, Product

CUSTOMERS = {
    "C-1001": Customer(name="王小雨", has_phone=True, notifications={"parcels": "email", "offers": "none"}),
    "C-1002": Customer(name="李建国", has_phone=True, notifications={"parcels": "email", "offers": "none"}),
    "C-1003": Customer(name="陈静", has_phone=True, notifications={"parcels": "email", "offers": "none"}),
    "C-2001": Customer(name="Emma Clark", has_phone=False, notifications={"parcels": "email", "offers": "none"}),
    "C-2002": Customer(name="Daniel O'Neill", has_phone=True, notifications={"parcels": "email", "offers": "none"}),
    "C-2003": Customer(name="Priya Shah", has_phone=True, notifications={"parcels": "email", "offers": "none"}),
}

CHINESE = {
    "CN1001": Order(
        customer_id="C-1001",
        items=[
            Item(sku="MUG-01", name="手绘陶瓷马克杯", quantity=2, unit_price="59.50"),
        ],
        shipping_fee="10.00",
        currency="CNY",
        status="delivered",
        address="上海市徐汇区漕溪北路 88 号 5 栋 602 室",
        carrier="顺丰速运",
        tracking_number="SF1029384756",
        events=[
            Event(at="2025-03-02T09:12:00+08:00", place="景德镇", text="快件已揽收"),
            Event(at="2025-03-04T15:40:00+08:00", place="上海", text="快件已签收，签收人：本人"),
        ],
    ),
    "CN1002": Order(
        customer_id="C-1001",
        items=[
            Item(sku="EAR-07", name="无线降噪耳机", quantity=1, unit_price="699.00"),
        ],
        shipping_fee="0.00",
        currency="CNY",
        status="paid",
        address="上海市徐汇区漕溪北路 88 号 5 栋 602 室",
    ),
    "CN1003": Order(
        customer_id="C-1002",
        items=[
            Item(sku="COAT-XL", name="加厚羽绒服（藏青，XL）", quantity=1, unit_price="459.00"),
        ],
        shipping_fee="12.00",
        currency="CNY",
        status="paid",
        address="浙江省杭州市拱墅区莫干山路 110 号 2 单元 301 室",
    ),
    "CN1004": Order(
        customer_id="C-1002",
        items=[
            Item(sku="RICE-4L", name="智能电饭煲 4L", quantity=1, unit_price="329.00"),
        ],
        shipping_fee="15.00",
        currency="CNY",
        status="shipped",
        address="浙江省杭州市拱墅区莫干山路 110 号 2 单元 301 室",
        carrier="中通快递",
        tracking_number="ZT7711223344",
        events=[
            Event(at="2025-03-05T18:05:00+08:00", place="佛山", text="快件已揽收"),
            Event(at="2025-03-06T07:30:00+08:00", place="长沙", text="快件已到达转运中心"),
        ],
    ),
    "CN1005": Order(
        customer_id="C-1003",
        items=[
            Item(sku="TEAPOT-6", name="玻璃茶壶 600ml", quantity=1, unit_price="88.00"),
        ],
        shipping_fee="8.00",
        currency="CNY",
        status="delivered",
        address="四川省成都市武侯区人民南路四段 27 号",
        carrier="京东物流",
        tracking_number="JD0012345678",
        events=[
            Event(at="2025-03-01T11:00:00+08:00", place="昆山", text="快件已揽收"),
            Event(at="2025-03-03T17:25:00+08:00", place="成都", text="快件已签收，签收人：本人"),
        ],
    ),
}

ENGLISH = {
    "US2001": Order(
        customer_id="C-2001",
        items=[
            Item(sku="LAMP-03", name="Brass desk lamp", quantity=1, unit_price="84.90"),
        ],
        shipping_fee="6.50",
        currency="USD",
        status="delivered",
        address="12 Maple Avenue, Burlington, VT 05401",
        carrier="UPS",
        tracking_number="1Z0099887766",
        events=[
            Event(at="2025-03-01T10:20:00-05:00", place="Newark, NJ", text="Picked up"),
            Event(at="2025-03-04T13:02:00-05:00", place="Burlington, VT", text="Delivered, front door"),
        ],
    ),
    "US2002": Order(
        customer_id="C-2001",
        items=[
            Item(sku="BOOT-08", name="Hiking boots, size 8", quantity=1, unit_price="139.00"),
            Item(sku="SOCK-02", name="Wool socks", quantity=3, unit_price="12.25"),
        ],
        shipping_fee="0.00",
        currency="USD",
        status="shipped",
        address="12 Maple Avenue, Burlington, VT 05401",
        carrier="FedEx",
        tracking_number="778812345601",
        events=[
            Event(at="2025-03-05T16:45:00-07:00", place="Denver, CO", text="Picked up"),
        ],
    ),
    "US2003": Order(
        customer_id="C-2002",
        items=[
            Item(sku="GRIND-1", name="Burr coffee grinder", quantity=1, unit_price="119.99"),
        ],
        shipping_fee="7.25",
        currency="USD",
        status="shipped",
        address="401 Pine Street, Apt 9, Seattle, WA 98101",
        carrier="USPS",
        tracking_number="9400110200881",
        events=[
            Event(at="2025-03-05T08:15:00-08:00", place="Reno, NV", text="Picked up"),
            Event(at="2025-03-06T21:50:00-08:00", place="Portland, OR", text="Arrived at sorting centre"),
        ],
    ),
    "US2004": Order(
        customer_id="C-2002",
        items=[
            Item(sku="NOTE-3P", name="Dotted notebook, set of 3", quantity=2, unit_price="18.00"),
        ],
        shipping_fee="4.00",
        currency="USD",
        status="paid",
        address="401 Pine Street, Apt 9, Seattle, WA 98101",
    ),
    "US2005": Order(
        customer_id="C-2003",
        items=[
            Item(sku="PAN-26", name="Cast-iron skillet, 26 cm", quantity=1, unit_price="64.00"),
        ],
        shipping_fee="9.50",
        currency="USD",
        status="delivered",
        address="9 Birch Road, Madison, WI 53703",
        carrier="UPS",
        tracking_number="1Z0099887801",
        events=[
            Event(at="2025-03-02T09:30:00-06:00", place="Chicago, IL", text="Picked up"),
            Event(at="2025-03-04T15:10:00-06:00", place="Madison, WI", text="Delivered, porch"),
        ],
    ),
}

PRODUCTS = {
    "MUG-01": Product(name="手绘陶瓷马克杯", on_hand=40),
    "EAR-07": Product(name="无线降噪耳机", on_hand=12),
    "COAT-XL": Product(name="加厚羽绒服（藏青，XL）", on_hand=0, restock_on=date(2025, 10, 8)),
    "RICE-4L": Product(name="智能电饭煲 4L", on_hand=7),
    "LAMP-03": Product(name="Brass desk lamp", on_hand=3),
    "BOOT-08": Product(name="Hiking boots, size 8", on_hand=5),
    "SOCK-02": Product(name="Wool socks", on_hand=60),
    "GRIND-1": Product(name="Burr coffee grinder", on_hand=1),
    "NOTE-3P": Product(name="Dotted notebook, set of 3", on_hand=25),
    "TEAPOT-6": Product(name="玻璃茶壶 600ml", on_hand=2),
    "PAN-26": Product(name="Cast-iron skillet, 26 cm", on_hand=0, restock_on=date(2025, 4, 2)),
}


def seeded() -> DeskState:
    """The state of a new desk."""
    return DeskState(
        customers=CUSTOMERS, orders={**CHINESE, **ENGLISH}, products=PRODUCTS, policies=POLICIES
    ).model_copy(deep=True)
