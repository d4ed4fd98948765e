"""From what differs to what changed: the prompt, an argument, or a value that changes by itself."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from proctor.diff import request_differences
from proctor.forgiving import forgiveness_of
from proctor.interaction import Request
from proctor.proposing import toml_of
from proctor.proxy.cause import Cause, cause_of
from proctor.service_config import ServiceConfig, VolatileConfig

JSON = (("Content-Type", "application/json"),)
OPENAI = ServiceConfig(preset="openai")
ANTHROPIC = ServiceConfig(preset="anthropic")
TOOLS = ServiceConfig(url="http://desk.invalid")


def cause(service: ServiceConfig, recorded: Any, asked: Any, target: str = "/ask", then: str = "/ask") -> Cause:
    old, new = (
        Request("it", "POST", at, JSON, json.dumps(body).encode()) for at, body in ((target, recorded), (then, asked))
    )
    return cause_of(service, new, list(request_differences(old, new)))


def chat(system: str, user: str = "Hello", result: str = "{}", **more: Any) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": user},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
    return {"model": "m", "messages": messages, **more}


@pytest.mark.parametrize(
    ("service", "recorded", "asked", "kind", "text"),
    [
        (OPENAI, chat("Be kind."), chat("Be brief."), "prompt", "the prompt changed"),
        (OPENAI, chat("Be kind."), chat("Be brief.", "Bye"), "prompt", "the prompt changed"),
        (OPENAI, {"instructions": "a", "input": "x"}, {"instructions": "b", "input": "x"}, "prompt", "the prompt"),
        (ANTHROPIC, {"system": [{"text": "a"}]}, {"system": [{"text": "b"}]}, "prompt", "the prompt changed"),
        (OPENAI, chat("Be kind."), chat("Be kind.", "Bye"), "conversation", "what the user says changed (message 1)"),
        (OPENAI, chat("a", result="1"), chat("a", result="2"), "conversation", "a tool's result changed (message 2)"),
        (OPENAI, chat("a", tools=[1]), chat("a", tools=[2]), "tools", "the tools offered to the model changed"),
        (OPENAI, chat("a"), {**chat("a"), "model": "n"}, "setting", "a setting of the model changed (body /model)"),
        (TOOLS, {"order": "A1"}, {"order": "A2"}, "argument", "an argument changed"),
        (TOOLS, {"order": "1004"}, {"order": "1005"}, "argument", "an argument changed"),
        (TOOLS, {"a": 1, "b": 1}, {"a": 2, "b": 2}, "argument", "arguments changed (body /a, body /b)"),
    ],
)
def test_what_changed_is_named(service: ServiceConfig, recorded: Any, asked: Any, kind: str, text: str) -> None:
    found = cause(service, recorded, asked)
    assert found.kind == kind
    assert found.text.startswith(text)


def test_a_call_on_another_path_is_a_new_call() -> None:
    assert cause(TOOLS, {}, {}, "/orders/1", "/orders/2").kind == "call"


@pytest.mark.parametrize(
    ("recorded", "asked", "looks_like"),
    [
        ("Today is 2026-11-30.", "Today is 2026-12-02.", "a date"),
        ("今天是2026年11月30日，请回答", "今天是2026年12月2日，请回答", "a date"),
        ("Now: 2026-11-30T08:00:01Z", "Now: 2026-12-02T09:11:59Z", "a date and time"),
        ("at 10:15", "at 9:02", "a time"),
        ("run 0d6e7f3a-1f7b-4a8e-9d1c-2b3c4d5e6f70", "run 7a1b2c3d-1f7b-4a8e-9d1c-2b3c4d5e6f71", "a UUID"),
        ("t=1764492601", "t=1764665401.52", "a timestamp"),
    ],
)
def test_a_value_that_changes_by_itself_is_told_with_the_rule_that_forgives_it(
    recorded: str, asked: str, looks_like: str
) -> None:
    found = cause(OPENAI, chat(recorded), chat(asked))
    assert (found.kind, found.text) == ("volatile", f"{looks_like} that changes by itself")
    assert found.rules[0].at == "/messages/0/content"
    rules = [VolatileConfig(at=rule.at, pattern=rule.pattern) for rule in found.rules]
    forgiving = forgiveness_of({"llm": ServiceConfig(preset="openai", volatile=tuple(rules))}, "llm")
    assert forgiving is not None
    keys = {
        forgiving.essence(Request("llm", "POST", "/", JSON, json.dumps(chat(text)).encode()), (), ()).key
        for text in (recorded, asked)
    }
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("Today is 2026-11-30. Be kind.", "Today is 2026-12-02. Be rude."),
        ("Orders 100234", "Orders 100235"),
        ("Today is 2026-11-30", "Today is a Monday"),
    ],
)
def test_more_than_a_value_that_changes_by_itself_is_none(recorded: str, asked: str) -> None:
    assert cause(OPENAI, chat(recorded), chat(asked)).kind == "prompt"


@pytest.mark.parametrize("before", ["\x1b[1m", "\r", "\x7f", "it's\x7f", "\t", "it's", "\u2028", '"\\'])
def test_the_line_that_is_proposed_is_toml_whatever_stands_before_the_value(before: str) -> None:
    found = cause(OPENAI, chat(f"{before} 2026-11-30"), chat(f"{before} 2026-12-02"))
    (line,) = toml_of(found.rules)
    (rule,) = tomllib.loads(line)["volatile"]
    assert (rule["at"], rule["pattern"]) == (found.rules[0].at, found.rules[0].pattern)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
def test_a_date_in_a_body_that_is_one_text_proposes_no_rule_since_none_would_help(content_type: str) -> None:
    texts = "the report of 2026-11-30", "the report of 2026-12-02"
    recorded, asked = (Request("t", "POST", "/x", (("Content-Type", content_type),), text.encode()) for text in texts)
    differences = list(request_differences(recorded, asked))
    assert [difference.where for difference in differences] == ["body /"]
    found = cause_of(TOOLS, asked, differences)
    assert (found.kind, found.rules) == ("argument", ())


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (
            "?X-Amz-Date=20260101T000000Z&X-Amz-Signature=aa&X-Amz-Credential=K/20260101/s3",
            "?X-Amz-Date=20260102T000000Z&X-Amz-Signature=bb&X-Amz-Credential=K/20260102/s3",
            'ignore = ["?X-Amz-Credential", "?X-Amz-Date", "?X-Amz-Signature"]',
        ),
        ("?Signature=aa&Expires=1", "?Signature=bb&Expires=2", 'ignore = ["?Expires", "?Signature"]'),
        ("?x-goog-signature=aa", "?x-goog-signature=bb", 'ignore = ["?x-goog-signature"]'),
    ],
)
def test_a_url_that_was_signed_anew_is_one_line_of_configuration(old: str, new: str, rule: str) -> None:
    found = cause(TOOLS, {}, {}, f"/file{old}", f"/file{new}")
    assert (found.kind, found.text) == ("volatile", "the signature of a URL that changes by itself")
    assert toml_of(found.rules) == [rule]


@pytest.mark.parametrize("new", ["?Signature=bb&id=2", "?Expires=2&id=1&Signature=aa"])
def test_what_else_differs_in_a_signed_url_is_an_argument(new: str) -> None:
    assert cause(TOOLS, {}, {}, "/file?Expires=1&Signature=aa&id=1", f"/file{new}").kind == "argument"
