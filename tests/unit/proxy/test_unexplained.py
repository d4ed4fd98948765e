"""Which equal reads tell of a change that no write explains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.cassette import Cassette
from proctor.config import Config
from proctor.interaction import Interaction, Request, Response
from proctor.proxy.playback import Tape
from proctor.proxy.unexplained import unexplained

JSON = (("Content-Type", "application/json"),)


def call(name: str, answer: Any, status: int = 200, *, sent: str = "{}", **facts: Any) -> Interaction:
    """A POST to `/name` with the answer as JSON, or as it is where it is bytes."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    response = Response(status, "", JSON, body, complete=facts.pop("complete", True))
    request = Request("desk", "POST", f"/{name}", JSON, sent.encode())
    return Interaction(0, request, response, "http://x.test", "read", "guessed", **facts)


def found(*calls: Interaction) -> list[tuple[int, int, tuple[str, ...]]]:
    """The pairs that are named."""
    config = Config.model_validate({"services": {"desk": {"url": "http://x.test"}}, "root": Path("/")})
    return [(each.first, each.second, each.where) for each in unexplained(Tape(Cassette("t", calls), config))]


READ, CHANGED, WRITE = call("get", {"a": 1}), call("get", {"a": 2}), call("pay", {})


def test_two_equal_reads_with_two_answers_and_no_write_between_are_named() -> None:
    assert found(READ, CHANGED) == [(0, 1, ("/a",))]
    assert found(WRITE, READ, call("get", {"a": 2}, sent="{ }"), WRITE) == [(1, 2, ("/a",))]
    assert found(READ, READ, CHANGED, CHANGED) == [(1, 2, ("/a",))]


@pytest.mark.parametrize(
    "calls",
    [
        (READ, READ),
        (READ, WRITE, CHANGED),
        (READ, call("get", {"a": 2}, sent='{"b": 1}')),
        (READ, call("get", b'{ "a":1 }')),
        (READ, call("get", {"a": 2}, 503), READ),
        (READ, call("get", {"a": 2}, 429), READ),
        (READ, call("get", b'{"a"', complete=False), READ),
        (READ, WRITE, call("get", {"a": 2}, beside=(1,))),
        (WRITE, call("pay", {"again": True})),
    ],
)
def test_everything_else_is_explained(calls: tuple[Interaction, ...]) -> None:
    assert found(*calls) == []


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        (call("get", {"a": 1}), call("get", {"error": 1}, 404), ("status", "/a", "/error")),
        (call("get", b"one"), call("get", b"two"), ("body",)),
        (call("get", b"\xff\x00"), call("get", b"\xff\x01"), ("body",)),
        (call("get", [1]), call("get", {"a": 1}), ("body",)),
        (call("get", b"["), call("get", b"[]"), ("body",)),
        (call("get", b"[" * 900 + b"1" + b"]" * 900), call("get", b"[" * 900 + b"2" + b"]" * 900), None),
    ],
)
def test_where_answers_differ_is_named_as_closely_as_it_can_be(
    first: Interaction, second: Interaction, where: tuple[str, ...] | None
) -> None:
    ((_, _, told),) = found(first, second)
    assert told == where if where else len(told) == 1


def test_of_many_pairs_the_one_with_the_rarest_difference_is_shown_and_the_others_are_counted() -> None:
    config = Config.model_validate({"services": {"desk": {"url": "http://x.test"}}, "root": Path("/")})
    answers = [{"at": n, "id": -n, "x": 1, "open": n < 4, **dict.fromkeys("yz", n < 4)} for n in range(6)]
    (told,) = unexplained(Tape(Cassette("t", tuple(call("get", answer) for answer in answers)), config))
    assert (told.first, told.second, told.count) == (3, 4, 5)
    assert (told.where, told.more) == (("/open", "/y", "/z"), 2)
