"""What a call may cost at most, by litellm's table on this disk."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from proctor import prices
from proctor.prices import worst_cost
from tests.support import ROOT


def priced(monkeypatch: pytest.MonkeyPatch, **entries: dict[str, Any]) -> None:
    """A table of models that answer, and nothing remembered of another one."""
    table = {name: {"mode": "chat", **entry} for name, entry in entries.items()}
    monkeypatch.setattr(prices, "model_table", lambda: table)
    monkeypatch.setattr(prices, "_prices", prices._prices.__wrapped__)


def test_a_call_costs_its_prompt_and_the_longest_answer() -> None:
    assert worst_cost("openai/gpt-4o", 10_000, 2_000) == pytest.approx(10_000 * 2.5e-6 + 2_000 * 1e-5)
    assert worst_cost("gpt-4o", 0, 0) == 0


@pytest.mark.parametrize("name", ["openai/gpt-4o", "openrouter/of-somebody/gpt-4o", "litellm_proxy/gpt-4o"])
def test_a_name_behind_a_gateway_has_the_price_of_the_model(name: str) -> None:
    assert worst_cost(name, 1_000, 10) == worst_cost("gpt-4o", 1_000, 10)


@pytest.mark.parametrize("name", ["", "/", "openai/of-our-own", "sample_spec", "openai/sample_spec", "dall-e-3"])
def test_a_price_that_nobody_tells_is_none_and_never_0(name: str) -> None:
    assert worst_cost(name, 1_000, 10) is None


@pytest.mark.parametrize("name", ["stand-in/obedient", "stand-in/scripted:gpt-4o"])
def test_a_stand_in_costs_nothing(name: str) -> None:
    assert worst_cost(name, 1_000_000, 10_000) == 0.0


def test_where_the_table_tells_several_prices_the_dearest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"input_cost_per_token": 1, "output_cost_per_token": 10}
    tiers = [{"input_cost_per_token": 4, "output_cost_per_token": 20, "range": [0, 9]}, {"input_cost_per_token": 7}]
    priced(
        monkeypatch,
        long={**plain, "input_cost_per_token_above_200k_tokens": 2, "output_cost_per_token_above_200k_tokens": 15},
        kept={**plain, "cache_creation_input_token_cost": 1.25, "cache_creation_input_token_cost_above_1hr": 2},
        thinking={**plain, "output_cost_per_reasoning_token": 40},
        tiered={"tiered_pricing": tiers},
        asked_otherwise={**plain, "input_cost_per_token_priority": 3, "output_cost_per_token_batches": 99},
    )
    names = ("long", "kept", "thinking", "tiered", "asked_otherwise")
    assert [worst_cost(name, 100, 1) for name in names] == [215, 135, 140, 720, 110]


@pytest.mark.parametrize(
    "entry",
    [
        {"input_cost_per_token": 1},
        {"output_cost_per_token": 1},
        {"input_cost_per_token": -1, "output_cost_per_token": 1},
        {"input_cost_per_token": "1", "output_cost_per_token": 1},
        {"input_cost_per_token": 1, "output_cost_per_token": float("nan")},
        {"input_cost_per_token": 1, "output_cost_per_token": 1, "input_cost_per_request": 0.1},
        {"input_cost_per_token": 1, "output_cost_per_token": 1, "mode": "embedding"},
        {"tiered_pricing": [None, {}]},
        {"tiered_pricing": 5},
    ],
)
def test_half_a_price_is_none(monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any]) -> None:
    priced(monkeypatch, odd=entry)
    assert worst_cost("odd", 1_000, 10) is None


def test_without_litellm_no_price_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    priced(monkeypatch)
    assert worst_cost("gpt-4o", 1_000, 10) is None


def test_prices_are_read_without_importing_litellm_and_only_numbers_are_kept() -> None:
    program = """
import gc, sys
from proctor.prices import worst_cost
assert worst_cost("gpt-4o", 1, 1)
gc.collect()
kept = [each for each in gc.get_objects() if isinstance(each, dict) and "litellm_provider" in each]
print("litellm" in sys.modules, len(kept))
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert told == "False 0\n"
