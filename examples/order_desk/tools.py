"""The order desk's tools from the agent's side: what the model is told of them, and how they are called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx
from openai.types.chat import ChatCompletionFunctionToolParam

TIMEOUT = 30.0  # seconds for one tool call

ORDER_ID = {"order_id": "The order number, such as CN1001."}
SKU = {"sku": "The product's number, as the order's items have it, such as MUG-01."}


def _tool(
    name: str, description: str, arguments: Mapping[str, str], choices: Mapping[str, list[str]] | None = None
) -> ChatCompletionFunctionToolParam:
    """A tool all of whose arguments are required strings; `choices` has those that are one of a few."""
    properties: dict[str, Any] = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    for key, values in (choices or {}).items():
        properties[key]["enum"] = values
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(arguments),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


TOOLS = (
    _tool(
        "get_token",
        "Verify the customer. Must be called before any other tool.",
        {"customer_id": "The customer's number, such as C-1001."},
    ),
    _tool("query_order", "Look up an order: items, amount, status, address, refund, what was sent again.", ORDER_ID),
    _tool("query_logistics", "Where the parcel of an order is.", ORDER_ID),
    _tool("query_stock", "How many of a product are in stock, and when there will be more.", SKU),
    _tool(
        "search_policy",
        "Search the after-sales policies: returns, damage, shipping fees, changes of address.",
        {"query": "Words of the customer's question."},
    ),
    _tool("calc_refund", "Calculate what a refund of an order would pay. Pays nothing.", ORDER_ID),
    _tool(
        "create_refund",
        "Refund an order, once. Needs the amount that calc_refund answered.",
        {**ORDER_ID, "amount": "The amount from calc_refund, unchanged, such as 84.90."},
    ),
    _tool("create_shipment", "Send an item of a delivered order again, once, from stock.", {**ORDER_ID, **SKU}),
    _tool(
        "change_address",
        "Change where an order goes. Only before it ships.",
        {**ORDER_ID, "address": "The full new delivery address."},
    ),
    _tool(
        "set_notifications",
        "Set how the customer is told about a topic.",
        {"topic": "About what: parcels on their way, or offers.", "way": "How, or none for not at all."},
        {"topic": ["parcels", "offers"], "way": ["sms", "email", "none"]},
    ),
)


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool answered: HTTP status, the decoded JSON (or the text, where it is none), the text."""

    status: int
    result: Any
    text: str

    def for_model(self) -> str:
        """The tool message's content: the answer as it came or, when it is not 2xx, with its status."""
        if 200 <= self.status < 300:
            return self.text
        return json.dumps({"status": self.status, "body": self.result}, ensure_ascii=False)


class ToolClient:
    """Calls `POST {base_url}/tools/NAME` and, once get_token has answered, sends its token along."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = httpx.Client(timeout=TIMEOUT)
        self._token: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """One tool call. Raises httpx.HTTPError when no answer came."""
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        url = f"{self._base_url}/tools/{quote(name, safe='')}"
        response = self._http.post(url, json=arguments, headers=headers)
        result = decode(response.text)
        if name == "get_token" and response.is_success and isinstance(result, dict):
            token = result.get("token")
            self._token = token if isinstance(token, str) else None
        return ToolAnswer(response.status_code, result, response.text)


def decode(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
