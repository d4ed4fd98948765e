"""Retries of an LLM call are one call; a tool that is asked again is asked again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proctor.interaction import Headers, Interaction
from proctor.retries import folded
from tests.unit.core.values import in_order, interaction, request, response

LLMS = frozenset({"llm"})
AGAIN: Headers = (("X-Stainless-Retry-Count", "1"),)


def call(
    status: int = 200, body: bytes = b"{}", service: str = "llm", headers: Headers = (), complete: bool = True
) -> Interaction:
    return interaction(request(body, service=service, headers=headers), response(status=status, complete=complete))


def kept(*made: Interaction) -> list[tuple[int, int]]:
    """Index and attempts of what is kept."""
    return [(each.index, each.attempts) for each in folded(in_order(*made), LLMS)]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_the_same_llm_request_after_an_answer_that_asks_for_it_is_one_call(status: int) -> None:
    assert kept(call(status), call(status), call()) == [(2, 3)]


def test_an_llm_call_that_broke_off_and_was_made_again_is_one_call() -> None:
    assert kept(call(complete=False), call()) == [(1, 2)]


def test_a_retry_that_failed_too_is_kept_as_the_last_answer() -> None:
    assert kept(call(503), call(503)) == [(1, 2)]


def test_a_tool_is_folded_only_where_its_client_says_that_it_retries() -> None:
    assert kept(call(503, service="desk"), call(service="desk")) == [(0, 1), (1, 1)]
    assert kept(call(503, service="desk"), call(service="desk", headers=AGAIN)) == [(1, 2)]


def test_what_follows_a_good_answer_or_asks_otherwise_is_a_call_of_its_own() -> None:
    assert kept(call(), call(), call(400), call()) == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert kept(call(503), call(body=b"[]"), call()) == [(1, 1), (2, 2)]


def test_a_server_s_own_word_on_retrying_counts() -> None:
    never: Headers = (("x-should-retry", "false"),)
    refused = interaction(request(service="llm"), response(status=503, headers=never))
    assert kept(refused, call()) == [(0, 1), (1, 1)]


def test_two_calls_at_the_same_time_are_two_calls() -> None:
    first, second = in_order(call(503), call())
    assert len(folded([first, replace(second, beside=(0,))], LLMS)) == 2
