"""Providers at their worst behind the judge's service: each verdict says what happened, and others go on."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proctor import model_route
from proctor.judge.inquiry import Terms
from proctor.judge.service import asked_for, gates
from proctor.judge_client import JudgeClient
from proctor.judge_wire import VerdictAnswer, VerdictRequest
from proctor.verdict import Verdict
from tests.integration.judge.services import OBEDIENT, batch, judge_service
from tests.integration.judge.test_service import GOOD, LIVE, provider, stored, vendorless
from tests.unit.judge.refunds import answer
from tools.stand_in_judge_server import Answer, Asked, serving_judge

__all__ = ["provider"]
FINE = Answer(json.dumps(GOOD))
WRITE = {"name": "create_refund", "arguments": {"order_id": "W1", "amount": 120.5}}
CHECKS = {"expected_writes": {"expected": [WRITE]}}
CRITERIA = 5


def error(status: int, message: str = "no", code: str = "", **headers: str) -> Answer:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, error={"message": message, "code": code}, headers=told)


class Provider:
    """Answers each criterion in turn with the same answers, and some criteria with others; the last for ever."""

    def __init__(self, *answers: Answer, **others: list[Answer]) -> None:
        self._answers = list(answers)
        self._others = others
        self._left: dict[str, list[Answer]] = {}
        self.keys: dict[str, list[str]] = {}
        """The idempotency keys that came for each criterion."""

    async def __call__(self, asked: Asked) -> Answer:
        criterion = asked.body["response_format"]["json_schema"]["name"]
        self.keys.setdefault(criterion, []).append(asked.headers["idempotency-key"])
        left = self._left.setdefault(criterion, list(self._others.get(criterion, self._answers)))
        return left.pop(0) if len(left) > 1 else left[0]

    @property
    def asked(self) -> int:
        return sum(map(len, self.keys.values()))


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is seconds for users is hundredths here."""
    monkeypatch.setattr(model_route, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(gates, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(gates, "LONGEST_WAIT", 0.02)


async def judged(client: JudgeClient, name: str = "a", **terms: Any) -> tuple[VerdictAnswer, Verdict]:
    request = VerdictRequest(trajectory=vendorless(name), agent_vendor="anthropic", **{"checks": CHECKS, **terms})
    told = await client.judge(request)
    assert told.verdict is not None, told.error
    return told, told.verdict


async def exchanges(client: JudgeClient, identity: str) -> list[dict[str, Any]]:
    """All questions of a verdict as its record keeps them."""
    kept: list[dict[str, Any]] = json.loads(await client.record(identity))["exchanges"]
    return kept


def outcomes(verdict: Verdict) -> dict[str, str]:
    """What each rule found."""
    return {each.check: each.outcome for each in verdict.rules}


def of_all(verdict: Verdict) -> set[tuple[str, str | None]]:
    return {(each.outcome, each.cause) for each in verdict.criteria}


LASTING: Mapping[str, tuple[Answer, str, int]] = {
    "hangs": (Answer(hang=True), "timeout", 3),
    "cuts its answers": (Answer(cut=True), "unreachable", 3),
    "limits the rate for ever": (error(429, "slow down"), "rate_limited", 3),
    "asks to be left alone for an hour": (error(429, "slow down", Retry_After="3600"), "rate_limited", 1),
    "has no money left": (error(429, "You exceeded your current quota", "insufficient_quota"), "rate_limited", 1),
    "fails": (error(500, "boom"), "unreachable", 3),
    "answers with a page": (Answer(raw="<html>log in, please</html>"), "no_reply", 1),
    "knows no such key": (error(401, "Incorrect API key provided"), "credentials", 1),
    "refuses": (Answer(None, refusal="I cannot judge this."), "refusal", 1),
    "filters what it says": (Answer("", finish="content_filter"), "refusal", 1),
    "filters what it is asked": (error(400, "The response was filtered", "content_filter"), "refusal", 1),
    "says nothing": (Answer(""), "no_reply", 1),
    "stops in the middle": (Answer('{"citations": [', finish="length"), "cut_off", 1),
}


@pytest.mark.parametrize("how", LASTING)
async def test_a_provider_that_does_not_answer_is_told_in_the_verdict_and_the_rules_still_count(
    tmp_path: Path, provider: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    given, cause, attempts = LASTING[how]
    if given.hang:
        monkeypatch.setattr(asked_for, "Terms", partial(Terms, timeout=0.2))  # in place of a minute
    bad = Provider(given)
    async with serving_judge(bad) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE, calls_at_once=CRITERIA) as (_, client):
            told, verdict = await judged(client)
            kept = await exchanges(client, told.id)
            ready = await client.ready()
    assert (told.state, told.asked, told.error) == ("done", CRITERIA, None)
    assert of_all(verdict) == {("judge_error", cause)}
    assert (verdict.total, verdict.total_of_100, verdict.scored, bool(verdict.no_total)) == (None, None, 0, True)
    assert outcomes(verdict)["expected_writes"] == "pass"
    assert verdict.needs_review
    assert {tuple(each["ended"] for each in one["attempts"]) for one in kept} == {(cause,) * attempts}
    assert ready.status == "ready"
    if not given.hang:  # what hangs is left too soon for all of it to have arrived
        assert bad.asked == CRITERIA * attempts
        assert all(len(set(keys)) == 1 for keys in bad.keys.values()), "attempts at one question have one key"
        assert len({keys[0] for keys in bad.keys.values()}) == CRITERIA


async def test_what_a_rule_decides_stands_though_the_judge_refuses(tmp_path: Path, provider: Any) -> None:
    wrong = {"expected_writes": {"expected": [{"name": "create_refund", "arguments": {"order_id": "W2"}}]}}
    async with serving_judge(Provider(LASTING["refuses"][0])) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE) as (_, client):
            _, verdict = await judged(client, checks=wrong)
    assert of_all(verdict) == {("judge_error", "refusal"), ("scored", "refusal")}
    assert [each.score for each in verdict.criteria if each.outcome == "scored"] == [0]
    assert outcomes(verdict)["expected_writes"] == "fail"
    assert verdict.total is None


async def test_a_provider_that_is_not_there_is_told_and_asked_again_when_it_is(tmp_path: Path, provider: Any) -> None:
    good = Provider(FINE)
    async with serving_judge(good) as served:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            provider(type(served)(f"http://127.0.0.1:{nobody.getsockname()[1]}/v1", []))
            async with judge_service(tmp_path, LIVE) as (_, client):
                told, verdict = await judged(client)
                assert of_all(verdict) == {("judge_error", "unreachable")}
                provider(served)
                again, verdict = await judged(client)
    assert (again.id, verdict.total_of_100) == (told.id, 100)
    assert (again.asked, good.asked, again.repeats) == (CRITERIA, CRITERIA, 0)


PASSING: Mapping[str, tuple[Answer, str]] = {
    "limits the rate": (error(429, "slow down"), "rate_limited"),
    "limits the rate for a while": (error(429, "slow down", Retry_After="0.05"), "rate_limited"),
    "fails": (error(500, "boom"), "unreachable"),
    "cuts its answer": (Answer(cut=True), "unreachable"),
}


@pytest.mark.parametrize("how", PASSING)
async def test_a_provider_that_gets_well_gives_the_verdict_and_each_attempt_is_recorded(
    tmp_path: Path, provider: Any, how: str
) -> None:
    given, cause = PASSING[how]
    other = Answer(json.dumps(answer(0, quotes=[(4, '"status": "refund issued"')])))
    passing = Provider(given, FINE, other)
    async with serving_judge(passing) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE, calls_at_once=CRITERIA) as (_, client):
            told, verdict = await judged(client)
            kept = await exchanges(client, told.id)
            same, _ = await judged(client)
    assert (verdict.total_of_100, told.asked) == (100, CRITERIA)
    assert {tuple(each["ended"] for each in one["attempts"]) for one in kept} == {(cause, "ok")}
    assert [each.use.attempts for each in verdict.criteria] == [2] * CRITERIA
    assert all(len(set(keys)) == 1 for keys in passing.keys.values())
    assert (same, passing.asked) == (told, 2 * CRITERIA), "the first valid one counts, and nobody asks for another"


