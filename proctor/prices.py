"""What a call to a model may cost at most, before it is made: by litellm's table, which is read and not imported."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from proctor.tokens import found_in, model_table
from proctor.vendors import STAND_IN

_ANSWERING = frozenset({"chat", "responses", "completion"})
_SENT = re.compile(r"(?:input_cost_per_token|cache_creation_input_token_cost)(?:_above_\d+k_tokens)?")
"""Some providers keep prompts unasked, at a higher price than reading them. Nobody asks to keep them for hours."""
_RECEIVED = re.compile(r"output_cost_per_(?:reasoning_)?token(?:_above_\d+k_tokens)?")


def worst_cost(model: str, input_tokens: int, max_output_tokens: int) -> float | None:
    """US dollars that one attempt of so many tokens costs at most; None where the table tells no price.

    Where it tells several, for long prompts or for reasoning, the dearest counts. A model that is only known without
    its gateway is taken at the price that it has there. A stand-in costs nothing.
    """
    if model.startswith(f"{STAND_IN}/"):
        return 0.0
    prices = found_in(_prices(), model)
    return None if prices is None else input_tokens * prices[0] + max_output_tokens * prices[1]


@lru_cache(maxsize=1)
def _prices() -> dict[str, tuple[float, float]]:
    """US dollars of a token sent, and of one received, of each model that is priced by them alone."""
    priced = {name: _dearest(entry) for name, entry in model_table().items() if entry.get("mode") in _ANSWERING}
    return {name: prices for name, prices in priced.items() if prices is not None}


def _dearest(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    tiers = entry.get("tiered_pricing")
    told = [entry, *(each for each in tiers if isinstance(each, dict))] if isinstance(tiers, list) else [entry]
    sent, received = list(_matching(told, _SENT)), list(_matching(told, _RECEIVED))
    if not sent or not received or "input_cost_per_request" in entry:
        return None
    return max(sent), max(received)


def _matching(told: list[Mapping[str, Any]], name: re.Pattern[str]) -> Iterator[float]:
    for each in told:
        for key, value in each.items():
            if name.fullmatch(key) and isinstance(value, int | float) and math.isfinite(value) and value >= 0:
                yield float(value)
