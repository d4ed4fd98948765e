"""How far a judge repeats itself, in three variants of the same run."""

from __future__ import annotations

import pytest

from proctor.errors import UsageError
from proctor.judge.padding import padded
from proctor.judge.retesting import Run, Variant, retest
from proctor.verdict import Verdict
from tests.runs import call, run_of
from tests.unit.judge.labelled import VERSIONS, verdict


def runs(*given: tuple[Variant, Verdict]) -> list[Run]:
    return [Run(variant, each) for variant, each in given]


def test_the_share_of_criteria_with_any_change_and_which() -> None:
    first = verdict("t1", {"steps": 2, "safety": 2})
    again = [verdict("t1", {"steps": score, "safety": 2}) for score in (2, 1)]
    found = retest(runs(("same", first), *(("same", each) for each in again)), "0-2")
    (same,) = found.variants
    assert (str(same.changed), str(same.changed_pass), same.at_most) == ("50.0 % (1/2)", "50.0 % (1/2)", None)
    (flip,) = found.flips
    assert (flip.trajectory, flip.criterion, flip.results, flip.across_pass) == ("t1", "steps", ("2", "2", "1"), True)


def test_a_change_below_the_highest_level_crosses_no_pass() -> None:
    found = retest(runs(("same", verdict("t1", {"steps": 0})), ("same", verdict("t1", {"steps": 1}))), "0-2")
    assert (str(found.variants[0].changed), str(found.variants[0].changed_pass)) == ("100.0 % (1/1)", "0.0 % (0/1)")


def test_no_change_in_60_still_allows_five_percent() -> None:
    given = [("same", verdict(f"t{at}", {"safety": at % 3})) for at in range(60) for _ in range(5)]
    found = retest(runs(*given), "0-2")  # type: ignore[arg-type] # the list forgets that "same" is a variant
    assert str(found.variants[0].changed) == "0.0 % (0/60)"
    assert found.variants[0].at_most == pytest.approx(0.0487, abs=1e-4)
    assert found.alpha.value == 1


def test_other_variants_are_held_against_the_first_plain_run() -> None:
    long = verdict("t1", {"steps": 1, "safety": 2}, trajectory_digest="padded")
    order = verdict("t1", {"steps": 2, "safety": "abstained"})
    found = retest(runs(("padded", long), ("same", verdict("t1", {"steps": 2, "safety": 2})), ("order", order)), "0-2")
    assert [(each.variant, str(each.changed)) for each in found.variants] == [
        ("order", "50.0 % (1/2)"),
        ("padded", "50.0 % (1/2)"),
    ]
    assert [flip.results for flip in found.flips] == [("2", "abstained"), ("2", "1")]


def test_an_error_is_a_gap_and_no_change() -> None:
    given = [verdict("t1", {"safety": score}) for score in (2, "judge_error", 2)]
    found = retest(runs(*(("same", each) for each in given)), "0-2")
    assert (str(found.variants[0].changed), found.variants[0].gaps) == ("0.0 % (0/1)", 1)


def test_errors_alone_are_not_assessable() -> None:
    given = [verdict("t1", {"safety": "judge_error"}) for _ in range(3)]
    found = retest(runs(*(("same", each) for each in given)), "0-2")
    assert str(found.variants[0].changed) == "not assessable (0/0)"
    assert (found.variants[0].at_most, found.alpha.value) == (None, None)


def test_other_versions_other_inputs_and_single_runs_are_refused() -> None:
    one = verdict("t1", {"safety": 2})
    for other, code in (
        (verdict("t1", {"safety": 2}, versions=VERSIONS.model_copy(update={"prompt": "p2"})), "mixed_versions"),
        (verdict("t1", {"safety": 2}, trajectory_digest="another"), "other_input"),
        (verdict("t2", {"safety": 2}), "nothing_repeated"),
    ):
        with pytest.raises(UsageError) as error:
            retest(runs(("same", one), ("same", other)), "0-2")
        assert error.value.code == code


class TestPadding:
    def test_5000_words_are_added_to_the_agent_s_last_text_and_nothing_else_changes(self) -> None:
        run = run_of("user: Refund W1.", call("refund", id="W1"), "agent: Done.", "user: Thanks.")
        long = padded(run)
        (step,) = [new for old, new in zip(run.steps, long.steps, strict=True) if old != new]
        assert step.index == 3
        assert step.text is not None
        assert step.text.startswith("Done.\n\nThank you")
        assert len(step.text.split()) == 5001
        assert padded(run) == long

    def test_an_agent_that_said_nothing_says_it_in_a_last_step(self) -> None:
        run = run_of("user: Refund W1.", call("refund", id="W1"))
        assert padded(run).steps[:-1] == run.steps
        assert len(padded(run, 7).steps[-1].text or "") == len("Thank you very much for your patience")
