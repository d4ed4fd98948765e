"""A value of the tape that staging has otherwise is found wherever a request may carry it, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.diff import ABSENT
from proctor.interaction import Headers, Request
from proctor.proxy.unmapped import Unmapped

JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def asking(target: str = "/x", body: Any = None, *headers: tuple[str, str]) -> Request:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Request("desk", "POST", target, headers or (JSON,), data)


def met(old: Any, new: Any) -> Unmapped:
    made = Unmapped()
    made.note(old, new, "/it of #0")
    return made


@pytest.mark.parametrize(
    ("old", "new", "request_"),
    [
        (17, 42, asking("/orders/17")),
        (17, 42, asking("/orders?id=17&x=1")),
        (17, 42, asking(body={"order": 17})),
        (17, 42, asking(body={"note": "order 17, please"})),
        ("A/1", "B/2", asking("/orders/A%2F1")),
        ("lamp", "desk", asking(body={"what": "lamp"})),
        ("台灯", "书桌", asking(body={"what": "台灯"})),
        ("order ord-1 waits", "order ord-2 waits", asking("/orders/ord-1")),
        ({"ids": [17, 18]}, ABSENT, asking("/orders/18")),
        (17, 42, asking("/x", b"order=17&a=b", FORM)),
        ("x-1", "x-2", asking("/x", b"order=%78-1", FORM)),
        ("17", "42", asking("/x", None, ("If-Match", '"17"'))),
        ("17", "42", asking("/x", None, ("Cookie", "seen=17"))),
    ],
)
def test_it_is_found(old: Any, new: Any, request_: Request) -> None:
    carried = met(old, new).carried(request_)
    assert carried is not None
    assert carried[1] == "/it of #0"


@pytest.mark.parametrize(
    ("old", "new", "request_"),
    [
        (17, 42, asking("/orders/117/x17/17a/1.17/17.5/ord-17")),
        (17, 42, asking("/x", None, ("User-Agent", "client 17"))),
        ("the lamp is ready", "the desk is ready", asking(body={"what": "lamp"})),
        (None, "x", asking("/None")),
        (True, False, asking(body={"it": True})),
        ("order ord-1", "now ord-1", asking("/orders/ord-1")),
        ("", "x", asking("/")),
    ],
)
def test_what_only_looks_like_it_is_not(old: Any, new: Any, request_: Request) -> None:
    assert met(old, new).carried(request_) is None


def test_a_header_that_leads_on_counts_and_one_that_tells_the_time_does_not() -> None:
    old: Headers = (("Location", "/orders/17"), ("Date", "Mon, 30 Nov 2026 10:00:55 GMT"))
    new: Headers = (("Location", "/orders/42"), ("Date", "Mon, 30 Nov 2026 10:00:56 GMT"))
    made = Unmapped()
    made.note_headers(old, new, "#0")
    assert made.carried(asking("/orders/17")) == ("17", "#0 location")
    assert made.carried(asking("/orders/55")) is None


def test_a_value_for_which_something_stands_is_no_longer_unmapped() -> None:
    made = met("ord-1", "ord-2")
    made.drop(["ord-1"])
    assert made.carried(asking("/orders/ord-1")) is None
    assert made.carried(asking("/orders/ord-1"), ("x-tenant",)) is None


def test_a_declared_key_header_counts() -> None:
    request = asking("/x", None, ("X-Tenant", "17"))
    assert met(17, 42).carried(request) is None
    assert met(17, 42).carried(request, ("x-tenant",)) == ("17", "/it of #0")
