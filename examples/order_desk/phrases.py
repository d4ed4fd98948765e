"""The stand-in model's words, in Chinese and English."""

from __future__ import annotations

STATUS_ZH = {"paid": "已付款，未发货", "shipped": "已发货", "delivered": "已签收", "not_shipped": "尚未发货"}
STATUS_EN = {"paid": "paid, not shipped", "not_shipped": "not shipped yet"}
TOOL_ZH = {
    "get_token": "身份验证",
    "query_order": "查询订单",
    "query_logistics": "查询物流",
    "calc_refund": "计算退款金额",
    "create_refund": "提交退款",
    "change_address": "修改收货地址",
    "query_stock": "查询库存",
    "search_policy": "查询售后政策",
    "create_shipment": "补发商品",
    "set_notifications": "修改通知设置",
}
TOOL_EN = {
    "get_token": "verify your account",
    "query_order": "look up the order",
    "query_logistics": "track the parcel",
    "calc_refund": "calculate the refund",
    "create_refund": "create the refund",
    "change_address": "change the delivery address",
    "query_stock": "check the stock",
    "search_policy": "search the policies",
    "create_shipment": "send the item again",
    "set_notifications": "change how you are notified",
}
ERROR_ZH = {
    "order_not_found": "您的账户下没有这个订单",
    "customer_not_found": "没有找到您的客户账户",
    "already_refunded": "该订单之前已经退过款",
    "already_replaced": "该订单之前已经补发过",
    "not_delivered": "订单尚未签收，不能补发",
    "item_not_in_order": "该订单里没有这件商品",
    "out_of_stock": "商品缺货",
    "product_not_found": "没有这件商品",
    "phone_missing": "您的账户没有登记手机号，可以改用邮件通知",
    "already_shipped": "订单已经发货，无法再修改收货地址",
    "refund_amount_required": "退款金额与系统计算的金额不一致",
    "token_required": "身份凭证缺失",
    "token_invalid": "身份凭证无效",
}
ASK_ZH = {
    "wish": "好的。如果还需要查询订单、物流、退款、补发、售后政策、通知设置或修改收货地址，请随时告诉我。",
    "customer_id": "请提供您的客户编号（例如 C-1001）。",
    "order_id": "请提供您的订单号（例如 CN1001）。",
    "notification": "请告诉我：物流消息还是优惠消息？短信、邮件，还是不要通知？",
    "address": "请告诉我新的完整收货地址。",
}
ASK_EN = {
    "wish": "You're welcome. I can look up orders and policies, track parcels, make refunds, "
    "send items again, and change addresses and notifications.",
    "customer_id": "Please give me your customer number, such as C-2001.",
    "order_id": "Please give me your order number, such as US2001.",
    "notification": "Please tell me: parcels or offers? By text, by email, or not at all?",
    "address": "Please tell me the full new delivery address.",
}


WAY_ZH = {"sms": "短信", "email": "邮件", "none": "不通知"}
WAY_EN = {"sms": "by text message", "email": "by email", "none": "not at all"}
TOPIC_ZH = {"parcels": "物流消息", "offers": "优惠消息"}
TOPIC_EN = {"parcels": "parcels", "offers": "offers"}
