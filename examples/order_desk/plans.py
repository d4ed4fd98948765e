"""The stand-in model's rules: from a chat history to the next tool call, or to the final text.

Nothing here knows a conversation in advance. Keywords give the wishes, each wish gives steps, and a step
is taken when no answer to it stands in the turn yet. The first answer that failed ends the turn.
Where several orders are named, all look-ups that the wishes need are made at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from examples.order_desk.history import History, rows
from examples.order_desk.replies import ask_for, cannot_call, report, report_failure
from examples.order_desk.wishes import new_address, notification, read_wishes

LOOK_UPS = frozenset({"query_order", "query_logistics"})
ABOUT_NO_ORDER = frozenset({"policy", "notify"})


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


def _missing(history: History, wishes: tuple[str, ...]) -> str | None:
    if not wishes:
        return "wish"
    if history.customer_id is None:
        return "customer_id"
    if "notify" in wishes and not all(_notification(history)):
        return "notification"
    if not history.order_ids and not ABOUT_NO_ORDER.intersection(wishes):
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
    if "policy" in wishes:
        yield from _once(history, "search_policy", query=history.request)
    elif "notify" in wishes:
        topic, way = _notification(history)
        yield from _once(history, "set_notifications", topic=topic, way=way)
    else:
        yield from _order_steps(history, wishes)


def _order_steps(history: History, wishes: tuple[str, ...]) -> Iterator[Call]:
    for order_id in history.order_ids:
        if wishes != ("logistics",) or not _seen(history, order_id):
            yield from _once(history, "query_order", order_id=order_id)
        for wish in wishes:
            yield from _wish_steps(history, wish, order_id)


def _wish_steps(history: History, wish: str, order_id: str) -> Iterator[Call]:
    if wish == "address":
        yield from _once(history, "change_address", order_id=order_id, address=new_address(history.request))
    elif wish == "replace":
        yield from _replacement_steps(history, order_id)
    elif wish == "logistics":
        yield from _once(history, "query_logistics", order_id=order_id)
    elif wish in ("amount", "refund") and not _refunded_before(history, order_id):
        yield from _once(history, "calc_refund", order_id=order_id)
        quote = history.latest("calc_refund", order_id=order_id)
        if wish == "refund" and quote is not None:
            yield from _once(history, "create_refund", order_id=order_id, amount=quote.body.get("amount"))


def _replacement_steps(history: History, order_id: str) -> Iterator[Call]:
    """Send an item again if there is one; where there is none, the stock's answer is all there is to say."""
    sku = _wanted_item(history, order_id)
    if sku is None:
        return
    yield from _once(history, "query_stock", sku=sku)
    stock = history.latest("query_stock", sku=sku)
    on_hand = stock.body.get("on_hand") if stock else None
    if isinstance(on_hand, int) and on_hand > 0:
        yield from _once(history, "create_shipment", order_id=order_id, sku=sku)


def _wanted_item(history: History, order_id: str) -> str | None:
    """The item of an order that the user's words name, else its first."""
    order = history.latest("query_order", order_id=order_id)
    items = rows(order.body, "items") if order else []
    said = history.request.lower()
    named = (each for each in items if any(word in said for word in str(each.get("name", "")).lower().split()))
    item = next(named, items[0] if items else {})
    return item.get("sku")


def _notification(history: History) -> tuple[str | None, str | None]:
    """Topic and way of the wish; the topic may be the one spoken of before."""
    topic, way = notification(history.request)
    asked = (each.arguments.get("topic") for each in reversed(history.earlier) if each.tool == "set_notifications")
    return topic or next(asked, None), way


def _once(history: History, tool: str, **arguments: Any) -> Iterator[Call]:
    """The call, unless the turn has an answer of the tool for what identifies it."""
    about = {key: value for key, value in arguments.items() if key in ("order_id", "sku", "topic")}
    if history.latest(tool, **about) is None:
        yield Call(tool, arguments)


def _seen(history: History, order_id: str) -> bool:
    return any(o.ok and o.about("query_order", order_id=order_id) for o in history.earlier + history.turn)


def _refunded_before(history: History, order_id: str) -> bool:
    order = history.latest("query_order", order_id=order_id)
    return order is not None and order.body.get("refund") is not None