async def test_a_verdict_with_an_error_that_is_asked_for_again_is_asked_what_failed_and_nothing_else(
    tmp_path: Path, provider: Any
) -> None:
    refusing = Provider(FINE, safety=[Answer(None, refusal="I cannot judge this."), FINE])
    async with serving_judge(refusing) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE) as (_, client):
            first, verdict = await judged(client)
            assert {each.criterion for each in verdict.criteria if each.outcome == "judge_error"} == {"safety"}
            assert (verdict.total, verdict.scored) == (None, CRITERIA - 1)
            assert "safety" in verdict.no_total.lower()
            again, whole = await judged(client)
    assert (again.id, whole.total_of_100) == (first.id, 100)
    assert {criterion: len(keys) for criterion, keys in refusing.keys.items()} == {
        each.criterion: 2 if each.criterion == "safety" else 1 for each in whole.criteria
    }
    assert stored(tmp_path, "SELECT COUNT(*) FROM records") == [(1,)]


GIANT = {
    "of one letter": "x" * 1_000_000,
    "of brackets": "[" * 200_000,
    "of a finding": json.dumps({**GOOD, "finding": "x" * 1_000_000}),
    "of citations": json.dumps({**GOOD, "citations": GOOD["citations"] * 5_000}),
    "of a score": json.dumps(GOOD).replace('"score": 2', '"score": ' + "2" * 100_000),
}


