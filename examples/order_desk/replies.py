"""The stand-in model's final texts: facts from this turn's tool answers, in the user's language.

Nothing is said that no tool answered. A fact that an answer lacks is shown as "?".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from examples.order_desk.history import History, Outcome

Body = dict[str, Any]
Writer = Callable[[Body], str]

STATUS_ZH = {"paid": "已付款，未发货", "shipped": "已发货", "delivered": "已签收", "not_shipped": "尚未发货"}
STATUS_EN = {"paid": "paid, not shipped", "not_shipped": "not shipped yet"}
TOOL_ZH = {
    "get_token": "身份验证",
    "query_order": "查询订单",
    "query_logistics": "查询物流",
    "calc_refund": "计算退款金额",
    "create_refund": "提交退款",
    "change_address": "修改收货地址",
}
TOOL_EN = {
    "get_token": "verify your account",
    "query_order": "look up the order",
    "query_logistics": "track the parcel",
    "calc_refund": "calculate the refund",
    "create_refund": "create the refund",
    "change_address": "change the delivery address",
}
ERROR_ZH = {
    "order_not_found": "您的账户下没有这个订单",
    "customer_not_found": "没有找到您的客户账户",
    "already_refunded": "该订单之前已经退过款",
    "already_shipped": "订单已经发货，无法再修改收货地址",
    "refund_amount_required": "退款金额与系统计算的金额不一致",
    "token_required": "身份凭证缺失",
    "token_invalid": "身份凭证无效",
}
ASK_ZH = {
    "wish": "好的。如果还需要查询订单、物流、退款或修改收货地址，请随时告诉我。",
    "customer_id": "请提供您的客户编号（例如 C-1001）。",
    "order_id": "请提供您的订单号（例如 CN1001）。",
    "address": "请告诉我新的完整收货地址。",
}
ASK_EN = {
    "wish": "You're welcome. I can look up orders, track parcels, make refunds and change addresses.",
    "customer_id": "Please give me your customer number, such as C-2001.",
    "order_id": "Please give me your order number, such as US2001.",
    "address": "Please tell me the full new delivery address.",
}


def ask_for(missing: str, chinese: bool) -> str:
    """Asks the user for what the next step lacks; `wish` is when nothing was asked of us."""
    return (ASK_ZH if chinese else ASK_EN)[missing]


def cannot_call(tool: str, chinese: bool) -> str:
    """Says that a needed tool was not offered in this request."""
    if chinese:
        return f"抱歉，我现在无法{TOOL_ZH[tool]}：没有可用的工具 {tool}。"
    return f"I'm sorry, I cannot {TOOL_EN[tool]} right now: the tool {tool} is not available to me."


def report_failure(failed: Outcome, chinese: bool) -> str:
    """Says plainly that a step failed, and why, as far as the answer tells."""
    error = str(failed.body.get("error", ""))
    message = str(failed.body.get("message", "")).rstrip(".")
    if chinese:
        reason = ERROR_ZH.get(error) or message or f"工具返回了无法识别的结果（状态 {failed.status}）"
        code = f"（{error}）" if error else ""
        return f"抱歉，{TOOL_ZH.get(failed.tool, failed.tool)}没有成功：{reason}。{code}"
    reason = message or f"the tool's answer could not be understood (status {failed.status})"
    code = f" ({error})" if error else ""
    return f"I'm sorry, I could not {TOOL_EN.get(failed.tool, failed.tool)}: {reason}.{code}"


def report(history: History) -> str:
    """States what this turn's answers say, one sentence for each that matters to the user."""
    writers = ZH if history.chinese else EN
    lines = []
    for outcome in history.turn:
        if outcome.tool in writers and not _superseded(outcome, history):
            lines.append(writers[outcome.tool](outcome.body))
    return ("" if history.chinese else " ").join(lines)


