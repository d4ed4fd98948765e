"""Ten conversations that the agent can be driven with: five in Chinese, five in English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Conversation:
    """What one customer says, turn by turn. The customer id goes into the system prompt."""

    name: str
    language: Literal["zh", "en"]
    customer_id: str
    turns: tuple[str, ...]


REFUND_ZH = Conversation(
    "refund_zh",
    "zh",
    "C-1001",
    (
        "你好，订单 CN1001 里的马克杯收到时碎了一个，杯口全裂了，我要退款。",
        "好的，一共退了多少钱？退款单号也发我一下。",
        "收到，谢谢。",
    ),
)

ADDRESS_ZH = Conversation(
    "address_zh",
    "zh",
    "C-1002",
    (
        "我刚搬家了，订单 CN1003 的收货地址麻烦改成：浙江省杭州市西湖区文三路 478 号华星大厦 1203 室，谢谢",
        "那现在物流到哪了？什么时候能到？",
    ),
)

REFUND_EN = Conversation(
    "refund_en",
    "en",
    "C-2001",
    (
        "Hi, the desk lamp from order US2001 arrived with a cracked base. How much would I get back for it?",
        "OK, that works. Please refund it.",
        "Can you confirm the amount and the refund number for my records?",
        "Perfect, thanks for your help!",
    ),
)

LOGISTICS_EN = Conversation(
    "logistics_en",
    "en",
    "C-2002",
    (
        "Where is my parcel? It's order US2003 and I expected it yesterday.",
        "I won't be home this week. Please change the delivery address to 88 Harbor Street, Apt 4, Portland, OR 97209.",
        "Alright, leave it then. When will it arrive?",
    ),
)

REPLACE_ZH = Conversation(
    "replace_zh",
    "zh",
    "C-1003",
    (
        "订单 CN1005 的玻璃茶壶签收时壶嘴断了，能补发一个吗？",
        "好的，谢谢。订单 CN1005 现在是什么状态？",
    ),
)

OUT_OF_STOCK_EN = Conversation(
    "out_of_stock_en",
    "en",
    "C-2003",
    (
        "The skillet in order US2005 came with a crack right through it. Could you send me another one?",
        "I can't wait that long. Refund it instead, please.",
        "Thanks, that's all.",
    ),
)

POLICY_ZH = Conversation(
    "policy_zh",
    "zh",
    "C-1001",
    (
        "你们的售后政策，耳机拆封了还能七天无理由退货吗？",
        "明白了。那订单 CN1002 现在发货了吗？",
    ),
)

POLICY_EN = Conversation(
    "policy_en",
    "en",
    "C-2002",
    (
        "Do you have a policy on gift wrapping?",
        "And what is the policy when something arrives damaged?",
    ),
)

NOTIFY_ZH = Conversation(
    "notify_zh",
    "zh",
    "C-1002",
    (
        "以后物流消息请用短信通知我。",
        "优惠消息也发到我的邮箱吧，谢谢。",
    ),
)

NOTIFY_EN = Conversation(
    "notify_en",
    "en",
    "C-2001",
    (
        "Please text me whenever one of my parcels moves.",
        "Then by email, please.",
    ),
)

CONVERSATIONS = {
    c.name: c
    for c in (
        REFUND_ZH,
        ADDRESS_ZH,
        REPLACE_ZH,
        POLICY_ZH,
        NOTIFY_ZH,
        REFUND_EN,
        LOGISTICS_EN,
        OUT_OF_STOCK_EN,
        POLICY_EN,
        NOTIFY_EN,
    )
}
