"""Each kind of fault as the user of a real client sees it: httpx and the SDK of openai.

That of anthropic is in tests/clients/test_client_faults.py: it runs in the clients' own environment.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest

from proctor.fault_plan import FaultPlanSpec
from tests.integration.faults.support import ORDER, TEXT, question, recorded, replaying
from tests.support import Project, Running

KEY = "sk-of-the-tests-0123456789"


@pytest.fixture
async def tape(project: Project) -> Project:
    await recorded(project, False, True)
    return project


async def query(run: Running, patience: float = 30) -> httpx.Response:
    async with httpx.AsyncClient(timeout=patience, trust_env=False) as client:
        return await client.post(run.url("orders", "/tools/query_order"), json={"order": "A-1"})


async def client_of(run: Running, **more: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=run.url("openai"), api_key=KEY, **{"max_retries": 0, **more})


async def ask(run: Running, stream: bool = False, **more: Any) -> Any:
    async with await client_of(run, **more) as client:
        answer: Any = await client.chat.completions.create(**question(stream))
        return await words(answer) if stream else answer


async def hear(client: openai.AsyncOpenAI, heard: list[str]) -> None:
    stream: Any = await client.chat.completions.create(**question(True))
    async for chunk in stream:
        heard.append(chunk.choices[0].delta.content or "")


async def words(stream: AsyncIterator[Any]) -> str:
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ("timeout", httpx.ReadTimeout),
        ("timeout@0.05", httpx.RemoteProtocolError),
        ("reset", httpx.ReadError),
        ("truncated", httpx.RemoteProtocolError),
    ],
)
async def test_a_connection_that_fails_fails_in_httpx_as_real_ones_do(
    tape: Project, fault: str, raised: type[Exception]
) -> None:
    async with replaying(tape, f"query_order={fault}") as run:
        with pytest.raises(raised):
            await query(run, patience=0.1 if fault == "timeout" else 30)
        assert (await query(run)).json() == ORDER
        summary = await run.close()
    assert [(fired.kind, fired.call, fired.index) for fired in summary.faults] == [(fault.partition("@")[0], 1, 0)]
    assert (summary.faulted, summary.hits, summary.faults_unfired) == (1, 1, ())


@pytest.mark.req(201, 227)
@pytest.mark.parametrize(
    ("fault", "status", "headers", "body"),
    [
        (
            "503",
            503,
            {},
            {"error": "service_unavailable", "message": "The service is overloaded. Please try again later."},
        ),
        ("error", 500, {}, None),
        ("rate_limited", 429, {"retry-after": "1"}, None),
        ("expired_token", 401, {"www-authenticate": 'Bearer error="invalid_token"'}, None),
        ("empty", 200, {}, {**ORDER, "lines": []}),
    ],
)
async def test_an_answer_that_is_no_good_comes_with_its_status_and_body(
    tape: Project, fault: str, status: int, headers: dict[str, str], body: Any
) -> None:
    async with replaying(tape, f"query_order={fault}") as run:
        got = await query(run)
        assert (await query(run)).json() == ORDER
    assert got.status_code == status
    assert got.headers["x-proctor-fault"] == ("error" if fault == "503" else fault)
    assert {name: got.headers[name].startswith(value) for name, value in headers.items()} == dict.fromkeys(
        headers, True
    )
    assert got.json() == body if body is not None else set(got.json()) == {"error", "message"}


async def test_a_body_of_one_s_own_comes_as_it_is_written(tape: Project) -> None:
    told = {"fault": [{"tool": "query_order", "kind": "error", "status": 200, "body": {"code": 40101}}]}
    async with replaying(tape, FaultPlanSpec.model_validate(told)) as run:
        got = await query(run)
    assert (got.status_code, got.json()) == (200, {"code": 40101})


@pytest.mark.req(227)
async def test_a_malformed_answer_is_the_recorded_one_that_ends_too_soon(tape: Project) -> None:
    async with replaying(tape, "query_order=malformed") as run:
        got = await query(run)
    assert got.status_code == 200
    assert json.dumps(ORDER).startswith(got.text)
    with pytest.raises(json.JSONDecodeError):
        got.json()


async def test_an_answer_of_a_wrong_type_is_the_recorded_one_but_for_one_field(tape: Project) -> None:
    async with replaying(tape, "query_order=wrong_type") as run:
        got = (await query(run)).json()
    assert got == {**ORDER, "lines": {"0": {"sku": "A"}, "1": {"sku": "B"}}}


async def test_a_slow_answer_is_late_and_right(tape: Project) -> None:
    async with replaying(tape, "query_order=slow@0.05") as run:
        assert (await query(run)).json() == ORDER
        summary = await run.close()
    (late,) = tape.trace(run.info.session)
    assert (late.source, late.fault, late.matched, late.result) == ("replay", "slow", 0, ORDER)
    assert late.seconds >= late.fault_seconds >= 0.05
    assert (summary.faulted, summary.hits, [fired.kind for fired in summary.faults]) == (0, 1, ["slow"])


@pytest.mark.parametrize("fault", ["slow@600", "timeout@600"])
async def test_a_session_that_closes_waits_for_no_fault(tape: Project, fault: str) -> None:
    async with replaying(tape, f"query_order={fault}") as run:
        with pytest.raises(httpx.ReadTimeout):
            await query(run, patience=0.1)
        summary = await run.close()
    (row,) = tape.trace(run.info.session)
    assert (row.fault, summary.exchanges) == (fault.partition("@")[0], 1)
    assert row.fault_seconds < 600


@pytest.mark.parametrize(
    ("fault", "raised", "more"),
    [
        ("timeout", openai.APITimeoutError, {"timeout": 0.2}),
        ("reset", openai.APIConnectionError, {}),
        ("truncated", openai.APIConnectionError, {}),
        ("error", openai.InternalServerError, {}),
        ("400", openai.BadRequestError, {}),
        ("rate_limited", openai.RateLimitError, {}),
        ("expired_token", openai.AuthenticationError, {}),
        ("malformed", json.JSONDecodeError, {}),
    ],
)
@pytest.mark.parametrize("mode", ["replay", "live"])
async def test_the_openai_sdk_raises_what_it_really_raises(
    tape: Project, fault: str, raised: type[Exception], more: dict[str, Any], mode: Any
) -> None:
    async with replaying(tape, f"openai={fault}", modes={"openai": mode}) as run:
        with pytest.raises(raised) as seen:
            await ask(run, **more)
        if mode == "replay":
            assert (await ask(run)).choices[0].message.content == TEXT
    if isinstance(seen.value, openai.APIStatusError):
        assert isinstance(seen.value.body, dict)
        assert {"message", "type", "param", "code"} == set(seen.value.body)


@pytest.mark.parametrize("mode", ["replay", "live"])
async def test_the_openai_sdk_gives_an_answer_without_choices_or_with_choices_that_are_no_list(
    tape: Project, mode: Any
) -> None:
    async with replaying(tape, "openai=empty, openai:2=wrong_type", modes={"openai": mode}) as run:
        assert (await ask(run)).choices == []
        assert isinstance((await ask(run)).choices, dict)


async def test_the_openai_sdk_gets_over_a_fault_by_its_own_retries(tape: Project) -> None:
    async with replaying(tape, "openai=503") as run:
        assert (await ask(run, max_retries=1)).choices[0].message.content == TEXT
        summary = await run.close()
    assert ([fired.call for fired in summary.faults], summary.hits) == ([1], 1)


@pytest.mark.parametrize("mode", ["replay", "live"])
@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ("truncated", openai.APIConnectionError),
        ("malformed", json.JSONDecodeError),
        ("reset", openai.APIConnectionError),
        ("rate_limited", openai.RateLimitError),
    ],
)
async def test_a_stream_of_the_openai_sdk_breaks_where_the_fault_is(
    tape: Project, fault: str, raised: type[Exception], mode: Any
) -> None:
    heard: list[str] = []
    async with replaying(tape, f"openai={fault}", modes={"openai": mode}) as run, await client_of(run) as client:
        with pytest.raises(raised):
            await hear(client, heard)
        if mode == "replay":
            assert TEXT.startswith("".join(heard).strip())
            assert await ask(run, stream=True) == f"{TEXT} "
    assert heard or fault != "truncated"


@pytest.mark.parametrize("stream", [False, True])
async def test_the_openai_sdk_gets_a_slow_answer_whole(tape: Project, stream: bool) -> None:
    async with replaying(tape, "openai=slow@0.05") as run:
        answer = await ask(run, stream=stream)
        summary = await run.close()
    assert (answer if stream else answer.choices[0].message.content).strip() == TEXT
    assert [fired.kind for fired in summary.faults] == ["slow"]


@pytest.mark.parametrize("mode", ["replay", "live"])
async def test_a_stream_of_a_wrong_type_is_not_taken_for_a_right_one(tape: Project, mode: Any) -> None:
    async with replaying(tape, "openai=wrong_type", modes={"openai": mode}) as run:
        with pytest.raises((AttributeError, TypeError, KeyError)):
            await ask(run, stream=True)


async def test_an_empty_stream_has_no_event(tape: Project) -> None:
    async with replaying(tape, "openai=empty") as run:
        assert await ask(run, stream=True) == ""


ANTHROPIC = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Where is A-1?"}]}


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("error", 500, "api_error"),
        ("529", 529, "overloaded_error"),
        ("rate_limited", 429, "rate_limit_error"),
        ("expired_token", 401, "authentication_error"),
        ("404", 404, "not_found_error"),
    ],
)
async def test_errors_of_anthropic_are_in_its_own_words(project: Project, fault: str, status: int, kind: str) -> None:
    await recorded(project)
    async with (
        replaying(project, f"anthropic={fault}", modes={"anthropic": "live", "openai": "live"}) as run,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        got = await client.post(run.url("anthropic", "/v1/messages"), json=ANTHROPIC)
    assert (got.status_code, got.json()["type"], got.json()["error"]["type"]) == (status, "error", kind)
