"""What a tape says of its own recording, without telling a secret or a folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stamp import age_text, command_words, is_hidden, shown_command, tool_schemas
from tests.property.counts import examples
from tests.unit.core.values import interaction, request

ROOT = Path("/home/a/project")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("python", "agent.py", "--case", "refund"), "python agent.py --case refund"),
        (("/opt/venv/bin/python", "/home/a/project/src/agent.py"), "python src/agent.py"),
        (("agent", "--api-key", "sk-123"), "agent --api-key ..."),
        (("agent", "--api-key=sk-123"), "agent --api-key=..."),
        (("env", "ORDERS_TOKEN=abc", "agent"), "env ORDERS_TOKEN=... agent"),
        (("agent", "--header", "Authorization: Bearer x"), 'agent --header "Authorization: Bearer x"'),
        (("agent", "https://u:p@host/x"), "agent https://...@host/x"),
        (("agent", "two words"), 'agent "two words"'),
        (("agent", "--max-tokens", "100"), "agent --max-tokens ..."),
        (("/elsewhere/tool",), "tool"),
        (("python", "-c", "x" * 500), f"python -c {'x' * 120}..."),
    ],
)
def test_a_command_is_shown_without_secrets_and_without_folders_of_one_machine(
    words: tuple[str, ...], shown: str
) -> None:
    assert shown_command(words, ROOT) == shown


@given(secret=st.text("abcXYZ012=:/ ", min_size=8, max_size=30).filter(lambda text: not text.startswith("-")))
@examples(ci=100, soak=1000)
def test_what_follows_an_option_named_as_a_secret_is_never_shown(secret: str) -> None:
    for words in (("a", "--token", secret), ("a", f"--password={secret}"), ("a", f"API_KEY={secret}")):
        assert secret not in shown_command(words, ROOT)


@given(words=st.lists(st.text(st.characters(codec="utf-8"), max_size=40), min_size=1, max_size=5))
@examples(ci=200, soak=2000)
def test_a_command_is_read_back_as_it_was_shown(words: list[str]) -> None:
    kept = [word for word in words if shown_command([word], ROOT) in {word, json.dumps(word, ensure_ascii=False)}]
    kept = [word for word in kept if not word.startswith("-")]
    assert command_words(shown_command(kept, ROOT)) == kept


def test_a_command_below_the_project_is_shown_from_its_own_folder() -> None:
    words = ("python", "/home/a/project/agents/agent.py", "/home/a/project/data/case.json")
    assert shown_command(words, ROOT, "agents") == "python agent.py ../data/case.json"


@pytest.mark.parametrize(
    ("words", "hidden"),
    [
        (("agent", "--api-key", "sk-123"), ["..."]),
        (("agent", "--api-key=sk-123"), ["--api-key=..."]),
        (("agent", "https://u:p@host/x"), ["https://...@host/x"]),
        (("agent", "x" * 500), ["x" * 120 + "..."]),
        (("agent", "--case", "refund"), []),
    ],
)
def test_a_word_that_is_not_what_was_typed_is_known(words: tuple[str, ...], hidden: list[str]) -> None:
    assert [word for word in command_words(shown_command(words, ROOT)) if is_hidden(word)] == hidden


CHAT = b'{"tools": [{"type": "function", "function": {"name": "pay", "parameters": {"a": 1}}}]}'
AGAIN = b'{"tools":[{"function":{"parameters":{"a":1},"name":"pay"},"type":"function"}], "x": 1}'
CHANGED = b'{"tools": [{"type": "function", "function": {"name": "pay", "parameters": {"a": 2}}}]}'
ANTHROPIC = b'{"tools": [{"name": "look", "input_schema": {}}, {"type": "web_search"}, 7]}'


def schemas(*bodies: bytes) -> dict[str, str]:
    headers = (("Content-Type", "application/json"),)
    return tool_schemas(interaction(request(body, headers=headers)) for body in bodies)


def test_each_tool_has_a_hash_that_changes_with_its_schema_only() -> None:
    assert schemas(CHAT) == schemas(AGAIN) == schemas(CHAT, AGAIN)
    assert schemas(CHAT) != schemas(CHANGED)
    assert schemas(CHAT, CHANGED)["pay"] == f"{schemas(CHAT)['pay']} {schemas(CHANGED)['pay']}"
    assert list(schemas(ANTHROPIC, CHAT)) == ["look", "pay"]
    assert schemas(b"", b"no json", b"[]", b'{"tools": 7}', b"\xff") == {}


@pytest.mark.parametrize(
    ("recorded_at", "age"),
    [
        ("2026-03-01T12:00:00Z", "today"),
        ("2026-02-28T12:00:00Z", "1 day ago"),
        ("2025-03-01T12:00:00+02:00", "365 days ago"),
        ("2026-03-02T00:00:00Z", "in the future: a clock is wrong"),
        ("", ""),
        ("soon", ""),
    ],
)
def test_the_age_of_a_recording_is_told_in_days(recorded_at: str, age: str) -> None:
    assert age_text(recorded_at, datetime(2026, 3, 1, 13, tzinfo=UTC)) == age
