"""Bodies such as tools and models send all day: long, numbered, hashed, and with no secret in them."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable
from typing import Any

_PROSE = "order refund the customer asks for a new window seat and says that token prices rose since Monday"
WORDS = _PROSE.split(" ")
CHINESE = "您好，请问订单什么时候能送到？密码锁已经发货，令牌环网络的说明书在附件里。退款金额为一百二十元，谢谢。"
ALPHABET = string.ascii_letters + string.digits


def sentence(rng: random.Random) -> str:
    """Some words, at times with what looks a little like a secret."""
    extra = ["Max tokens: 4096.", "The secret of good tea is patience.", "Password reset is on page 12.", "token=none"]
    return " ".join(rng.choices(WORDS, k=rng.randrange(4, 16))) + ". " + rng.choice(extra)


def identifier(rng: random.Random) -> Any:
    """What systems name things by."""
    made: list[Callable[[], Any]] = [
        lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        lambda: rng.randbytes(20).hex(),
        lambda: rng.randbytes(32).hex(),
        lambda: f"ORD-{rng.randrange(10**9)}",
        lambda: f"2026{rng.randrange(10**12):012d}",
        lambda: rng.randrange(10**12),
        lambda: "chatcmpl-" + "".join(rng.choices(ALPHABET, k=29)),
        lambda: "call_" + "".join(rng.choices(ALPHABET, k=24)),
        lambda: "01J" + "".join(rng.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=23)),
        lambda: f"sha256:{rng.randbytes(32).hex()}",
        lambda: f'W/"{rng.randbytes(8).hex()}"',
        lambda: f"req_{rng.randbytes(12).hex()}",
        lambda: f"arn:aws:s3:::bucket-{rng.randrange(1000)}/key/{rng.randrange(1000)}",
    ]
    return rng.choice(made)()


def usage(rng: random.Random) -> dict[str, Any]:
    """A model's own counts and probabilities."""
    pieces = [" Hello", "understanding", "密", " world", "ĠTokenization", "##ing", "proctor"]
    content = [
        {"token": rng.choice(pieces), "logprob": -rng.random(), "bytes": [1, 2], "top_logprobs": []} for _ in "abc"
    ]
    return {
        "max_tokens": rng.randrange(1, 100_000),
        "max_completion_tokens": 4096,
        "usage": {"prompt_tokens": rng.randrange(10**5), "completion_tokens": 7, "total_tokens": rng.randrange(10**6)},
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": sentence(rng)}, "logprobs": {"content": content}}
        ],
        "system_fingerprint": f"fp_{rng.randbytes(5).hex()}",
        "tokens": [{"token": "understanding", "start": 0, "end": 13}],
    }


def page(rng: random.Random) -> dict[str, Any]:
    """A page of a list."""
    return {
        "items": [{"id": identifier(rng), "name": sentence(rng), "sku": identifier(rng)} for _ in range(3)],
        "next_page_token": "".join(rng.choices(ALPHABET, k=40)),
        "nextPageToken": base64.b64encode(json.dumps({"offset": rng.randrange(1000)}).encode()).decode(),
        "cursor": base64.urlsafe_b64encode(rng.randbytes(24)).decode(),
        "continuation_token": rng.randbytes(16).hex(),
        "client_token": str(uuid.UUID(int=rng.getrandbits(128))),
        "has_more": True,
        "next": f"https://api.test/v1/items?page_token={rng.randbytes(8).hex()}&sort=price&limit=20&q=%E5%AF%86%E7%A0%81",
    }


def order(rng: random.Random) -> dict[str, Any]:
    """A business object, partly in Chinese."""
    start = rng.randrange(len(CHINESE) - 20)
    return {
        "order_no": identifier(rng),
        "状态": "已发货",
        "说明": CHINESE[start : start + 20],
        "key": identifier(rng),
        "code": f"E{rng.randrange(10**4)}",
        "commit": rng.randbytes(20).hex(),
        "price": round(rng.random() * 1000, 2),
        "created_at": f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(9)}T0{rng.randrange(9)}:00:00Z",
        "secret": None,
        "password": "",
        "token": None,
        "has_password": True,
        "labels": {"password": "Password", "api_key": "API key", "token": "令牌"},
        "errors": {"password": ["must be at least 8 characters"], "otp": "expired"},
        "schema": {"properties": {"token": {"type": "string", "pattern": "^[A-Za-z0-9_-]{20,64}$"}}},
        "authorization": rng.choice(["approved", "declined"]),
        "pin": rng.choice(["left", "right"]),
        "config": {"password": "${DB_PASSWORD}", "api_key": "****1234"},
        "tracking": "".join(rng.choices(string.digits, k=18)),
        "image": base64.b64encode(rng.randbytes(rng.randrange(30, 90))).decode(),
        "note": json.dumps({"text": sentence(rng), "ids": [identifier(rng)]}),
        "signature": base64.b64encode(rng.randbytes(48)).decode(),
        "session_id": str(uuid.UUID(int=rng.getrandbits(128))),
    }


def ordinary(rng: random.Random) -> tuple[str, bytes]:
    """A content type and a body of it."""
    value = rng.choice([usage, page, order])(rng)
    kind = rng.randrange(6)
    if kind == 0:
        lines = "".join(
            f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': word + ' '}}]})}\n\n"
            for word in sentence(rng).split()
        )
        return "text/event-stream", lines.encode() + b"data: [DONE]\n\n"
    if kind == 1:
        return (
            "text/html; charset=utf-8",
            f"<html><body><p title='{identifier(rng)}'>{sentence(rng)} {CHINESE}</p></body></html>".encode(),
        )
    if kind == 2:
        return (
            "application/x-www-form-urlencoded",
            f"grant=none&page_token={rng.randbytes(9).hex()}&q=%E8%AE%A2%E5%8D%95&id={identifier(rng)}".encode(),
        )
    return "application/json", json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2])).encode()
