"""The requests that the bench sends and the answers it expects: the same in every process, made from a number."""

from __future__ import annotations

import json
from collections.abc import Mapping

SERVICE = "orders"
PATH = "/tools/query_order"
DISTINCT = 1000
"""So many different requests, sent over and over."""

ANSWER_HEADERS = {"Content-Type": "application/json; charset=utf-8"}
STREAM_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
LARGE = 10_000
"""Interactions of the large tape; the small one to compare with has LARGE_AGAINST."""
LARGE_AGAINST = 100
_TOKEN = "bench-token-7f3c9a51e2d84b06"
_REQUEST_BYTES = 400
_ANSWER_BYTES = 1024

_CITIES = ("Leipzig", "Utrecht", "Porto", "Graz", "Malmö", "Gdańsk", "Lyon")


def project_toml(upstream: str) -> str:
    """A project with one service, whose tool is declared to read, as a team would after its first recording."""
    return (
        f'[services.{SERVICE}]\nurl = "{upstream}"\nenv = ["ORDERS_URL"]\n'
        'tools = "POST /tools/{tool}"\nreads = ["query_*"]\n'
    )


def request_body(number: int) -> bytes:
    """Arguments of a tool call: JSON of about 400 bytes, different for each number below LARGE."""
    arguments = {
        "order_id": f"ORD-{2026000 + number}",
        "customer": {"name": f"Customer {number}", "city": _CITIES[number % len(_CITIES)], "vip": number % 5 == 0},
        "fields": ["status", "items", "payment", "delivery"],
        "limit": 10 + number % 40,
    }
    return _padded(arguments, "reason", _REQUEST_BYTES)


def answer_body(number: int) -> bytes:
    """What the tool answers to that: JSON of about 1 KB."""
    answer = {
        "order_id": f"ORD-{2026000 + number}",
        "status": ("paid", "shipped", "delivered")[number % 3],
        "items": [
            {"sku": f"SKU-{number * 7 + line}", "quantity": line + 1, "price": round(9.5 + number * 0.25 + line, 2)}
            for line in range(6)
        ],
        "delivery": {"city": _CITIES[number % len(_CITIES)], "days": 1 + number % 9},
    }
    return _padded(answer, "remarks", _ANSWER_BYTES)


def request_bytes(host: str, path: str, body: bytes) -> bytes:
    """A whole HTTP request as an agent's client sends it, with a credential."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
        f"User-Agent: bench/1\r\nAuthorization: Bearer {_TOKEN}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def event(number: int) -> bytes:
    """One event of a stream, as a model's API sends a few letters of its answer."""
    delta = {"index": 0, "delta": {"content": f" word{number}"}, "logprobs": None, "finish_reason": None}
    chunk = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1790000000, "model": "bench"}
    return b"data: " + json.dumps({**chunk, "choices": [delta]}).encode() + b"\n\n"


def stream_request(host: str, path: str) -> bytes:
    """A whole request for a stream; its connection ends with the answer."""
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\nAuthorization: Bearer {_TOKEN}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode()


def _padded(value: Mapping[str, object], key: str, size: int) -> bytes:
    """`value` as JSON, filled up with words under `key` to about `size` bytes."""
    missing = size - len(json.dumps(value, ensure_ascii=False).encode()) - len(key) - 8
    words = "the parcel was left with a neighbour and the door was locked " * (size // 50)
    return json.dumps({**value, key: words[: max(missing, 0)]}, ensure_ascii=False).encode()
