"""Retries of LLM calls, folded into the call that they repeat, so that a replay does not play a rate limit again.

Only where the client says that it retries (`x-stainless-retry-count`), or where an LLM gets the very same request
after an answer that asks for it. Tools are never folded: polling is polling.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from proctor.interaction import Headers, Interaction, header

_COUNT = "x-stainless-retry-count"
_RETRYABLE = frozenset({408, 409, 429})


def folded(interactions: Iterable[Interaction], llms: frozenset[str]) -> tuple[Interaction, ...]:
    """The interactions without those that were tried again; each other one has `attempts`. `llms` are services."""
    kept: dict[int, Interaction] = {}
    last: dict[tuple[str, str, str, bytes], int] = {}
    for interaction in interactions:
        request = interaction.request
        key = (request.service, request.method, request.target, request.body)
        before = kept.get(last.get(key, -1))
        if before is not None and _is_retry(interaction, before, llms):
            del kept[before.index]
            interaction = replace(interaction, attempts=before.attempts + 1)
        kept[interaction.index] = interaction
        last[key] = interaction.index
    return tuple(kept.values())


def _is_retry(interaction: Interaction, before: Interaction, llms: frozenset[str]) -> bool:
    if before.index in interaction.beside or not _asks_for_it(before):
        return False
    return _says_so(interaction.request.headers) or interaction.request.service in llms


def _asks_for_it(interaction: Interaction) -> bool:
    response = interaction.response
    told = header(response.headers, "x-should-retry")
    if told in ("true", "false"):
        return told == "true"
    return response.status in _RETRYABLE or response.status >= 500 or not response.complete


def _says_so(headers: Headers) -> bool:
    count = header(headers, _COUNT) or "0"
    return count.isdigit() and int(count) > 0
