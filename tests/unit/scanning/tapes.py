"""Tapes as vcrpy writes them, made by hand, with a secret in one layer each."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import yaml

SECRET = "Zx9-kQ2vB7mN4pT8wL"
"""Found by its name only."""
KEY = "sk-proj-Zx9kQ2vB7mN4pT8wLaaa"
"""Found by its shape."""
URL = "https://staging.example/api/orders"


def item(
    url: str = URL,
    *,
    body: str | bytes = "",
    headers: dict[str, list[str]] | None = None,
    answer: str | bytes = "{}",
    answer_headers: dict[str, list[str]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """One interaction of a vcrpy tape; `more` are fields that only other readers know."""
    return {
        "request": {"method": "POST", "uri": url, "headers": headers or {}, "body": body},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": answer_headers or {},
            "body": {"string": answer},
            **more,
        },
    }


def tape(*items: dict[str, Any]) -> bytes:
    """The file of a vcrpy tape."""
    return yaml.safe_dump({"version": 1, "interactions": list(items)}, allow_unicode=True).encode()


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_JSON = json.dumps({"client_secret": SECRET})
_FORM = {"Content-Type": ["application/x-www-form-urlencoded"]}
_MULTIPART = f'--b\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n{SECRET}\r\n--b--\r\n'
_GZIP = {"Content-Encoding": ["gzip"]}
_STREAM = "".join(
    f"data: {json.dumps({'delta': {'text': piece}})}\n\n" for piece in ("it is ", KEY[:14], KEY[14:], " now")
)

LAYERS: dict[str, tuple[Callable[[], bytes], str]] = {
    "field": (lambda: tape(item(body=_JSON)), "request.body/client_secret"),
    "json in a string": (lambda: tape(item(answer=json.dumps({"log": _JSON}))), "response.body/log/client_secret"),
    "form": (lambda: tape(item(body=f"a=1&client_secret={SECRET}", headers=_FORM)), "request.body client_secret"),
    "multipart": (
        lambda: tape(item(body=_MULTIPART, headers={"Content-Type": ["multipart/form-data; boundary=b"]})),
        "request.body client_secret",
    ),
    "base64": (lambda: tape(item(answer=json.dumps({"blob": _b64(_JSON)}))), "response.body/blob/client_secret"),
    "percent twice": (
        lambda: tape(item(answer=json.dumps({"to": quote(quote(f"https://a.test/?access_token={SECRET}", safe=""))}))),
        "response.body/to",
    ),
    "gzip": (
        lambda: tape(item(answer=gzip.compress(_JSON.encode()), answer_headers=_GZIP)),
        "response.body/client_secret",
    ),
    "unpacked by vcrpy under the header of the packed": (
        lambda: tape(item(answer=_JSON, answer_headers=_GZIP)),
        "response.body/client_secret",
    ),
    "stream": (
        lambda: tape(item(answer=_STREAM, answer_headers={"Content-Type": ["text/event-stream"]})),
        "response.body/delta/text",
    ),
    "header": (lambda: tape(item(headers={"X-Api-Key": [SECRET]})), "request.headers x-api-key token"),
    "bearer": (
        lambda: tape(item(headers={"Authorization": [f"Bearer {SECRET}"]})),
        "request.headers authorization token",
    ),
    "password of basic": (
        lambda: tape(item(headers={"Authorization": [f"Basic {_b64('ann:' + SECRET)}"]})),
        "request.headers authorization password",
    ),
    "cookie": (lambda: tape(item(headers={"Cookie": [f"sid={SECRET}"]})), "request.headers cookie cookie sid"),
    "set-cookie": (
        lambda: tape(item(answer_headers={"Set-Cookie": [f"sid={SECRET}; Path=/"]})),
        "response.headers set-cookie cookie sid",
    ),
    "userinfo": (lambda: tape(item(f"https://ann:{SECRET}@staging.example/api")), "request.url"),
    "query": (lambda: tape(item(f"{URL}?api_key={SECRET}")), "request.target?api_key"),
    "path": (lambda: tape(item(f"{URL}/{KEY}/x")), "request.target"),
    "fragment": (lambda: tape(item(f"{URL}#access_token={KEY}")), "request.url"),
    "key of an object": (lambda: tape(item(answer=json.dumps({KEY: 1}))), "response.body/(secret 1) (key)"),
    "a field that others read": (
        lambda: tape(item(url=URL, history=[{"token": SECRET}])),
        "file/response/history/0/token",
    ),
    "comment": (lambda: b"# token: " + KEY.encode() + b"\n" + tape(item()), "comment in line 1"),
}
"""By name: a tape with a secret in one place, and how that place is told."""
