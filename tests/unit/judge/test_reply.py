"""A reply is read only if it holds exactly one verdict of the right shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.reply import LONGEST, Answer, Unreadable, read
from proctor.rubric_file import load_rubric
from tests.property.counts import examples

CRITERION = load_rubric("trajectory").criterion("step_correctness")
ANSWER: dict[str, Any] = {
    "citations": [{"step": 4, "quote": "a quote of some length", "pointer": ""}],
    "finding": "the look-up came first",
    "missing": "",
    "outcome": "scored",
    "score": 1,
}


def changed(**fields: Any) -> str:
    return json.dumps({**ANSWER, **fields})


def without(name: str) -> str:
    return json.dumps({key: value for key, value in ANSWER.items() if key != name})


PLAIN = json.dumps(ANSWER)
JSON = st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Here is my verdict:\n{PLAIN}\nI hope that helps.",
        json.dumps(ANSWER, indent=4),
        f"The run {{as shown}} holds evidence.\n{PLAIN}",
        without("missing"),
    ],
)
def test_one_verdict_is_read_in_fences_prose_and_any_layout(text: str) -> None:
    answer = read(text, CRITERION)
    assert isinstance(answer, Answer)
    assert (answer.score, answer.outcome, answer.cited[0].step) == (1, "scored", 4)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not_json"),
        ("I cannot do that.", "not_json"),
        (PLAIN[:-1] + ",}", "not_json"),
        (PLAIN[: len(PLAIN) // 2], "not_json"),
        (PLAIN.replace('"', "'"), "not_json"),
        (PLAIN.replace('"score": 1', '"score": NaN'), "not_json"),
        (PLAIN.replace('"score": 1', '"score": 2, "score": 1'), "not_json"),
        (f"[{PLAIN}, {PLAIN}]", "two_verdicts"),
        (f"{PLAIN}\n{PLAIN}", "two_verdicts"),
        (PLAIN + changed(score=2), "two_verdicts"),
        (json.dumps({"verdict": ANSWER}), "wrong_shape"),
        (changed(score=3), "out_of_range"),
        (changed(score=-1), "out_of_range"),
        (changed(score=10**400), "out_of_range"),
        (changed(score=1.5), "wrong_shape"),
        (changed(score=1.0), "wrong_shape"),
        (changed(score="1"), "wrong_shape"),
        (changed(score=True), "wrong_shape"),
        (changed(score=[1]), "wrong_shape"),
        (changed(score=None), "inconsistent"),
        (changed(outcome="not_shown"), "inconsistent"),
        (changed(outcome="not_applicable", score=None), "inconsistent"),
        (changed(outcome="passed"), "wrong_shape"),
        (changed(finding="  "), "inconsistent"),
        (changed(confidence=0.9), "wrong_shape"),
        (changed(citations="step 4"), "wrong_shape"),
        (changed(citations=[{"step": "4", "quote": "x"}]), "wrong_shape"),
        (without("score"), "wrong_shape"),
        (without("citations"), "wrong_shape"),
        (without("finding"), "wrong_shape"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "not_json"),
        ("x" * (LONGEST + 1), "too_long"),
    ],
)
def test_anything_else_is_refused_with_a_cause_that_tells_what_to_mend(text: str, code: str) -> None:
    found = read(text, CRITERION)
    assert isinstance(found, Unreadable)
    assert found.code == code
    assert all(found.problems)


def test_the_problem_names_the_field() -> None:
    found = read(changed(score="1"), CRITERION)
    assert isinstance(found, Unreadable)
    assert found.problems[0].startswith("score: ")
    found = read(changed(score=3), CRITERION)
    assert isinstance(found, Unreadable)
    assert found.problems == ("the score 3 is none of [0, 1, 2]",)


def test_what_does_not_apply_is_an_answer_only_where_the_criterion_allows_it() -> None:
    allowing = load_rubric("trajectory").criterion("argument_accuracy")
    assert isinstance(read(changed(outcome="not_applicable", score=None), allowing), Answer)


@examples(ci=300, soak=10_000)
@given(
    st.text(max_size=400) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_breaks_the_reader_or_makes_a_number(text: str) -> None:
    found = read(text, CRITERION)
    assert isinstance(found, Unreadable)
    assert isinstance(read(text.replace("{", "").replace("}", "") + PLAIN, CRITERION), Answer)
