"""The after-sales policies that the desk starts with, in Chinese and English."""

from __future__ import annotations

from examples.order_desk.state import Policy

POLICIES = {
    "P-01": Policy(
        title="七天无理由退货",
        text="签收后七天内、商品完好且不影响二次销售的，可以无理由退货；拆封的耳机等贴身用品除外，质量问题不受此限。",
        keywords=["无理由", "七天", "拆封"],
    ),
    "P-02": Policy(
        title="破损与换货",
        text="收到时已破损的商品，有库存的可以补发一件，没有库存的全额退还货款；已补发的订单不再退款。",
        keywords=["破损", "碎", "裂", "换货", "补发"],
    ),
    "P-03": Policy(
        title="运费",
        text="发货前退款退还运费；发货后退款只退货款，不退运费。",
        keywords=["运费", "邮费"],
    ),
    "P-11": Policy(
        title="Returns within 30 days",
        text="Unused goods may be returned within 30 days of delivery. The shipping fee is not paid back.",
        keywords=["return", "30 days", "send back"],
    ),
    "P-12": Policy(
        title="Damaged on arrival",
        text="A damaged item is sent again while it is in stock, else its price is refunded. Not both for one order.",
        keywords=["damage", "broken", "crack", "replace"],
    ),
    "P-13": Policy(
        title="Change of address",
        text="The delivery address can be changed until the order ships.",
        keywords=["address", "redirect"],
    ),
}
