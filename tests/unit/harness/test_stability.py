"""Whether the trials of a case end alike, and when nothing can be said of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from proctor.harness.stability import NotAssessable, Stability, stability
from proctor.trajectory import Llm


@dataclass(frozen=True)
class Trial:
    outcome: str
    llm: Llm = "live"


def found(*outcomes: str) -> Stability:
    told = stability([Trial(each) for each in outcomes])
    assert isinstance(told, Stability)
    return told


def reason(*trials: Trial) -> str:
    told = stability(trials)
    assert isinstance(told, NotAssessable)
    return told.reason


@pytest.mark.req(61)
@pytest.mark.parametrize(
    ("outcomes", "passes", "flaky"),
    [
        (("pass", "pass", "pass"), 3, False),
        (("pass", "pass", "fail"), 2, True),
        (("fail", "pass", "fail"), 1, True),
        (("fail", "fail", "fail"), 0, False),
        (("pass", "agent_timeout"), 1, True),
    ],
)
def test_a_case_is_flaky_where_some_live_trials_pass_and_some_fail(
    outcomes: tuple[str, ...], passes: int, flaky: bool
) -> None:
    told = found(*outcomes)
    assert (told.passes, told.trials, told.flaky) == (passes, len(outcomes), flaky)


@pytest.mark.req(118)
def test_several_runs_give_mean_and_standard_deviation() -> None:
    assert (found("pass", "pass").mean, found("pass", "pass").deviation) == (1, 0)
    told = found("pass", "pass", "fail")
    assert told.mean == pytest.approx(2 / 3)
    assert told.deviation == pytest.approx((1 / 3) ** 0.5), "of a sample: divided by n - 1"


@pytest.mark.req(61, 118)
@pytest.mark.parametrize(
    ("trials", "told"),
    [
        ([Trial("pass", "stand-in"), Trial("fail", "stand-in")], "the model was a stand-in"),
        ([Trial("pass", "replayed")] * 3, "the model's answers were replayed"),
        ([Trial("pass", "none")] * 3, "no model was asked that Proctor saw"),
        ([Trial("pass", ""), Trial("pass", "none")], "no model was asked that Proctor saw"),
        ([Trial("pass")], "one live trial is no repeat"),
        ([Trial("pass"), Trial("fail", "replayed")], "one live trial is no repeat"),
        ([Trial("pass"), Trial("error"), Trial("error")], "one live trial is no repeat"),
        (
            [Trial("pass", "replayed"), Trial("pass", "stand-in")],
            "the model's answers were replayed and the model was a stand-in",
        ),
        ([Trial("error"), Trial("invalid")], "no trial passed or failed"),
        ([], "no trial passed or failed"),
    ],
)
def test_without_two_live_trials_nothing_is_said_and_the_reason_is_told(trials: list[Trial], told: str) -> None:
    assert reason(*trials) == told


@pytest.mark.req(118)
def test_only_live_trials_count() -> None:
    told = stability([Trial("pass"), Trial("pass"), Trial("fail", "replayed"), Trial("fail", "stand-in")])
    assert told == Stability(passes=2, trials=2, not_live=2, left_out={})
    assert not told.flaky


def test_trials_that_say_nothing_of_the_agent_are_left_out_and_counted() -> None:
    outcomes = ["pass", "error", "pass", "invalid", "off_tape", "error", "not_assessable"]
    told = found(*outcomes)
    assert (told.passes, told.trials, told.flaky) == (2, 2, False)
    assert told.left_out == {"error": 2, "invalid": 1, "off_tape": 1, "not_assessable": 1}
    refused = stability([Trial("pass"), Trial("error")])
    assert refused == NotAssessable("one live trial is no repeat", {"error": 1})
