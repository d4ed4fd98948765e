"""Runs of our own to cut quotes from, where no labelled runs are there: 40 Chinese sentences and an English desk."""

from __future__ import annotations

import json

from proctor.trajectory import Step, Task, ToolCall, Trajectory

CHINESE = (
    "您好，我想查询订单 W2378156 的物流状态。",
    "订单 W2378156 已于 2024-05-15 发货，预计 3 天内送达。",
    "系统显示该订单尚未付款，因此无法安排发货。",
    "请问您能提供注册时使用的手机号码吗？",
    "我没有收到验证码，请重新发送一次。",
    "退款金额为 128.50 元，将在七个工作日内原路退回。",
    "很抱歉，已经签收超过三十天的商品不能退货。",
    "我不同意取消订单，请保留原来的配送地址。",
    "客户要求把收货地址改为上海市浦东新区世纪大道 100 号。",
    "地址修改成功，新的收货人是李明。",
    "库存不足，该型号的蓝色键盘目前缺货。",
    "我们可以为您换成黑色款，差价 20 元由您承担。",
    "用户确认了换货申请，并接受了差价。",
    "换货申请提交失败，错误码 E4012，请稍后再试。",
    "没有您的明确同意，我不会提交任何退款请求。",
    "这张优惠券已过期，不能用于本次购买。",
    "会员积分余额 3200 分，可抵扣 32 元。",
    "请勿向任何人透露您的支付密码。",
    "航班 MU5101 因天气原因延误两小时，未取消。",
    "您的座位已从经济舱升级为商务舱，无需补差价。",
    "查询结果为空：未找到符合条件的记录。",
    "工单编号 20240518007 已转交人工客服处理。",
    "我已经核对了身份信息，姓名与证件号码一致。",
    "姓名与预留信息不一致，身份核验未通过。",
    "请在二十四小时内完成付款，否则订单将自动关闭。",
    "订单已自动关闭，款项从未扣除。",
    "保修期为两年，人为损坏不在保修范围之内。",
    "技术人员将于周四上午九点上门安装。",
    "客户表示从未下过这笔订单，怀疑账号被盗用。",
    "账号已临时冻结，需本人到柜台办理解冻。",
    "发票抬头已更正为“南京某某科技有限公司”。",
    "电子发票已发送至您的邮箱，请注意查收。",
    "该商品支持七天无理由退换，运费由买家承担。",
    "运费险已生效，退货运费由保险公司赔付。",
    "酒店房间已确认：大床房一间，入住两晚，不含早餐。",
    "由于未提前取消，首晚房费 468 元不予退还。",
    "您可以选择邮寄或到店自提，两种方式均不收费。",
    "快递员多次联系不上收件人，包裹已退回仓库。",
    "根据公司政策，单笔退款超过 5000 元须经主管批准。",
    "主管尚未批准该笔退款，因此我不能继续操作。",
)

_ENGLISH = (
    ("user", "Hi, I’d like to cancel order #W1001.\nIt isn't needed any more, and I don't want a refund in credit."),
    ("assistant", "I can help with that. First I need the e-mail address of the account, or your full name."),
    ("user", "It is anna.berg@example.com — my name is Anna Berg (née Lindström)."),
    ("call", 'find_user {"email": "anna.berg@example.com"}'),
    ("tool", '{"user_id": "anna_berg_4417", "status": "OK", "orders": ["#W1001", "#W1002"], "points": 310}'),
    ("call", 'get_order {"order_id": "#W1001"}'),
    (
        "tool",
        '{"order_id": "#W1001", "status": "shipped", "total": 64.50, "items": [{"sku": "KB-2", "qty": 1}], '
        '"address": {"street": "12 Elm St", "zip": "19122"}, "gift": false, "note": null}',
    ),
    ("assistant", "The order has **not** been cancelled: it was shipped on 2024-05-15,  so it can only be returned."),
    ("user", "Then return it, please. “Refund to the card” is what I want.\r\n\r\nThanks!"),
    ("call", 'return_order {"order_id":"#W1001","items":["KB-2"],"refund_to":"card_8811"}'),
    ("tool", '{"error": "refund_target_unknown", "hint": "use one of card_1881, credit", "retry": true, "code": 4012}'),
    ("assistant", "I could not return it: the card ending in 8811 is unknown.\n\n1. card_1881\n2. store credit"),
)
_POLICY = "Orders that are shipped can't be cancelled, only returned, and only with the customer's explicit consent."


def own_runs() -> tuple[Trajectory, ...]:
    """The English run, and four Chinese ones of ten sentences each, said by all: users, agents, tools."""
    chinese = [_chinese_run(at, CHINESE[10 * at : 10 * at + 10]) for at in range(4)]
    return (_run("own-en", [_step(role, said) for role, said in _ENGLISH], _POLICY), *chinese)


def _chinese_run(number: int, sentences: tuple[str, ...]) -> Trajectory:
    roles = ("user", "assistant", "tool", "call", "assistant")
    written = {
        "tool": lambda said: json.dumps({"消息": said, "状态": "成功", "次数": 2}, ensure_ascii=False),
        "call": lambda said: f"note {json.dumps({'内容': said}, ensure_ascii=False)}",
    }
    steps = [_step(role, written.get(role, str)(said)) for role, said in zip(roles * 2, sentences, strict=True)]
    return _run(f"own-zh-{number}", steps, "未经客户明确同意，不得提交退款或取消订单。")


def _step(role: str, said: str) -> dict[str, object]:
    if role != "call":
        return {"role": role, "text": said}
    name, _, arguments = said.partition(" ")
    return {"role": "assistant", "tool_calls": (ToolCall(name=name, arguments_raw=arguments),)}


def _run(identity: str, steps: list[dict[str, object]], policy: str) -> Trajectory:
    numbered = tuple(Step.model_validate({"index": at, **step}) for at, step in enumerate(steps))
    return Trajectory(id=identity, task=Task(goal=None, policy=policy), steps=numbered)
