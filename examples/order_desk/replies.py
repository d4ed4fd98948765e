"""The stand-in model's final texts: facts from this turn's tool answers, in the user's language.

Nothing is said that no tool answered. A fact that an answer lacks is shown as "?".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from examples.order_desk.history import History, Outcome, rows
from examples.order_desk.phrases import (
    ASK_EN,
    ASK_ZH,
    ERROR_ZH,
    STATUS_EN,
    STATUS_ZH,
    TOOL_EN,
    TOOL_ZH,
    TOPIC_EN,
    TOPIC_ZH,
    WAY_EN,
    WAY_ZH,
)

Body = dict[str, Any]
Writer = Callable[[Body], str]


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
    """A quote is not worth a sentence once the refund was made, nor the stock once an item was sent."""
    if outcome.tool == "query_stock":
        return history.latest("create_shipment", sku=outcome.arguments.get("sku")) is not None
    order_id = outcome.arguments.get("order_id")
    return outcome.tool == "calc_refund" and history.latest("create_refund", order_id=order_id) is not None


def _fact(body: Body, name: str) -> str:
    value = body.get(name)
    return "?" if value is None else str(value)


def _items(body: Body, joint: str) -> str:
    items = rows(body, "items")
    return joint.join(f"{_fact(item, 'name')} × {_fact(item, 'quantity')}" for item in items) or "?"


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
    again = rows(body, "shipments")
    return text + "".join(f"{_fact(each, 'name')}已补发，补发单号 {_fact(each, 'shipment_id')}。" for each in again)


def _order_en(body: Body) -> str:
    status = _fact(body, "status")
    text = f"Order {_fact(body, 'order_id')} ({_items(body, ', ')}) is {STATUS_EN.get(status, status)}."
    refund = body.get("refund")
    if isinstance(refund, dict):
        money = _money(refund, _fact(body, "currency"))
        text += f" {money} was refunded for it; the refund number is {_fact(refund, 'refund_id')}."
    again = rows(body, "shipments")
    sent = (f" {_fact(each, 'name')} was sent again, shipment number {_fact(each, 'shipment_id')}." for each in again)
    return text + "".join(sent)


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


def _stock_zh(body: Body) -> str:
    if body.get("on_hand") != 0:
        return f"{_fact(body, 'name')}现有库存 {_fact(body, 'on_hand')} 件。"
    restock = body.get("restock_on")
    return f"{_fact(body, 'name')}目前缺货，" + (f"预计 {restock} 补货。" if restock else "补货时间未知。")


def _stock_en(body: Body) -> str:
    if body.get("on_hand") != 0:
        return f"{_fact(body, 'name')}: {_fact(body, 'on_hand')} in stock."
    restock = body.get("restock_on")
    return f"{_fact(body, 'name')} is out of stock; " + (f"more on {restock}." if restock else "no date for more.")


def _policies(body: Body) -> list[str]:
    found = rows(body, "policies")
    return [f"{_fact(each, 'title')} ({_fact(each, 'policy_id')}): {_fact(each, 'text')}" for each in found]


def _notifications(body: Body, topics: dict[str, str], ways: dict[str, str], joint: str) -> str:
    found = body.get("notifications")
    pairs = found.items() if isinstance(found, dict) else ()
    return joint.join(f"{topics.get(topic, topic)}: {ways.get(way, way)}" for topic, way in pairs) or "?"


ZH: dict[str, Writer] = {
    "query_order": _order_zh,
    "query_logistics": _logistics_zh,
    "calc_refund": lambda b: f"订单 {_fact(b, 'order_id')} 可退款 {_money(b)}，尚未提交退款。",
    "create_refund": lambda b: f"退款已提交：{_money(b)}，退款单号 {_fact(b, 'refund_id')}。",
    "query_stock": _stock_zh,
    "search_policy": lambda b: "\n".join(_policies(b)) or "售后政策里没有找到相关规定。",
    "create_shipment": lambda b: f"已补发：{_fact(b, 'name')}，补发单号 {_fact(b, 'shipment_id')}。",
    "set_notifications": lambda b: f"通知设置已更新：{_notifications(b, TOPIC_ZH, WAY_ZH, '，')}。",
    "change_address": lambda b: f"收货地址已改为：{_fact(b, 'new_address')}。",
}
EN: dict[str, Writer] = {
    "query_order": _order_en,
    "query_logistics": _logistics_en,
    "calc_refund": lambda b: f"A refund for {_fact(b, 'order_id')} would pay {_money(b)}; none was made yet.",
    "create_refund": lambda b: f"The refund is made: {_money(b)}, refund number {_fact(b, 'refund_id')}.",
    "query_stock": _stock_en,
    "search_policy": lambda b: "\n".join(_policies(b)) or "I found no policy about that.",
    "create_shipment": lambda b: f"Sent again: {_fact(b, 'name')}, shipment number {_fact(b, 'shipment_id')}.",
    "set_notifications": lambda b: f"You are told now about {_notifications(b, TOPIC_EN, WAY_EN, ', ')}.",
    "change_address": lambda b: f"The delivery address is now: {_fact(b, 'new_address')}.",
}
