"""A live model through the real litellm, against a server of our own on loopback that behaves as badly as real ones."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web

from proctor.errors import UsageError
from proctor.judge.stand_ins import stand_in
from proctor.model import model_of
from proctor.model_call import Message, Model, ModelCall, ModelFailure, Reply
from proctor.model_route import ATTEMPTS
from tests.support import Project, serving, session
from tests.unit.judge.prompts import call, results
from tools.stand_in_judge_server import Answer, Served, by_model, in_turn, serving_judge

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}
CALL = ModelCall(
    (Message("system", "Judge by the rubric. Answer in JSON."), Message("user", "What is the score? 请打分。")),
    schema_name="task_achievement",
    schema=SCHEMA,
    seed=7,
    max_output_tokens=300,
    timeout=20,
)
FINE = Answer('{"score": 2}')


@pytest.fixture(autouse=True)
def _no_keys_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-Zx81kQpLmN47vTyRbC29wEfGhJ")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-Zx81kQpLmN47vTyRbC29wEfGhJ")


@dataclass
class Trying:
    """A model at a server of our own, whose waits are noted and not waited."""

    server: Served
    name: str = "openai/of-our-own"
    waits: list[float] = field(default_factory=list)

    @property
    def model(self) -> Model:
        return model_of(self.name, base_url=self.server.url, wait=self._note)

    async def _note(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def failure(self, call: ModelCall = CALL) -> ModelFailure:
        with pytest.raises(ModelFailure) as raised:
            await self.model.ask(call)
        return raised.value


async def failed(*answers: Answer, call: ModelCall = CALL) -> tuple[ModelFailure, Trying]:
    async with serving_judge(in_turn(answers)) as server:
        trying = Trying(server)
        return await trying.failure(call), trying


async def asked(*answers: Answer, name: str = "openai/of-our-own") -> tuple[Reply, Trying]:
    async with serving_judge(in_turn(answers)) as server:
        trying = Trying(server, name)
        return await trying.model.ask(CALL), trying


def error(status: int, message: str = "no", code: str = "", **headers: str) -> Answer:
    return Answer(
        status=status,
        error={"message": message, "code": code},
        headers={k.replace("_", "-"): v for k, v in headers.items()},
    )


async def test_a_reply_is_the_text_with_what_the_provider_told() -> None:
    used = {"prompt_tokens": 120, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 100}}
    reply, trying = await asked(replace(FINE, usage=used), name="openai/gpt-4o")
    assert (reply.text, reply.model) == ('{"score": 2}', "gpt-4o-stand-in")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (120, 30, 100)
    assert reply.usage.cost == pytest.approx(20 * 2.5e-6 + 100 * 1.25e-6 + 30 * 1e-5)
    assert [attempt.ended for attempt in reply.attempts] == ["ok"]
    body = trying.server.asked[0].body
    assert body["messages"] == [{"role": each.role, "content": each.content} for each in CALL.messages]
    assert (body["temperature"], body["seed"], body["max_completion_tokens"]) == (0, 7, 300)
    assert body["response_format"]["json_schema"] == {"name": "task_achievement", "schema": SCHEMA, "strict": True}


async def test_what_is_not_told_is_none_and_never_0() -> None:
    unpriced, _ = await asked(FINE)
    assert (unpriced.usage.input_tokens, unpriced.usage.cost, unpriced.usage.cached_tokens) == (120, None, None)
    untold, _ = await asked(replace(FINE, usage=None), name="openai/gpt-4o")
    assert untold.usage == type(untold.usage)()


@pytest.mark.parametrize("usage", [{"prompt_tokens": "many"}, {"prompt_tokens": -5, "completion_tokens": 1.5}])
async def test_an_answer_of_an_impossible_shape_is_no_reply(usage: dict[str, object]) -> None:
    failure, _ = await failed(replace(FINE, usage=usage))
    assert failure.cause == "no_reply"
    assert "Traceback" not in failure.message


async def test_a_model_without_schemas_is_asked_for_plain_json_and_one_without_a_seed_gets_none() -> None:
    _, plain = await asked(FINE, name="openai/gpt-3.5-turbo")
    assert plain.server.asked[0].body["response_format"] == {"type": "json_object"}
    _, reasoning = await asked(FINE, name="openai/o3")
    assert "temperature" not in reasoning.server.asked[0].body


async def test_what_a_route_refuses_is_left_out_from_then_on() -> None:
    answers = (
        error(400, "Unsupported parameter: 'temperature' is not supported with this model."),
        error(400, "Invalid schema for response_format 'task_achievement': 'minLength' is not permitted."),
        error(400, "response_format json_object is not available"),
        error(400, "Unsupported parameter: 'seed'"),
        error(400, "Unknown parameter: max_completion_tokens. Use 'max_tokens' instead."),
        FINE,
    )
    async with serving_judge(in_turn(answers)) as server:
        trying = Trying(server)
        model = trying.model
        reply = await model.ask(CALL)
        assert [attempt.ended for attempt in reply.attempts] == [*["bad_request"] * 5, "ok"]
        await model.ask(CALL)
    assert server.asked[-1].body.keys() == server.asked[-2].body.keys() == {"model", "messages", "max_tokens"}
    assert trying.waits == []


async def test_a_request_that_is_wrong_otherwise_is_made_once() -> None:
    failure, trying = await failed(error(400, "messages: role is unknown"))
    assert (failure.cause, len(trying.server.asked)) == ("bad_request", 1)
    assert failure.attempts[0].said == "400: messages: role is unknown"


PASSING = [
    (error(429, "slow down"), "rate_limited", "429: slow down"),
    (error(500, "boom"), "unreachable", "500: boom"),
    (Answer(raw="<html>bad gateway</html>", status=502), "unreachable", "502"),
    (error(529, "overloaded"), "unreachable", "529: overloaded"),
    (error(408, "too slow"), "timeout", "too slow"),
    (Answer(cut=True), "unreachable", "Not enough data"),
]


@pytest.mark.parametrize(("trouble", "cause", "said"), PASSING)
async def test_trouble_that_passes_is_tried_again_with_the_same_key(trouble: Answer, cause: str, said: str) -> None:
    reply, trying = await asked(trouble, FINE)
    assert [attempt.ended for attempt in reply.attempts] == [cause, "ok"]
    assert said in reply.attempts[0].said
    assert len({each.headers["idempotency-key"] for each in trying.server.asked}) == 1
    assert len(trying.waits) == 1
    assert trying.server.asked[0].body == trying.server.asked[1].body


@pytest.mark.parametrize(("trouble", "cause", "said"), PASSING[:2] + PASSING[-1:])
async def test_trouble_that_stays_ends_after_three_attempts(trouble: Answer, cause: str, said: str) -> None:
    failure, trying = await failed(trouble)
    assert failure.cause == cause
    assert [attempt.ended for attempt in failure.attempts] == [cause] * ATTEMPTS
    assert len(trying.server.asked) == ATTEMPTS
    assert said in failure.message


async def test_each_question_has_a_key_of_its_own() -> None:
    async with serving_judge(in_turn([FINE])) as server:
        model = Trying(server).model
        await asyncio.gather(model.ask(CALL), model.ask(CALL))
    assert len({each.headers["idempotency-key"] for each in server.asked}) == 2


async def test_waits_are_drawn_from_growing_bounds_and_repeat_for_the_same_seed() -> None:
    waits = [(await failed(error(500), call=replace(CALL, seed=seed)))[1].waits for seed in (1, 1, 2)]
    assert waits[0] == waits[1] != waits[2]
    assert all(0 <= wait <= bound for each in waits for wait, bound in zip(each, (1, 2), strict=True))


async def test_what_a_provider_asks_to_wait_is_waited_unless_it_is_too_long() -> None:
    _, short = await asked(error(429, Retry_After="7"), FINE)
    assert 7 <= short.waits[0] <= 8
    _, milliseconds = await asked(error(429, retry_after_ms="2500", Retry_After="9"), FINE)
    assert 2.5 <= milliseconds.waits[0] <= 3.5
    _, past = await asked(error(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), FINE)
    assert past.waits[0] <= 1
    failure, long = await failed(error(429, Retry_After="3600"))
    assert (failure.cause, long.waits, len(failure.attempts)) == ("rate_limited", [], 1)


async def test_a_server_that_hangs_is_given_up_at_the_time_set() -> None:
    failure, _ = await failed(Answer(hang=True), call=replace(CALL, timeout=0.2))
    assert [attempt.ended for attempt in failure.attempts] == ["timeout"] * ATTEMPTS
    assert all(attempt.seconds < 15 for attempt in failure.attempts)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with serving_judge(in_turn([FINE])) as server:
        trying = Trying(server)
    failure = await trying.failure()
    assert [attempt.ended for attempt in failure.attempts] == ["unreachable"] * ATTEMPTS
    assert "Connect call failed ('127.0.0.1'" in failure.message


LASTING = [
    (Answer(None, refusal="I cannot assess this run."), "refusal", "I cannot assess this run."),
    (Answer("", finish="content_filter"), "refusal", "content filter"),
    (error(400, "The response was filtered by the content management policy", "content_filter"), "refusal", "filtered"),
    (Answer('{"score": ', finish="length"), "cut_off", "limit of output tokens"),
    (Answer(None, finish="length"), "cut_off", "limit of output tokens"),
    (Answer(""), "no_reply", "empty"),
    (Answer(" \n\t"), "no_reply", "empty"),
    (Answer(None), "no_reply", "empty"),
    (
        Answer(
            raw='{"id": "x", "object": "chat.completion", "model": "m", "choices": []}',
            headers={"Content-Type": "application/json"},
        ),
        "no_reply",
        "no choice",
    ),
    (Answer(raw="<html>a portal</html>"), "no_reply", "html"),
    (Answer(raw="{", headers={"Content-Type": "application/json"}), "no_reply", ""),
    (Answer(raw="[1, 2]", headers={"Content-Type": "application/json"}), "no_reply", "[1, 2]"),
    (error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"), "too_long", "8192"),
    (error(413, "Request too large"), "too_long", "413"),
    (error(401, "Incorrect API key provided"), "credentials", "401"),
    (error(403, "Forbidden for this project"), "credentials", "403"),
    (error(404, "The model does not exist", "model_not_found"), "bad_request", "does not exist"),
    (error(429, "You exceeded your current quota", "insufficient_quota"), "rate_limited", "quota"),
]


@pytest.mark.parametrize(("trouble", "cause", "said"), LASTING)
async def test_trouble_that_asking_again_would_not_end_is_named_at_once(trouble: Answer, cause: str, said: str) -> None:
    failure, trying = await failed(trouble)
    assert (failure.cause, len(trying.server.asked), trying.waits) == (cause, 1, [])
    assert said.lower() in failure.message.lower()


async def test_a_reply_that_cannot_be_used_has_cost_what_it_has_cost() -> None:
    failure, _ = await failed(Answer("{", finish="length"))
    assert (failure.usage.input_tokens, failure.usage.output_tokens) == (120, 30)


async def test_whatever_the_text_is_it_comes_whole() -> None:
    for text in ("```json\n{}\n```", '{"score": 1} {"score": 2}', " " * 200_000 + "x", '"\u2028\x00\\ud800"', "null"):
        assert (await asked(Answer(text)))[0].text == text


async def test_no_key_is_repeated_in_what_is_kept() -> None:
    said = "Incorrect API key provided: sk-proj-Zx81kQpLmN47vTyRbC29wEfGhJ.\n" + "x" * 5_000
    failure, _ = await failed(error(401, said))
    assert "Zx81kQpLmN47" not in failure.message
    assert len(failure.attempts[0].said) <= 320


async def test_a_missing_key_is_a_matter_of_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    failure, trying = await failed(FINE)
    assert (failure.cause, trying.server.asked) == ("credentials", [])


async def test_the_base_url_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving_judge(in_turn([FINE])) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        assert (await model_of("openai/of-our-own").ask(CALL)).text == FINE.text


async def test_anothers_protocol_fails_by_the_same_causes() -> None:
    left = [(529, "Overloaded"), (429, "slow down"), (401, "invalid x-api-key")]

    async def handler(request: web.Request) -> web.Response:
        status, message = left.pop(0)
        return web.json_response({"type": "error", "error": {"type": "any", "message": message}}, status=status)

    async with serving(handler) as url:
        trying = Trying(Served(url, []), "anthropic/claude-sonnet-4-5")
        failure = await trying.failure()
    assert [attempt.ended for attempt in failure.attempts] == ["unreachable", "rate_limited", "credentials"]
    assert "invalid x-api-key" in failure.message


async def test_a_stand_in_behind_the_server_answers_as_it_does_in_person() -> None:
    question = call(*results("the order was cancelled"))
    async with serving_judge(by_model(stand_in("stand-in/obedient"))) as server:
        over_http = await Trying(server).model.ask(question)
    assert over_http.text == (await stand_in("stand-in/obedient").ask(question)).text
    assert over_http.usage.cost is None


@pytest.mark.parametrize("name", ["", "nobody/model", "a model", "/"])
def test_a_name_of_no_provider_is_refused_before_anything_is_asked(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as raised:
        model_of(name)
    assert raised.value.code == "unknown_model"
    assert capfd.readouterr() == ("", "")


def test_without_litellm_the_way_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(UsageError, match="litellm") as raised:
        model_of("openai/gpt-4o")
    assert raised.value.fix == "Install it with: pip install 'proctor[llm]'"


@pytest.mark.parametrize("name", ["gemini/gemini-2.5-pro", "azure/gpt-4o", "anthropic/claude-sonnet-4-5"])
async def test_each_providers_missing_key_is_a_matter_of_credentials(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    async with serving_judge(in_turn([FINE])) as server:
        failure = await Trying(server, name).failure()
    assert (failure.cause, len(failure.attempts), server.asked) == ("credentials", 1, [])


async def test_a_judges_traffic_is_recorded_and_replayed_like_any_other(project: Project) -> None:
    async with serving_judge(in_turn([error(429, Retry_After="1"), FINE])) as server:
        project.configure(f'[services.llm]\npreset = "openai"\nurl = "{server.url}"\n')
        async with session(project, "judge", "record") as recording:
            first = await Trying(Served(recording.url("llm"), [])).model.ask(CALL)
            await recording.close()
    async with session(project, "judge", "replay") as replaying:
        again = await Trying(Served(replaying.url("llm"), [])).model.ask(CALL)
        summary = await replaying.close()
    assert [attempt.ended for attempt in first.attempts] == ["rate_limited", "ok"]
    assert [attempt.ended for attempt in again.attempts] == ["ok"]
    assert (again.text, again.model, again.usage) == (first.text, first.model, first.usage)
    assert (summary.hits, summary.misses) == (1, ())
    assert "Zx81kQpLmN47" not in project.layout.cassette("judge").read_text()
