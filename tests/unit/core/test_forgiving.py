"""The essence of a request: equal for requests that differ only in what is declared, and in nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.errors import ConfigError
from proctor.forgiving import Essence, forgiveness_of
from proctor.interaction import Request
from proctor.service_config import ServiceConfig

JSON = (("Content-Type", "application/json"),)
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


def service(**declared: Any) -> ServiceConfig:
    return ServiceConfig(url="http://desk.invalid", **declared)


def essence(service: ServiceConfig, body: Any, target: str = "/ask") -> Essence:
    rules = forgiveness_of({"desk": service}, "desk")
    assert rules is not None
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = FORM if isinstance(body, bytes) else JSON
    return rules.essence(Request("desk", "POST", target, headers, raw), (), ())


DATED = service(volatile=[{"at": "/messages/0/content", "pattern": r"Today is (\S+)\."}])


def prompt(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": text}]}


def test_nothing_is_forgiven_where_nothing_is_declared() -> None:
    assert forgiveness_of({"desk": service()}, "desk") is None
    assert forgiveness_of({}, "desk") is None


@pytest.mark.parametrize(
    ("declared", "one", "other"),
    [
        (["/id"], {"a": 1, "id": "x"}, {"id": {"any": []}, "a": 1}),
        (["/id"], {"a": 1, "id": "x"}, {"a": 1}),
        (["/items/*/at"], {"items": [{"at": 1}, {"at": 2}]}, {"items": [{"at": 8}, {}]}),
        (["/items/0"], {"items": [1, 2]}, {"items": [9, 2]}),
        (["/a~1b"], {"a/b": 1}, {"a/b": 2}),
        (["/ts"], b"ts=1&q=2", b"q=2&ts=7"),
    ],
)
def test_an_ignored_place_may_hold_anything_or_be_absent(declared: list[str], one: Any, other: Any) -> None:
    rules = service(ignore=declared)
    assert essence(rules, one).key == essence(rules, other).key


@pytest.mark.parametrize(
    ("declared", "one", "other"),
    [
        (["/id"], {"a": {"id": 1}}, {"a": {"id": 2}}),
        (["/id"], {"id": 1, "a": 1}, {"id": 1, "a": 1.0}),
        (["/items/0"], {"items": [1, 2]}, {"items": [1, 3]}),
        (["/items/0"], {"items": [1, 2]}, {"items": [1]}),
        (["/id"], b'{"id": 1, "id": 2, "a": 1}', b'{"id": 1, "id": 2, "a": 2}'),
    ],
)
def test_a_place_beside_an_ignored_one_counts(declared: list[str], one: Any, other: Any) -> None:
    rules = service(ignore=declared)
    assert essence(rules, one).key != essence(rules, other).key


def test_a_query_parameter_is_ignored_by_its_name() -> None:
    rules = service(ignore=["?ts"])
    assert essence(rules, {}, "/ask?ts=1&page=2").key == essence(rules, {}, "/ask?page=2&ts=9").key
    assert essence(rules, {}, "/ask?ts=1&page=2").key != essence(rules, {}, "/ask?ts=1&page=3").key


def test_only_the_group_of_a_volatile_pattern_is_forgiven() -> None:
    monday, tuesday = (essence(DATED, prompt(f"Be kind. Today is 2026-11-{day}. Answer.")) for day in (30, 29))
    assert monday.key == tuesday.key
    assert [left.value for left in monday.left_out] == ["2026-11-30"]
    for changed in ("Be rude. Today is 2026-11-30. Answer.", "Be kind. Now is 2026-11-30. Answer."):
        assert essence(DATED, prompt(changed)).key != monday.key


def test_every_group_of_every_match_is_left_out_in_order() -> None:
    rules = service(volatile=[{"at": "/text", "pattern": r"from (\w+) to (\w+)"}])
    found = essence(rules, {"text": "from a to b, from c to d"})
    assert [left.value for left in found.left_out] == ["a", "b", "c", "d"]
    assert found.key != essence(rules, {"text": "from a to b"}).key


def test_ids_that_a_model_minted_count_only_for_the_pairs_they_make() -> None:
    rules = ServiceConfig(preset="openai")

    def conversation(first: str, second: str, answered: str) -> Essence:
        calls = [{"id": first, "function": {"name": "f"}}, {"id": second, "function": {"name": "g"}}]
        messages = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": answered}]
        return essence(rules, {"messages": messages})

    assert conversation("call_a", "call_b", "call_b").key == conversation("call_x", "call_y", "call_y").key
    assert conversation("call_a", "call_b", "call_b").key != conversation("call_x", "call_y", "call_x").key
    assert conversation("call_a", "call_b", "call_b").key != conversation("call_x", "call_x", "call_x").key


def test_anthropics_ids_are_known_too_and_a_tools_own_ids_are_not() -> None:
    rules = ServiceConfig(preset="anthropic")

    def result(id_: str, order: str) -> Essence:
        use = {"type": "tool_use", "id": id_, "input": {"id": order}}
        return essence(rules, {"messages": [{"role": "assistant", "content": [use]}]})

    assert result("toolu_1", "CN1001").key == result("toolu_2", "CN1001").key
    assert result("toolu_1", "CN1001").key != result("toolu_1", "CN1002").key


@pytest.mark.parametrize(
    "declared",
    [
        {"ignore": ["request_id"]},
        {"ignore": ["?"]},
        {"volatile": [{"at": "/a", "pattern": "no group"}]},
        {"volatile": [{"at": "/a", "pattern": "(broken"}]},
        {"volatile": [{"at": "a", "pattern": "(x)"}]},
        {"volatile": [{"at": "/a"}]},
    ],
)
def test_a_rule_that_forgives_nothing_is_refused(declared: dict[str, Any]) -> None:
    with pytest.raises((ValueError, ConfigError)):
        service(**declared)


def multipart(boundary: str = "x", **fields: str | bytes) -> Request:
    """A multipart form; bytes are the content of a file."""
    parts = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{filename}\r\n\r\n'.encode() + content + b"\r\n"
        for name, filename, content in (
            (name, "", value.encode()) if isinstance(value, str) else (name, '; filename="f"', value)
            for name, value in fields.items()
        )
    )
    headers = (("Content-Type", f"multipart/form-data; boundary={boundary}"),)
    return Request("desk", "POST", "/up", headers, parts + f"--{boundary}--\r\n".encode())


def test_of_a_multipart_form_the_declared_parts_are_forgiven_and_no_other() -> None:
    declared = service(ignore=["/policy"], volatile=[{"at": "/note", "pattern": r"on (\S+)"}])
    rules = forgiveness_of({"desk": declared}, "desk")
    assert rules is not None
    first = multipart(policy="a", note="sent on Monday", file=b"\x00\xff")
    recorded = rules.essence(first, (), ())
    assert [(each.place, each.how, each.value) for each in recorded.left_out] == [
        ("body /policy", "ignored", "a"),
        ("body /note", "volatile", "Monday"),
    ]
    same = multipart("other-boundary", policy="b", note="sent on Friday", file=b"\x00\xff")
    assert rules.essence(same, (), ()).key == recorded.key
    for other in (
        multipart(policy="a", note="lost on Monday", file=b"\x00\xff"),
        multipart(policy="a", note="sent on Monday", file=b"\x00\xfe"),
        multipart(policy="a", note="sent on Monday", files=b"\x00\xff"),
    ):
        assert rules.essence(other, (), ()).key != recorded.key