@pytest.mark.parametrize("what", GIANT)
async def test_a_giant_answer_is_read_or_refused_and_kept_short(tmp_path: Path, provider: Any, what: str) -> None:
    async with serving_judge(Provider(FINE, safety=[Answer(GIANT[what])])) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE) as (_, client):
            told, verdict = await judged(client)
            fine = await judged(client, "b")
    result = next(each for each in verdict.criteria if each.criterion == "safety")
    assert result.outcome in ("judge_error", "scored")
    assert verdict.scored >= CRITERIA - 1
    assert len(told.model_dump_json()) < 50_000
    assert fine[0].state == "done"


async def test_a_model_that_was_not_asked_for_is_named_and_one_of_the_agent_s_vendor_goes_to_a_person(
    tmp_path: Path, provider: Any
) -> None:
    third = Answer(FINE.text, model="gemini-2.5-pro")
    own = Answer(FINE.text, model="claude-opus-4-20250514")
    async with serving_judge(Provider(FINE, safety=[third, own])) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE) as (_, client):
            _, elsewhere = await judged(client, "a")
            _, agent_s = await judged(client, "b")
            findings = (await client.findings(kind="needs_review")).findings
    assert set(elsewhere.judge.returned) == {"gpt-4.1-mini-stand-in", "gemini-2.5-pro"}
    assert any("models of several names answered" in each.message for each in elsewhere.findings)
    why = "answered by claude-opus-4-20250514, a model of the agent's own vendor"
    assert why in agent_s.needs_review
    assert why not in elsewhere.needs_review
    assert ("b", why) in {(each.trajectory, each.message) for each in findings}


@pytest.mark.parametrize("how", ["hangs", "limits the rate for ever"])
async def test_a_provider_that_is_down_holds_up_nobody_who_asks_another(
    tmp_path: Path, provider: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    other = "deepseek/deepseek-chat"
    runs = [vendorless(name) for name in "abc"]
    terms = {"agent_vendor": "anthropic"}
    async with serving_judge(Provider(LASTING[how][0])) as down, serving_judge(by_name_of_call) as well:
        provider(down)
        monkeypatch.setenv("DEEPSEEK_API_BASE", well.url)
        monkeypatch.setenv("DEEPSEEK_API_KEY", "none-is-needed-on-loopback")
        async with judge_service(tmp_path, LIVE, other, OBEDIENT) as (_, client):
            stuck = asyncio.ensure_future(batch(client, runs, model=LIVE, **terms))
            while not down.asked:  # noqa: ASYNC110 - it is the provider who is asked
                await asyncio.sleep(0.001)
            _, verdicts, last = await batch(client, runs, model=other, **terms)
            _, _, third = await batch(client, runs, model=OBEDIENT, **terms)
            if how == "hangs":
                assert not stuck.done()
                stuck.cancel()
            else:
                _, failed, _ = await stuck
                outcomes = [of_all(each.answer.verdict) for each in failed.values() if each.answer.verdict]
                assert outcomes == [{("judge_error", LASTING[how][1])}] * len(runs)
            metrics = await client.metrics()
    assert (last.batch.states, third.batch.states) == ({"done": 3}, {"done": 3})
    totals = [each.answer.verdict.total_of_100 for each in verdicts.values() if each.answer.verdict]
    assert totals == [100.0] * 3
    assert 'proctor_judge_rate_limited_total{provider="deepseek"} 0' in metrics


async def by_name_of_call(asked: Asked) -> Answer:
    """All is well."""
    return FINE
