"""What counts as a change between two tapes, and what does not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from proctor.cassette import Cassette
from proctor.config import ServiceConfig
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.tape_diff import diff_tapes

JSON: Headers = (("Content-Type", "application/json"),)


def asked(
    tool: str = "query", body: Any = None, answer: Any = None, headers: Headers = JSON, got: Headers = JSON, **more: Any
) -> Interaction:
    """One call; `body` and `answer` are JSON, or bytes as they are."""
    sent, came = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in (body, answer))
    request = Request("desk", "POST", f"/tools/{tool}", headers, sent)
    response = Response(more.pop("status", 200), "OK", got, came, more.pop("complete", True))
    made = Interaction(0, request, response, "https://desk.test/tools", "read", "declared", tool)
    return replace(made, **more)


def tape(*interactions: Interaction, **stamp: Any) -> Cassette:
    placed = tuple(replace(each, index=index) for index, each in enumerate(interactions))
    return Cassette("t", placed, stamp)


def lines(old: Cassette, new: Cassette, **rules: ServiceConfig) -> list[str]:
    return list(diff_tapes(old, new, rules).lines())


NOTHING = "0 of 1 interactions really changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (asked(body=b'{"a": 1, "b": 1.50}'), asked(body=b'{"b":1.5,"a":1}')),
        (asked(answer=b'{"a": 1, "b": 2}'), asked(answer=b'{"b":2,"a":1}')),
        (asked(got=(*JSON, ("Date", "Tue, 01 Dec 2026 09:30:00 GMT"))), asked(got=JSON)),
        (asked(got=(("Last-Modified", "Tue, 01 Dec 2026 09:30:00 GMT"),)),
         asked(got=(("last-modified", "Wed, 02 Dec 2026 09:30:00 GMT"),))),
        (asked(got=(("X-Request-Id", "a1"), ("X-RateLimit-Remaining", "9"))),
         asked(got=(("x-request-id", "b2"), ("X-RateLimit-Remaining", "8")))),
        (asked(headers=(*JSON, ("User-Agent", "one"))), asked(headers=(("user-agent", "two"), *JSON))),
        (asked(started=1.0, seconds=0.5), asked(started=9.0, seconds=0.1)),
    ],
)  # fmt: skip
def test_what_means_the_same_is_no_change(old: Interaction, new: Interaction) -> None:
    assert lines(tape(old, recorded_at="a"), tape(new, recorded_at="b")) == [NOTHING]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (asked(body={"id": 1}), asked(body={"id": 2}), "request body /id: 1 -> 2"),
        (asked(body={"id": 1}), asked(body={"id": 1.0}), "request body /id: 1 -> 1.0"),
        (asked(body=b'{"n": 1.00000000000000000001}'), asked(body=b'{"n": 1.0}'), "request body /n: 1.0 -> 1.0"),
        (asked(answer={"s": True}), asked(answer={"s": 1}), "answer body /s: true -> 1"),
        (asked(answer=[1, 2]), asked(answer=[1]), "answer body /1: 2 -> nothing"),
        (asked(answer=b"{}"), asked(answer=b""), "answer body: {} -> nothing"),
        (asked(answer=b"null"), asked(answer=b""), "answer body: null -> nothing"),
        (asked(), asked(status=404), "answer status: 200 -> 404"),
        (asked(), asked(complete=False), "answer broke off: nothing -> true"),
        (asked(), asked(effect="write"), 'effect: "read" -> "write"'),
        (asked(), asked(effect_why="guessed"), 'effect: "read" -> "read (guessed)"'),
        (asked(), asked(stand_in="desk"), 'answer stand-in: nothing -> "desk"'),
        (asked(got=(("Location", "/1"),)), asked(got=(("Location", "/2"),)), 'answer header location: "/1" -> "/2"'),
        (asked(body=b"\xff", headers=()), asked(body=b"\xfe", headers=()), "request body /digest: "),
        (asked(headers=(*JSON, ("Range", "1"))), asked(), 'request header range: "1" -> nothing'),
    ],
)  # fmt: skip
def test_a_change_is_told_by_its_field(old: Interaction, new: Interaction, told: str) -> None:
    first, head, *fields = lines(tape(old), tape(new))
    assert (first, head) == ("1 of 1 interactions really changed", "~ #0 desk query: changed")
    assert len(fields) == 1
    assert fields[0].startswith(f"    {told}")


def test_a_declared_key_header_counts_and_no_other() -> None:
    one, two = (tape(asked(headers=(*JSON, ("X-Tenant", each)))) for each in "ab")
    assert lines(one, two) == [NOTHING]
    desk = ServiceConfig(url="https://desk.test", key_headers=("X-Tenant",))
    assert lines(one, two, desk=desk)[2:] == ['    request header x-tenant: "a" -> "b"']


def test_a_stream_is_compared_by_its_events() -> None:
    events = (("Content-Type", "text/event-stream"),)
    old = asked(answer=b'data: {"a": "x", "n": 1}\n\n: still here\n\ndata: [DONE]\n\n', got=events)
    same = asked(answer=b'data: {"n":1,"a":"x"}\r\n\r\ndata: [DONE]\r\n\r\n', got=events)
    other = asked(answer=b'data: {"n":1,"a":"y"}\n\ndata: [DONE]\n\n', got=events)
    assert lines(tape(old), tape(same)) == [NOTHING]
    assert lines(tape(old), tape(other))[2:] == ['    answer body /0/data/a: "x" -> "y"']
