"""Anchors judged again: whether the judge drifted, and whether it or we changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from proctor.errors import UsageError
from proctor.judge.anchors import drift
from proctor.verdict import Verdict
from tests.unit.judge.labelled import JUDGE, VERSIONS, verdict

NEW_MODEL = {"judge": JUDGE.model_copy(update={"returned": ("judge-1-2026-06",)})}
NEW_PROMPT = {"versions": VERSIONS.model_copy(update={"prompt": "p2"})}


def anchors(scores: Sequence[int | str], **fields: object) -> list[Verdict]:
    return [verdict(f"a{at}", {"safety": score}, **fields) for at, score in enumerate(scores)]


def test_a_judge_that_turned_lenient_behind_its_name_has_drifted() -> None:
    found = drift(anchors([1] * 8 + [2] * 52), anchors([2] * 6 + [1] * 2 + [2] * 52), "0-2")
    assert (found.compared, found.to_pass, found.to_fail) == (60, 6, 0)
    assert found.p == pytest.approx(2 / 64)
    assert found.drifted
    assert found.who == "nothing that is told"
    assert found.message.startswith("drifted behind an unchanged name: of 60 criteria 6 changed to pass, 0 to fail")
    assert [(each.trajectory, each.before, each.now) for each in found.changes][:1] == [("a0", "1", "2")]


def test_even_changes_and_changes_below_the_pass_are_listed_and_no_drift() -> None:
    found = drift(anchors([0, 2, 1]), anchors([1, 1, 2]), "0-2")
    assert (found.to_pass, found.to_fail, found.p, found.drifted) == (1, 1, 1.0, False)
    assert [(each.before, each.now) for each in found.changes] == [("0", "1"), ("2", "1"), ("1", "2")]


def test_no_change_is_told_with_what_it_still_allows() -> None:
    found = drift(anchors([2] * 60), anchors([2] * 60), "0-2")
    assert (found.changes, found.drifted) == ((), False)
    assert found.at_most == pytest.approx(0.0487, abs=1e-4)
    assert found.message.startswith("no drift shown: ")


def test_an_anchor_without_a_score_now_is_no_agreement() -> None:
    found = drift(anchors([2, 2]), anchors([2, "judge_error"]), "0-2")
    assert (found.compared, found.unanswered, found.at_most) == (1, 1, None)
    assert found.changes[0].now == "judge_error"
    assert "1 have no score any more" in found.message


@pytest.mark.parametrize(
    ("changed", "who", "says"),
    [
        (NEW_MODEL, "the judge", "model that answered: judge-1-2026-01, then judge-1-2026-06): the model is another"),
        (
            NEW_PROMPT,
            "we",
            "prompt: p1, then p2): the prompt, rubric or Proctor is not the same, so this is no evidence",
        ),
        (NEW_MODEL | NEW_PROMPT, "both", "prompt: p1, then p2): the prompt, rubric or Proctor is not the same"),
    ],
)
def test_unequal_versions_are_told_before_anything_else(changed: dict[str, object], who: str, says: str) -> None:
    found = drift(anchors([1] * 8), anchors([2] * 8, **changed), "0-2")
    assert found.who == who
    assert found.message.startswith("unequal versions (")
    assert says in found.message


def test_another_rubric_another_run_and_other_anchors_are_refused() -> None:
    frozen = anchors([2, 2])
    for fresh, code in (
        (anchors([2, 2], versions=VERSIONS.model_copy(update={"rubric_digest": "d2"})), "other_rubric"),
        (anchors([2, 2], trajectory_digest="another"), "other_input"),
        (anchors([2]), "other_anchors"),
        ([*anchors([2]), *anchors([2, 2], **NEW_MODEL)], "mixed_versions"),
        ([*anchors([2, 2]), *anchors([1])], "repeated_verdict"),
        ([], "no_verdicts"),
    ):
        with pytest.raises(UsageError) as error:
            drift(frozen, fresh, "0-2")
        assert error.value.code == code
