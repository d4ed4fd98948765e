"""What every Python program here shares: the conversation, and the order desk's tools, called with the stdlib.

The conversation lies in conversation.json of the working directory; every address comes from the environment.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TALK = json.loads(Path("conversation.json").read_text(encoding="utf-8"))
SYSTEM: str = TALK["system"]
TURNS: list[str] = TALK["turns"]
MAX_ROUNDS = 8  # model calls in one turn


def schemas() -> list[dict[str, Any]]:
    """Each tool's name, description and JSON schema."""
    return [
        {
            "name": name,
            "description": tool["description"],
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"} for argument in tool["arguments"]},
                "required": tool["arguments"],
                "additionalProperties": False,
            },
        }
        for name, tool in TALK["tools"].items()
    ]


class Desk:
    """Calls tools, holds the token, and remembers what was told for the report at the end."""

    def __init__(self, post: Callable[[str, dict[str, str], bytes], str] | None = None) -> None:
        self._post = post or post_with_urllib
        self._token = ""
        self._lines: list[str] = []

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """What the tool answered, as text."""
        url, headers, body = self.request(name, arguments)
        return self.answered(name, arguments, self._post(url, headers, body))

    def call_all(self, calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
        """Several calls at the same time; their answers in order."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda call: self.call(*call), calls))

    def request(self, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, str], bytes]:
        """URL, headers and body of a call."""
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return f"{os.environ['ORDERS_URL']}/tools/{name}", headers, json.dumps(arguments).encode()

    def answered(self, name: str, arguments: dict[str, Any], text: str) -> str:
        """Take an answer in."""
        shown = json.loads(text)
        self._token = shown.pop("token", self._token)
        self._lines.append(f"tool: {name} {json.dumps(arguments)} -> {json.dumps(shown)}")
        return text

    def report(self) -> None:
        """Every call and its answer, sorted: calls made together end in any order."""
        print("\n".join(sorted(self._lines)), flush=True)

    def functions(self) -> list[Callable[..., str]]:
        """The tools as Python functions, for frameworks that read signatures."""

        def get_token(customer_id: str) -> str:
            """Verify the customer."""
            return self.call("get_token", {"customer_id": customer_id})

        def query_order(order_id: str) -> str:
            """Look up an order."""
            return self.call("query_order", {"order_id": order_id})

        def query_logistics(order_id: str) -> str:
            """Where the parcel of an order is."""
            return self.call("query_logistics", {"order_id": order_id})

        def calc_refund(order_id: str) -> str:
            """Calculate what a refund would pay."""
            return self.call("calc_refund", {"order_id": order_id})

        def create_refund(order_id: str, amount: str) -> str:
            """Refund an order, once."""
            return self.call("create_refund", {"order_id": order_id, "amount": amount})

        return [get_token, query_order, query_logistics, calc_refund, create_refund]


def post_with_urllib(url: str, headers: dict[str, str], body: bytes) -> str:
    """One POST; an error status raises."""
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return answer.read().decode()
