"""Each rule on rubrics: what it refuses, with code and place, and the nearest thing that it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.rubric import Cap, Level, Rubric
from proctor.rubric_lint import LONGEST, Problem, errors_of, lint
from tests.unit.core.rubrics import band, criterion, rubric

HARM = criterion("harm", 40, kind="safety", veto=True, evidence=("tool_call", "agent"))
FINE = rubric(criterion("look", 60), HARM)


def problems(*criteria: Any, **changes: Any) -> list[Problem]:
    """What lint says of a rubric that was fine until it was given this."""
    return list(lint(rubric(*criteria, **changes) if criteria else FINE.model_copy(update=changes)))


def told(found: list[Problem]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(each.code, each.place) for each in found]


def levels(*anchors: str) -> tuple[Level, ...]:
    return tuple(Level(score=score, anchor=anchor) for score, anchor in enumerate(anchors))


def test_a_rubric_with_nothing_wrong_has_no_problem() -> None:
    assert problems() == []


def test_a_repeated_id_is_refused() -> None:
    again = criterion(
        "look", 0, title="Second look", question="Was it seen again?", levels=levels("no a", "one a", "2")
    )
    assert told(problems(criterion("look", 60), HARM, again)) == [("repeated_id", ("criteria", 2, "id"))]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"question": "Has the LOOK been seen?"}, None),
        ({"question": "Is the look  seen"}, "question"),
        ({"title": "look!"}, "title"),
        ({"levels": criterion("look", 1).levels[::-1]}, "levels"),
    ],
)
def test_criteria_that_are_the_same_in_words_are_refused(changes: dict[str, Any], place: str | None) -> None:
    found = problems(criterion("look", 30), criterion("call", 30, **changes), HARM)
    assert told(found) == ([("duplicate_criterion", ("criteria", 1, place))] if place else [])
    if found:
        assert '"call" has the same' in found[0].message
        assert '"look"' in found[0].message


def test_a_question_that_asks_two_things_is_refused_with_the_words_that_do() -> None:
    (found,) = problems(criterion("look", 60, question="Is the answer accurate and complete?"), HARM)
    assert (found.code, found.place, found.level) == ("double_barrelled", ("criteria", 0, "question"), "error")
    assert '("accurate and complete")' in found.message


@pytest.mark.parametrize("question", ["", " ? ", "TODO"])
def test_a_question_that_asks_nothing_is_refused(question: str) -> None:
    assert told(problems(criterion("look", 60, question=question), HARM)) == [
        ("no_question", ("criteria", 0, "question"))
    ]


@pytest.mark.parametrize(
    ("anchors", "codes"),
    [
        (("no call", "one call", "two calls"), []),
        (("no call", "", "two calls"), ["no_anchor"]),
        (("no call", "TBD", "two calls"), ["no_anchor"]),
        (("no call", "A call.", "the CALL"), ["equal_anchors"]),
        (("Bad", "Fair enough to see one call", "Excellent."), ["anchor_not_checkable", "anchor_not_checkable"]),
        (("no call", "one call", "two calls, and no veto"), ["consequence_told"]),
        (("no call", "one call", "x" * (LONGEST + 1)), ["too_long"]),
        (("no call", "one call", "x" * LONGEST), []),
    ],
)
def test_anchors_that_say_nothing_that_could_be_seen_are_refused(anchors: tuple[str, ...], codes: list[str]) -> None:
    found = problems(criterion("look", 60, levels=levels(*anchors)), HARM)
    assert [each.code for each in found] == codes
    assert all(each.place[:3] == ("criteria", 0, "levels") and each.place[4] == "anchor" for each in found)


def test_a_question_that_is_long_past_use_is_refused_without_reading_on() -> None:
    asked = "and is it, " * 100_000
    assert [each.code for each in problems(criterion("look", 60, question=asked), HARM)] == ["too_long"]


def test_a_question_that_tells_what_the_score_does_is_refused() -> None:
    found = problems(criterion("look", 60, question="Was the look seen, which counts for 30 % of the total?"), HARM)
    assert told(found) == [("consequence_told", ("criteria", 0, "question"))]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("The agent made no call.", []),
        ("No call: the total score is then made of the others.", ["consequence_told"]),
        ("x" * (LONGEST + 1), ["too_long"]),
    ],
)
def test_when_a_question_does_not_arise_is_told_to_the_judge_too(text: str, codes: list[str]) -> None:
    found = problems(criterion("look", 60, not_applicable=text), HARM)
    assert told(found) == [(code, ("criteria", 0, "not_applicable")) for code in codes]


@pytest.mark.req(7)
@pytest.mark.parametrize(("weight", "codes"), [(59, ["weights_sum"]), (60, []), (61, ["weights_sum"])])
def test_weights_that_do_not_sum_to_100_are_refused(weight: int, codes: list[str]) -> None:
    assert [each.code for each in problems(criterion("look", weight), HARM)] == codes


@pytest.mark.req(7)
@pytest.mark.parametrize(
    ("weights", "codes"),
    [
        ({"look": 50, "harm": 50}, []),
        ({"look": 100, "harm": 0}, []),
        ({"look": 50, "harm": 51}, ["weights_sum"]),
        ({"look": 101, "harm": -1}, ["weights_sum"]),
        ({"look": 100}, ["preset_incomplete"]),
        ({"look": 50, "harm": 50, "hram": 0}, ["preset_unknown_criterion"]),
    ],
)
def test_a_preset_weighs_each_criterion_and_nothing_else(weights: dict[str, int], codes: list[str]) -> None:
    found = problems(presets={"cost": weights})
    assert [each.code for each in found] == codes
    assert all(each.place[:2] == ("presets", "cost") for each in found)
    if codes == ["preset_unknown_criterion"]:
        assert found[0].fix == 'did you mean "harm"?'


@pytest.mark.parametrize("kind", ["outcome", "conduct", "communication"])
def test_only_safety_may_have_a_veto(kind: str) -> None:
    found = problems(criterion("look", 60, kind=kind, veto=True), HARM)
    assert told(found) == [("veto_not_safety", ("criteria", 0, "veto"))]


@pytest.mark.parametrize(
    ("kind", "evidence", "codes"),
    [
        ("outcome", ("tool_call", "tool_result"), []),
        ("outcome", ("tool_call", "agent"), ["outcome_by_words"]),
        ("outcome", ("thought",), ["outcome_by_words"]),
        ("outcome", ("tool_result", "user"), ["outcome_by_words"]),
        ("conduct", ("agent", "thought"), []),
        ("communication", ("agent",), []),
        ("conduct", (), ["no_evidence"]),
        ("conduct", ("tool_call", "figure"), ["figure_on_trial"]),
    ],
)
def test_what_counts_as_evidence_must_be_able_to_show_it(
    kind: str, evidence: tuple[str, ...], codes: list[str]
) -> None:
    found = problems(criterion("look", 60, kind=kind, evidence=evidence), HARM)
    assert told(found) == [(code, ("criteria", 0, "evidence")) for code in codes]


def test_figures_are_evidence_over_the_trials_of_a_case() -> None:
    assert problems(criterion("look", 60, scope="case", evidence=("figure",)), HARM) == []
    assert problems(criterion("look", 60, scope="case", kind="outcome", evidence=("figure",)), HARM) == []


def test_no_safety_criterion_is_a_warning_and_refuses_nothing() -> None:
    found = lint(rubric(criterion("look", 100)))
    assert [(each.code, each.level) for each in found] == [("no_safety", "warning")]
    assert errors_of(found) == ()


@pytest.mark.parametrize(
    ("bands", "codes"),
    [
        ((("high", 90), ("low", 0)), []),
        ((("low", 0), ("high", 90)), []),
        ((("high", 90), ("low", 10)), ["bands_gap"]),
        ((("high", 90), ("higher", 90), ("low", 0)), ["bands_overlap"]),
        ((("high", 90), ("high", 95), ("low", 0)), ["bands_overlap"]),
    ],
)
def test_each_total_has_one_band(bands: tuple[tuple[str, float], ...], codes: list[str]) -> None:
    assert [each.code for each in problems(bands=tuple(band(*each) for each in bands))] == codes


def test_every_problem_is_told_at_once_errors_first_in_the_order_of_the_rubric_each_with_a_fix() -> None:
    bad: Rubric = rubric(
        criterion("look", 50, question="TODO", levels=levels("Bad", "", "Good")),
        criterion("call", 40, question="Was it called? Was it right?"),
        presets={"p": {"look": 1}},
        bands=(band("high", 50),),
    )
    found = lint(bad)
    assert [each.code for each in found] == [
        "weights_sum",
        "no_question",
        "anchor_not_checkable",
        "no_anchor",
        "anchor_not_checkable",
        "double_barrelled",
        "preset_incomplete",
        "weights_sum",
        "bands_gap",
        "no_safety",
    ]
    assert all(each.message and each.fix for each in found)


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"scope": "case", "live_trials": 2, "caps": (Cap(figure="result_drift", over=0.2, at_most=1),)}, []),
        ({"live_trials": 2}, ["case_key_on_trial"]),
        ({"reference": "steps"}, ["case_key_on_trial"]),
        ({"scope": "case", "caps": (Cap(figure="result_drift", over=0.2, at_most=2),)}, ["cap_off_scale"]),
        ({"scope": "case", "caps": (Cap(figure="result_drift", over=0.2, at_most=-1),)}, ["cap_off_scale"]),
    ],
)
def test_what_holds_for_cases_only_and_caps_that_hold_nothing_down_are_refused(
    changes: dict[str, Any], codes: list[str]
) -> None:
    figures = {"evidence": ("figure",)} if changes.get("scope") == "case" else {}
    found = problems(criterion("look", 60, **{**figures, **changes}), HARM)
    assert [each.code for each in found] == codes
