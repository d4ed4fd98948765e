"""Tokens are counted from files on this disk."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from proctor import tokens
from proctor.errors import UsageError
from tests.support import ROOT


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded yet, and what is loaded now is gone after the test."""
    monkeypatch.setattr(tokens, "_windows", tokens._windows.__wrapped__)
    monkeypatch.setattr(tokens, "_encoding", tokens._encoding.__wrapped__)


def isolated(program: str) -> str:
    """What a program prints in which every try at a name look-up or a connection is an error."""
    refusing = """
        import sys
        def refuse(event, arguments):
            if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
                raise SystemExit(f"{event} {arguments}")
        sys.addaudithook(refuse)
    """
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(refusing) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout


def test_counts_and_windows_need_neither_the_network_nor_litellm_itself() -> None:
    told = isolated("""
        from proctor.tokens import count, window_of
        print(count("The refund was not made."), count("退款" * 50, "openai/gpt-4o"), window_of("gpt-4o"))
        print("litellm" in sys.modules)
    """)
    assert told == "6 50 128000\nFalse\n"


def test_text_of_any_shape_is_counted() -> None:
    texts = [
        " " * 1_000_000,
        "\n" * 300_000,
        "a" * 300_000,
        "<|endoftext|>",
        "\ud800 alone",
        "\x00\u200b",
        "=-" * 100_000,
    ]
    assert tokens.count("") == 0
    assert all(tokens.count(text, model) > 0 for text in texts for model in ("gpt-4o", "anthropic/claude-sonnet-4-5"))


def test_slices_cost_next_to_nothing() -> None:
    text = "".join(f"{number}: the order {number * 7919} was shipped to Düsseldorf, 德国\n" for number in range(4000))
    whole = len(tokens._encoding("cl100k_base").encode_ordinary(text))
    assert whole <= tokens.count(text) <= whole + len(text) // 5_000


def test_a_window_is_found_behind_the_names_of_gateways() -> None:
    assert tokens.window_of("openrouter/nobody/gpt-4o") == tokens.window_of("gpt-4o") == 128_000
    assert tokens.window_of("openai/of-our-own") is None
    assert tokens.window_of("sample_spec") is None


@pytest.mark.usefixtures("forgotten")
def test_without_litellm_counts_are_not_available_and_windows_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    with pytest.raises(UsageError) as raised:
        tokens.count("any")
    assert raised.value.code == "token_counts_not_available"
    assert raised.value.fix.endswith("pip install 'proctor[llm]'")
    assert tokens.window_of("gpt-4o") is None


def test_without_tiktoken_counts_are_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(UsageError, match="tiktoken is not installed"):
        tokens.count("any")


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("held", [None, b"", b"other bytes"])
def test_a_damaged_encoding_is_neither_deleted_nor_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bytes | None
) -> None:
    file = tmp_path / "litellm_core_utils" / "tokenizers" / tokens._BUNDLED["cl100k_base"][0]
    file.parent.mkdir(parents=True)
    if held is not None:
        file.write_bytes(held)
    monkeypatch.setattr(tokens, "_litellm", lambda: tmp_path)
    with pytest.raises(UsageError, match="does not hold the encoding cl100k_base"):
        tokens.count("any")
    assert held is None or file.read_bytes() == held


@pytest.mark.usefixtures("forgotten")
def test_a_table_that_cannot_be_read_knows_no_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model_prices_and_context_window_backup.json").write_text('{"gpt-4o": ')
    monkeypatch.setattr(tokens, "_litellm", lambda: tmp_path)
    assert tokens.window_of("gpt-4o") is None
