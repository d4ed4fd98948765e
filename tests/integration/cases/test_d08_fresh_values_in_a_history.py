"""D8: single turns replayed, but later ones missed, as a tool's result in the history holds a time or an id."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.cases.support import Asked, Numbering, ask, replay, replayed, told
from tests.support import Project, services, serving, session

AT = "/messages/2/content"
USER = {"role": "user", "content": "Is my order on its way?"}


def history(result: Any, call: str = "call_1") -> list[Any]:
    """The messages of a second turn."""
    function = {"name": "query_order", "arguments": "{}"}
    asked = {"role": "assistant", "tool_calls": [{"id": call, "type": "function", "function": function}]}
    return [USER, asked, {"role": "tool", "tool_call_id": call, "content": result}]


def anthropic_history(call: str) -> list[Any]:
    """The same as Anthropic has it."""
    use = {"type": "tool_use", "id": call, "name": "query_order", "input": {}}
    result = {"type": "tool_result", "tool_use_id": call, "content": "shipped"}
    return [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


@dataclass(frozen=True)
class Kind:
    """What a fresh value does to a second turn, and the line of `proctor.toml` that forgives it."""

    messages: Callable[[str], list[Any]]
    before: str
    now: str
    rules: str
    said: str


def volatile(pattern: str) -> str:
    return f"volatile = [{{ at = '{AT}', pattern = '{pattern}' }}]\n"


def checked(value: str) -> list[Any]:
    """A result that says when it was made."""
    return history(json.dumps({"status": "shipped", "checked_at": value}))


KINDS = {
    "a time in JSON in a text": Kind(
        checked,
        "2026-11-30T09:30:00Z",
        "2026-12-02T10:45:11Z",
        volatile(r'"checked_at": "([^"]+)"'),
        f"body {AT} volatile: ",
    ),
    "an id in a sentence": Kind(
        lambda value: history(f"Shipped. Trace {value}."),
        "3f2b8c1e-9d4a-4f6b-8e2d-1a2b3c4d5e6f",
        "7a1c9e2d-4b3f-4d5e-9f8a-0b1c2d3e4f5a",
        volatile(r"Trace (\S+)\.$"),
        f"body {AT} volatile: ",
    ),
    "milliseconds": Kind(
        lambda value: history(f"shipped in {value} ms"),
        "18",
        "240",
        volatile(r"shipped in (\d+) ms"),
        f"body {AT} volatile: ",
    ),
    "a field of its own": Kind(
        lambda value: history({"status": "shipped", "at": value}),
        "2026-11-30",
        "2026-12-02",
        f'ignore = ["{AT}/at"]\n',
        f"body {AT}/at ignored: ",
    ),
    "a field of every message": Kind(
        lambda value: [{**each, "sent_at": f"{value}:{n}"} for n, each in enumerate(history("shipped"))],
        "1790000000",
        "1790009999",
        'ignore = ["/messages/*/sent_at"]\n',
        "body /messages/0/sent_at ignored: ",
    ),
    "the id of a call": Kind(
        lambda value: history("shipped", value),
        "call_8fK2mQ",
        "call_x0D9zP",
        'preset = "openai"\n',
        "ids that the model minted, by first appearance: call_8fK2mQ -> call_x0D9zP",
    ),
    "the id of a call of Anthropic's": Kind(
        anthropic_history,
        "toolu_01A8fK2mQ",
        "toolu_01Bx0D9zP",
        'preset = "anthropic"\n',
        "ids that the model minted, by first appearance: toolu_01A8fK2mQ -> toolu_01Bx0D9zP",
    ),
}


def turns(messages: list[Any]) -> list[Asked]:
    """Both turns of a conversation."""
    return [Asked("/chat", told({"model": "m", "messages": each})) for each in (messages[:1], messages)]


@pytest.mark.parametrize("kind", KINDS)
async def test_declared_the_second_turn_matches_and_the_trace_names_what_was_forgiven(
    project: Project, kind: str
) -> None:
    case = KINDS[kind]
    got = await replayed(project, turns(case.messages(case.before)), turns(case.messages(case.now)), case.rules)
    assert (got.numbers, got.status, got.rows[1].match) == ([0, 1], 0, "forgiven")
    assert any(each.startswith(case.said) for each in got.rows[1].forgiven), got.rows[1].forgiven
    assert {each.difference for each in got.summary.forgiven} >= set(got.rows[1].forgiven)


@pytest.mark.parametrize("kind", KINDS)
async def test_undeclared_it_misses(project: Project, kind: str) -> None:
    case = KINDS[kind]
    got = await replayed(project, turns(case.messages(case.before)), turns(case.messages(case.now)))
    assert (got.numbers[1], got.status) == (None, 3)


async def test_the_rule_that_two_recordings_teach_holds_on_a_third_day(project: Project) -> None:
    async with serving(Numbering().answer) as url:
        project.configure(services(desk=url))
        for tape, moment in (("t", "2026-11-30T09:30:00Z"), ("u", "2026-12-02T10:45:11Z")):
            async with session(project, tape) as run:
                for each in turns(checked(moment)):
                    await ask(run, each)
                assert (await run.close()).sealed
    learnt = (await project.proctor("learn", "t", "u")).stdout
    rules = learnt.partition("[services.desk]")[2]
    assert "volatile" in rules, learnt
    project.configure(services(desk=url) + rules)
    assert (await replay(project, turns(checked("2027-01-15T23:59:59Z")))).numbers == [0, 1]
