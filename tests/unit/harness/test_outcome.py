"""What decides how a trial ended, and in what order."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.agents.contract import AgentFailed, Failure
from proctor.cases.evaluating import Looked
from proctor.cases.parts import Limits
from proctor.check import CheckResult
from proctor.errors import CassetteMissing, PlatformError
from proctor.harness.outcome import Found, outcome_of
from proctor.trace import ErrorSeen, HostTried, MissSeen, SessionSummary

MISS = MissSeen(code="not_recorded", service="orders", method="POST", target="/tools/x", message="nothing like it")
HOST = HostTried(host="example.org", method="GET", count=1)


def summary(**more: Any) -> SessionSummary:
    facts = {"session": "s", "cassette": "c", "set_up": "world", "llm": "live", "modes": {}, "started_at": ""}
    return SessionSummary.model_validate({**facts, "seconds": 1.0, **more})


def looked(outcome: str, check: str = "final_state", turn: int | None = None) -> Looked:
    result = {"check": check, "outcome": outcome, "message": "as it is", "needs": "a world" if "not" in outcome else ""}
    return Looked(turn, CheckResult.model_validate(result))


def found(**more: Any) -> Found:
    facts: dict[str, Any] = {"summary": summary(), "limits": Limits(), "looked": [looked("pass")]}
    return Found(**{**facts, **more})


def test_a_trial_passes_where_every_check_passes_and_nothing_else_holds() -> None:
    ended = outcome_of(found())
    assert (ended.outcome, ended.reason) == ("pass", "")


@pytest.mark.req(19)
@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("platform_error", "error"),
        ("world_failed", "error"),
        ("upstream_unreachable", "error"),
        ("overlay_unfit", "error"),
        ("overlay_not_applied", "fail"),
        ("events_dropped", "fail"),
        ("request_cut", "fail"),
    ],
)
def test_an_error_of_the_session_is_ours_or_the_agents_by_its_code(code: str, outcome: str) -> None:
    errors = (ErrorSeen(code=code, message="broke", count=1),)
    ended = outcome_of(found(summary=summary(errors=errors)))
    assert (ended.outcome, ended.reason, ended.message) == (outcome, code, "broke")


@pytest.mark.parametrize("code", ["loop_hint", "tool_timeout"])
def test_what_the_guard_refused_is_no_failure_by_itself(code: str) -> None:
    guarded = (ErrorSeen(code=code, message="refused", count=1),)
    assert outcome_of(found(summary=summary(guarded=guarded))).outcome == "pass"


@pytest.mark.parametrize("more", [{"misses": (MISS,)}, {"hosts": (HOST,)}])
def test_what_nobody_recorded_is_not_booked_against_the_agent(more: dict[str, Any]) -> None:
    failed = AgentFailed("agent_crashed", "ended with status 1")
    assert outcome_of(found(summary=summary(**more), failed=failed)).outcome == "off_tape"


@pytest.mark.parametrize(
    ("kind", "outcome", "again"),
    [
        ("agent_crashed", "fail", True),
        ("agent_timeout", "fail", True),
        ("agent_garbage", "fail", True),
        ("agent_flood", "fail", True),
        ("agent_ended", "fail", True),
        ("agent_refused", "fail", True),
        ("agent_unstartable", "error", False),
        ("agent_unreachable", "error", True),
        ("model_failed", "error", True),
    ],
)
def test_each_failure_of_an_agent_has_its_own_name(kind: Failure, outcome: str, again: bool) -> None:
    ended = outcome_of(found(failed=AgentFailed(kind, "it did", "last words"), looked=[]))
    assert (ended.outcome, ended.reason) == (outcome, kind)
    assert ended.again is again


@pytest.mark.req(155)
@pytest.mark.req(223)
@pytest.mark.req(225)
def test_a_limit_that_was_hit_fails_the_trial_and_says_which() -> None:
    told = {
        "limit_response": "no answer to a turn within 30 s",
        "limit_session": "did not end the conversation within 300 s",
        "limit_task": "did not end the task within 600 s",
        "limit_steps": "made more than 40 model calls and tool calls",
        "loop": "the same arguments for the fourth time in one turn",
    }
    for limit, words in told.items():
        ended = outcome_of(found(hit=limit))
        assert (ended.outcome, ended.reason) == ("fail", limit)
        assert words in ended.message


def test_our_own_failure_comes_before_all_else_and_a_mistake_in_a_file_is_not_tried_again() -> None:
    broke = outcome_of(found(broke=PlatformError("platform_error", "we did"), summary=None, hit="limit_task"))
    assert (broke.outcome, broke.reason, broke.again) == ("error", "platform_error", True)
    missing = outcome_of(found(broke=CassetteMissing("cassette_missing", "no tape"), summary=None))
    assert (missing.outcome, missing.again) == ("error", False)


@pytest.mark.req(84)
def test_a_model_whose_last_answer_broke_off_is_an_error_however_well_the_agent_spoke() -> None:
    ended = outcome_of(found(model_error="the model's last answer broke off"))
    assert (ended.outcome, ended.reason) == ("error", "model_failed")


@pytest.mark.req(142)
def test_a_trial_whose_trajectory_lacks_a_field_is_invalid_before_any_check() -> None:
    ended = outcome_of(found(missing=("token_usage",), looked=[looked("fail")]))
    assert (ended.outcome, ended.reason) == ("invalid", "field_missing")
    assert "token_usage" in ended.message


def test_calls_after_the_last_answer_and_left_processes_fail_a_trial_that_would_pass() -> None:
    late = outcome_of(found(after_end=2))
    assert (late.outcome, late.reason, late.message[:10]) == ("fail", "called_after_end", "2 requests")
    leaked = outcome_of(found(leaked=1))
    assert (leaked.outcome, leaked.reason) == ("fail", "agent_leaked")


def test_a_failed_check_comes_before_one_that_cannot_be_assessed_wherever_it_stands() -> None:
    checks = [looked("pass"), looked("not_assessable", "recall"), looked("fail", "tool_called", 2)]
    ended = outcome_of(found(looked=checks))
    assert (ended.outcome, ended.reason, ended.message) == ("fail", "tool_called", "turn 2: as it is")
    ended = outcome_of(found(looked=checks[:2]))
    assert (ended.outcome, ended.reason, ended.fix) == ("not_assessable", "recall", "needs a world")
