"""What a run will take: from what ran before, from cases like it, or guessed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.harness import guess
from proctor.harness.estimate import estimate, exact
from proctor.prices import worst_cost
from tests.unit.harness.planning import case, planned

MODEL = "gpt-4o-mini"


@pytest.mark.req(208)
def test_a_case_that_ran_before_takes_the_mean_of_its_trials_rounded_up_for_each_trial() -> None:
    told = estimate([planned(trials=3)], {"c": [(100, 10), (101, 10), (100, 13)]}, MODEL)
    (one,) = told.cases
    assert (one.by, one.input, one.output, one.trials) == ("history", 3 * 101, 3 * 11, 3)
    assert (told.input, told.output) == (303, 33)


@pytest.mark.req(208)
def test_a_new_case_takes_the_mean_of_those_of_its_difficulty_else_of_any() -> None:
    plan = [
        planned("a", difficulty="single_step"),
        planned("b", difficulty="single_step"),
        planned("c", difficulty="long_range"),
        planned("new_single", difficulty="single_step"),
        planned("new_recovery", difficulty="recovery"),
    ]
    earlier = {"a": [(10, 1)] * 9, "b": [(20, 2)], "c": [(900, 90)], "gone": [(10, 1)], "never_ended": []}
    told = {each.case: each for each in estimate(plan, earlier, MODEL).cases}
    assert (told["new_single"].by, told["new_single"].input, told["new_single"].output) == ("likeness", 15, 2)
    assert (told["new_recovery"].by, told["new_recovery"].input) == ("likeness", 235), "cases count once, not trials"
    whole = estimate(plan, earlier, MODEL)
    assert [whole.count(by) for by in ("history", "likeness", "guess")] == [3, 2, 0]


def test_earlier_trials_of_other_cases_are_likeness_too() -> None:
    (one,) = estimate([planned()], {"gone": [(10, 1), (30, 4)]}, MODEL).cases
    assert (one.by, one.input, one.output) == ("likeness", 20, 3)


@pytest.mark.req(208)
def test_with_nothing_known_it_is_a_guess_that_says_so() -> None:
    told = estimate([planned(trials=2)], {"c": []}, MODEL)
    (one,) = told.cases
    assert (one.by, told.count("guess")) == ("guess", 1)
    assert (one.input, one.output) == tuple(2 * each for each in guess.guessed(case(), MODEL))


def test_a_guess_grows_with_turns_calls_words_and_replies_and_the_history_is_sent_again() -> None:
    least, _ = guess.guessed(case(difficulty="single_step"), MODEL)
    more = [
        case(difficulty="multi_step"),
        case(difficulty="single_step", turns=("hello", "hello")),
        case(difficulty="single_step", turns=("hello there, where is my order A1 of last week",)),
        case(difficulty="single_step", replies=[{"when": ["which"], "say": "A1"}]),
    ]
    assert all(guess.guessed(each, MODEL)[0] > least for each in more)
    step = {"tool": "t"}
    one, two, four = (guess.guessed(case(reference=[step] * count), MODEL)[0] for count in (1, 2, 4))
    assert four - two > 2 * (two - one), "each further call is sent all before it"
    long = {"tool": "t", "arguments": {"why": "cracked " * 100}}
    assert guess.guessed(case(reference=[long]), MODEL)[0] > one


def test_the_last_reply_s_call_is_sent_what_was_said_before() -> None:
    sent, received = guess.guessed(case(reference=[{"tool": "t", "arguments": {}}]), MODEL)
    first = guess.AROUND + 1
    assert sent == first + (first + guess.CALLED + 1 + guess.RESULT)
    assert received == guess.CALLED + 1 + guess.SAID


def test_a_guess_needs_nothing_that_counts_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, model: str) -> int:
        raise UsageError("token_counts_not_available", "tokens cannot be counted")

    counted = guess.guessed(case(turns=("where is order A1?",)), MODEL)
    monkeypatch.setattr(guess, "count", refuse)
    assert guess.guessed(case(turns=("where is order A1?",)), MODEL) >= counted


@pytest.mark.req(208)
def test_dollars_are_the_dearest_of_the_table_and_rounded_up() -> None:
    told = estimate([planned(trials=2)], {"c": [(1001, 7)]}, MODEL)
    worst = worst_cost(MODEL, 2002, 14)
    assert worst is not None
    assert told.dollars is not None
    assert worst <= told.dollars <= worst + 1e-6


@pytest.mark.parametrize("model", ["", "nobody/knows-this"])
def test_without_a_known_price_tokens_are_told_and_no_dollars(model: str) -> None:
    told = estimate([planned()], {"c": [(10, 1)]}, model)
    assert (told.input, told.dollars, told.cases[0].dollars) == (10, None, None)


def test_a_stand_in_costs_nothing() -> None:
    assert estimate([planned()], {"c": [(10, 1)]}, "stand-in/echo").dollars == 0


def test_nothing_planned_takes_nothing() -> None:
    told = estimate([], {}, MODEL)
    assert (told.input, told.output, told.dollars) == (0, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), min_size=1, max_size=30))
def test_the_total_is_exactly_the_sum_of_the_cases(taken: list[tuple[int, int]]) -> None:
    plan = [planned(f"c{at}") for at in range(len(taken))]
    told = estimate(plan, {f"c{at}": [each] for at, each in enumerate(taken)}, MODEL)
    assert told.dollars is not None
    assert exact(told.dollars) == sum((exact(each.dollars or 0) for each in told.cases), Decimal(0))
    assert told.input == sum(each for each, _ in taken)