def _superseded(outcome: Outcome, history: History) -> bool:
    """A quote is not worth a sentence once the refund itself was made."""
    order_id = str(outcome.arguments.get("order_id"))
    return outcome.tool == "calc_refund" and history.latest("create_refund", order_id) is not None


def _fact(body: Body, name: str) -> str:
    value = body.get(name)
    return "?" if value is None else str(value)


def _items(body: Body, joint: str) -> str:
    items = body.get("items")
    rows = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return joint.join(f"{_fact(item, 'name')} × {_fact(item, 'quantity')}" for item in rows) or "?"


def _money(body: Body, currency: str | None = None) -> str:
    return f"{_fact(body, 'amount')} {currency or _fact(body, 'currency')}"


def _last_event(body: Body) -> Body:
    events = body.get("events")
    return events[-1] if isinstance(events, list) and events and isinstance(events[-1], dict) else {}


def _order_zh(body: Body) -> str:
    status = _fact(body, "status")
    text = f"订单 {_fact(body, 'order_id')}（{_items(body, '、')}）{STATUS_ZH.get(status, status)}。"
    refund = body.get("refund")
    if isinstance(refund, dict):
        money = _money(refund, _fact(body, "currency"))
        text += f"该订单已退款 {money}，退款单号 {_fact(refund, 'refund_id')}。"
    return text


def _order_en(body: Body) -> str:
    status = _fact(body, "status")
    text = f"Order {_fact(body, 'order_id')} ({_items(body, ', ')}) is {STATUS_EN.get(status, status)}."
    refund = body.get("refund")
    if isinstance(refund, dict):
        money = _money(refund, _fact(body, "currency"))
        text += f" {money} was refunded for it; the refund number is {_fact(refund, 'refund_id')}."
    return text


def _logistics_zh(body: Body) -> str:
    event, status = _last_event(body), _fact(body, "status")
    if not event:
        return f"物流状态：{STATUS_ZH.get(status, status)}，收货地址：{_fact(body, 'deliver_to')}。"
    parcel = f"{_fact(body, 'carrier')} {_fact(body, 'tracking_number')}"
    latest = f"{_fact(event, 'at')} {_fact(event, 'place')} {_fact(event, 'text')}"
    unknown = "物流信息里没有预计送达时间。" if status == "shipped" else ""
    return f"物流状态：{STATUS_ZH.get(status, status)}（{parcel}），最新进展：{latest}。{unknown}"


def _logistics_en(body: Body) -> str:
    event, status = _last_event(body), _fact(body, "status")
    if not event:
        return f"The parcel is {STATUS_EN.get(status, status)}; it goes to {_fact(body, 'deliver_to')}."
    parcel = f"{_fact(body, 'carrier')} {_fact(body, 'tracking_number')}"
    latest = f"{_fact(event, 'text')}, {_fact(event, 'place')}, {_fact(event, 'at')}"
    unknown = " The tracking gives no delivery date." if status == "shipped" else ""
    return f"The parcel is {status} ({parcel}). Latest scan: {latest}.{unknown}"


ZH: dict[str, Writer] = {
    "query_order": _order_zh,
    "query_logistics": _logistics_zh,
    "calc_refund": lambda b: f"订单 {_fact(b, 'order_id')} 可退款 {_money(b)}，尚未提交退款。",
    "create_refund": lambda b: f"退款已提交：{_money(b)}，退款单号 {_fact(b, 'refund_id')}。",
    "change_address": lambda b: f"收货地址已改为：{_fact(b, 'new_address')}。",
}
EN: dict[str, Writer] = {
    "query_order": _order_en,
    "query_logistics": _logistics_en,
    "calc_refund": lambda b: f"A refund for {_fact(b, 'order_id')} would pay {_money(b)}; none was made yet.",
    "create_refund": lambda b: f"The refund is made: {_money(b)}, refund number {_fact(b, 'refund_id')}.",
    "change_address": lambda b: f"The delivery address is now: {_fact(b, 'new_address')}.",
}
