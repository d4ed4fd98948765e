"""The stand-in model's rules: from a chat history to the next tool call, or to the final text.

Nothing here knows a conversation in advance. Keywords give the wishes, each wish gives steps, and a step
is taken when no answer to it stands in the turn yet. The first answer that failed ends the turn.
Where several orders are named, all look-ups that the wishes need are made at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from examples.order_desk.history import History
from examples.order_desk.replies import ask_for, cannot_call, report, report_failure

AMOUNT = re.compile(r"多少|金额|单号|how much|\bamount\b|refund (?:number|id|status)|confirm .*refund", re.IGNORECASE)
REFUND = re.compile(r"退款|退钱|退货|退掉|\brefund|money back|\breturn (?:it|this|the)\b", re.IGNORECASE)
ADDRESS = re.compile(
    r"地址.*[改换错]|[改换].*地址|(?:chang|updat|correct|wrong|new|different).*\baddress"
    r"|\baddress.*(?:chang|updat|correct|wrong)",
    re.IGNORECASE | re.DOTALL,
)
LOGISTICS = re.compile(
    r"物流|快递|包裹|到哪|发货|什么时候[能会]?(?:到|送)"
    r"|\bwhere(?:'s| is| are)\b|\btrack|\barrive\b|\bshipped yet\b|delivery (?:status|date)",
    re.IGNORECASE,
)
NEW_ADDRESS = (
    re.compile(r"(?:改成|改为|改到|换成|换到|送到|寄到)[\s:：]*([^。！!；;\n]+)"),
    re.compile(r"\baddress\b[^\n]*?(?:\bto\b|:)[\s:]*([^\n]+)", re.IGNORECASE),
    re.compile(r"\b(?:deliver|send|ship)\b[^\n]*?\bto\b[\s:]*(\d[^\n]+)", re.IGNORECASE),
)
LOOK_UPS = frozenset({"query_order", "query_logistics"})
COURTESY = re.compile(r"[，,\s]*(?:谢谢|可以吗|thanks|thank you|please)?[.!?？，,\s]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Call:
    """A tool call to make next."""

    tool: str
    arguments: dict[str, Any]


Move = tuple[Call, ...] | str
"""What comes next: tool calls that do not wait for one another or, when nothing is left to do, what to say."""


def next_move(history: History, offered: frozenset[str], *, parallel: bool = True) -> Move:
    """See `Move`. Without `parallel` it is never more than one call."""
    failed = next((outcome for outcome in history.turn if not outcome.ok), None)
    if failed is not None:
        return report_failure(failed, history.chinese)
    wishes = read_wishes(history.request)
    missing = _missing(history, wishes)
    if missing is not None:
        return ask_for(missing, history.chinese)
    calls = _together(list(_steps(history, wishes)), parallel and len(history.order_ids) > 1)
    if not calls:
        return report(history)
    refused = next((call.tool for call in calls if call.tool not in offered), None)
    return calls if refused is None else cannot_call(refused, history.chinese)


def read_wishes(request: str) -> tuple[str, ...]:
    """What the user wants, in the order of doing. To ask what a refund pays is not to ask for it."""
    wishes = []
    if ADDRESS.search(request):
        wishes.append("address")
    if AMOUNT.search(request):
        wishes.append("amount")
    elif REFUND.search(request):
        wishes.append("refund")
    if LOGISTICS.search(request):
        wishes.append("logistics")
    if not wishes and re.search(r"订单|\borders?\b", request, re.IGNORECASE):
        wishes.append("order")
    return tuple(wishes)


def new_address(request: str) -> str | None:
    """The address that the user wants an order sent to."""
    for pattern in NEW_ADDRESS:
        found = pattern.search(request)
        if found:
            return COURTESY.sub("", found[1])
    return None


def _missing(history: History, wishes: tuple[str, ...]) -> str | None:
    if not wishes:
        return "wish"
    if history.customer_id is None:
        return "customer_id"
    if not history.order_ids:
        return "order_id"
    if "address" in wishes and not new_address(history.request):
        return "address"
    return None


def _together(steps: list[Call], parallel: bool) -> tuple[Call, ...]:
    """The first step and, where it looks something up, every other look-up: they need no answer but the token."""
    if parallel and steps and steps[0].tool in LOOK_UPS:
        return tuple(step for step in steps if step.tool in LOOK_UPS)
    return tuple(steps[:1])


def _steps(history: History, wishes: tuple[str, ...]) -> Iterator[Call]:
    """The calls still to be made. Only the first is sure: those after it depend on its answer."""
    if not history.has_token:
        yield Call("get_token", {"customer_id": history.customer_id})
    for order_id in history.order_ids:
        if wishes != ("logistics",) or not _seen(history, order_id):
            yield from _once(history, "query_order", order_id)
        for wish in wishes:
            yield from _wish_steps(history, wish, order_id)


def _wish_steps(history: History, wish: str, order_id: str) -> Iterator[Call]:
    if wish == "address":
        yield from _once(history, "change_address", order_id, address=new_address(history.request))
    elif wish == "logistics":
        yield from _once(history, "query_logistics", order_id)
    elif wish in ("amount", "refund") and not _refunded_before(history, order_id):
        yield from _once(history, "calc_refund", order_id)
        quote = history.latest("calc_refund", order_id)
        if wish == "refund" and quote is not None:
            yield from _once(history, "create_refund", order_id, amount=quote.body.get("amount"))


def _once(history: History, tool: str, order_id: str, **arguments: Any) -> Iterator[Call]:
    if history.latest(tool, order_id) is None:
        yield Call(tool, {"order_id": order_id, **arguments})


def _seen(history: History, order_id: str) -> bool:
    return any(o.ok and o.about("query_order", order_id) for o in history.earlier + history.turn)


def _refunded_before(history: History, order_id: str) -> bool:
    order = history.latest("query_order", order_id)
    return order is not None and order.body.get("refund") is not None
