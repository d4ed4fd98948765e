"""By whatever a client names its session, its conversation gets there, and nowhere else."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, get_args

import openai
import pytest

from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.errors import UsageError
from proctor.proxy.server import start_proxy
from proctor.wire import KEY_MARK, SESSION_HEADER, CarrierName, Mode, SessionInfo, SessionSpec
from tests.integration.proxy.carrying import CLIENTS, REAL_KEY, TOML, Model, Way, way, with_openai
from tests.support import Project, serving

FIRST = [{"role": "user", "content": "Where is my order?"}]
TALKS = 15
DUMMY = "a-key-that-is-no-one's"


@asynccontextmanager
async def control_of(project: Project) -> AsyncIterator[ControlClient]:
    proxy = await start_proxy(load_config(project.root / CONFIG_NAME))
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            yield control
    finally:
        await proxy.close()


async def opened(control: ControlClient, count: int, mode: Mode) -> list[SessionInfo]:
    return [await control.open(SessionSpec(cassette=f"t{n}", modes={"llm": mode})) for n in range(count)]


async def closed(control: ControlClient, infos: Sequence[SessionInfo]) -> list[Any]:
    return [await control.close(info.session, 0) for info in infos]


async def talk(asked: Way) -> list[str]:
    """Two turns; the first is the same in every conversation."""
    first = await with_openai(asked, FIRST)
    said = {"role": "assistant", "content": first}
    return [first, await with_openai(asked, [*FIRST, said, {"role": "user", "content": "And then?"}])]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("carrier", get_args(CarrierName))
async def test_each_client_is_recorded_and_replayed_by_each_carrier(
    project: Project, monkeypatch: pytest.MonkeyPatch, client: str, carrier: CarrierName
) -> None:
    if client == "curl" and shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    model = Model()
    monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
    async with serving(model.answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            infos = await opened(control, 2, "record")
            for info in infos:
                await control.bind_current(info.session if carrier == "current" else None)
                recorded = await CLIENTS[client](way(carrier, info), FIRST)
                assert (await control.close(info.session, 0)).sealed
    assert recorded == "This is answer 2."
    assert [headers["Authorization"] for headers in model.seen] == [f"Bearer {REAL_KEY}"] * 2
    assert not [name for headers in model.seen for name in headers if name.lower().startswith("x-proctor")]
    text = project.layout.cassette("t1").read_text(encoding="utf-8")
    assert not [secret for secret in (REAL_KEY, KEY_MARK, SESSION_HEADER, infos[1].session) if secret in text]
    monkeypatch.delenv("OPENAI_API_KEY")
    async with control_of(project) as control:
        infos = await opened(control, 2, "replay")
        if carrier == "current":
            await control.bind_current(infos[1].session)
        assert await CLIENTS[client](way(carrier, infos[1], DUMMY), FIRST) == recorded
        other, own = await closed(control, infos)
    assert (other.exchanges, own.hits, own.misses, own.errors) == (0, 1, (), ())


@pytest.mark.parametrize("carrier", ["path", "header", "key"])
async def test_fifteen_conversations_at_once_with_the_same_first_prompt_stay_apart(
    project: Project, monkeypatch: pytest.MonkeyPatch, carrier: CarrierName
) -> None:
    model = Model(at_once=TALKS)
    monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
    async with serving(model.answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            infos = await opened(control, TALKS, "record")
            recorded = await asyncio.gather(*(talk(way(carrier, info)) for info in infos))
            assert all(summary.sealed for summary in await closed(control, infos))
    assert len({answer for said in recorded for answer in said}) == 2 * TALKS
    assert {headers["Authorization"] for headers in model.seen} == {f"Bearer {REAL_KEY}"}
    for number, said in enumerate(recorded):
        bodies = [each.response.body.decode() for each in project.tape(f"t{number}").interactions]
        assert [answer in body for answer, body in zip(said, bodies, strict=True)] == [True, True]
    monkeypatch.delenv("OPENAI_API_KEY")
    async with control_of(project) as control:
        infos = await opened(control, TALKS, "replay")
        replayed = await asyncio.gather(*(talk(way(carrier, info, DUMMY)) for info in reversed(infos)))
        summaries = await closed(control, infos)
    assert list(reversed(replayed)) == recorded
    assert [(summary.hits, summary.misses) for summary in summaries] == [(2, ())] * TALKS


async def test_what_two_carriers_contradict_is_refused_and_fails_both_sessions_and_no_other(project: Project) -> None:
    model = Model()
    async with serving(model.answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            one, two, three = await opened(control, 3, "record")
            named = {SESSION_HEADER: two.session}
            for asked in (
                Way(f"{one.url}/llm", DUMMY, named),
                Way(f"{one.url}/llm", two.key, {}),
                Way(f"{one.current_url}/llm", one.key, named),
            ):
                with pytest.raises(openai.NotFoundError, match="names session") as refused:
                    await with_openai(asked, FIRST)
                assert refused.value.response.headers["x-proctor-error"] == "carriers_contradict"
            await with_openai(way("header", three), FIRST)
            summaries = await closed(control, (one, two, three))
    assert model.seen[0]["Authorization"] == f"Bearer {REAL_KEY}"
    assert [{miss.code for miss in each.misses} for each in summaries] == [{"carriers_contradict"}] * 2 + [set()]
    assert [sum(miss.count for miss in each.misses) for each in summaries] == [3, 3, 0]
    assert [bool(each.sealed) for each in summaries] == [False, False, True]
    told = summaries[0].misses[0].message
    assert told.endswith(
        f'the path names session "{one.session}", the header {SESSION_HEADER} names session "{two.session}"'
    )


async def test_carriers_that_agree_are_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
    async with serving(Model().answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            one, _ = await opened(control, 2, "record")
            await with_openai(Way(f"{one.url}/llm", one.key, {SESSION_HEADER: one.session}), FIRST)
            assert (await control.close(one.session, 0)).sealed


@pytest.mark.parametrize("carrier", ["header", "key"])
async def test_a_carrier_that_names_no_open_session_fails_every_one_that_is(
    project: Project, carrier: CarrierName
) -> None:
    project.configure(TOML.format(url="http://127.0.0.1:9"))
    async with control_of(project) as control:
        (one,) = await opened(control, 1, "record")
        nobody = one.model_copy(update={"session": "nobody", "key": f"{KEY_MARK}nobody"})
        with pytest.raises(openai.NotFoundError, match='no session "nobody"'):
            await with_openai(way(carrier, nobody), FIRST)
        assert [miss.code for miss in (await control.close(one.session, 0)).misses] == ["stray_request"]
        with pytest.raises(openai.APIStatusError, match="is closed") as gone:
            await with_openai(way(carrier, one), FIRST)
        assert gone.value.status_code == 410


async def test_a_session_s_key_is_never_sent_to_a_service_whose_own_nobody_knows(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()
    async with serving(model.answer) as url:
        two = 'identities = {{ alice = "env:ALICE", bob = "env:BOB" }}\n'
        for more, code in (("", "session_key_unbacked"), (two, "session_key_ambiguous")):
            project.configure((TOML + more).format(url=url))
            async with control_of(project) as control:
                (one,) = await opened(control, 1, "record")
                with pytest.raises(openai.AuthenticationError, match="a session's key"):
                    await with_openai(way("key", one), FIRST)
                summary = await control.close(one.session, 0)
            assert ([error.code for error in summary.errors], summary.sealed) == ([code], "")
        project.configure((TOML + 'identities = {{ alice = "env:ALICE" }}\n').format(url=url))
        monkeypatch.setenv("ALICE", "the-key-of-alice")
        async with control_of(project) as control:
            (one,) = await opened(control, 1, "live")
            await with_openai(way("key", one), FIRST)
            await control.close(one.session, 0)
    assert [headers["Authorization"] for headers in model.seen] == ["Bearer the-key-of-alice"]


@pytest.mark.parametrize("header", ["Authorization", "X-Service-Key"])
async def test_a_key_gives_way_to_the_credential_that_proctor_puts_on(
    project: Project, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    model = Model()
    monkeypatch.setenv("PUT_ON", "the-credential-that-is-put-on")
    async with serving(model.answer) as url:
        project.configure(f'{TOML.format(url=url)}credential = {{ value = "env:PUT_ON", header = "{header}" }}\n')
        async with control_of(project) as control:
            one, _ = await opened(control, 2, "record")
            recorded = await with_openai(way("key", one), FIRST)
            assert (await control.close(one.session, 0)).sealed
    (seen,) = model.seen
    assert seen["Authorization"] == "Bearer the-credential-that-is-put-on"
    assert seen[header].endswith("the-credential-that-is-put-on")
    assert not [value for value in seen.values() if KEY_MARK in value]
    text = project.layout.cassette("t0").read_text(encoding="utf-8")
    assert not [secret for secret in ("the-credential-that-is-put-on", KEY_MARK, one.session) if secret in text]
    monkeypatch.delenv("PUT_ON")
    async with control_of(project) as control:
        (one,) = await opened(control, 1, "replay")
        assert await with_openai(way("key", one), FIRST) == recorded
        assert (await control.close(one.session, 0)).misses == ()


@pytest.mark.parametrize("header", ["x-api-key", "api-key", "x-goog-api-key"])
async def test_the_key_may_come_in_any_header_that_holds_one_and_in_both_of_two(
    project: Project, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    model = Model()
    monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
    async with serving(model.answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            one, _ = await opened(control, 2, "record")
            await with_openai(Way(f"{one.current_url}/llm", one.key, {header.upper(): one.key}), FIRST)
            assert (await control.close(one.session, 0)).sealed
    (seen,) = model.seen
    assert (seen["Authorization"], seen[header.upper()]) == (f"Bearer {REAL_KEY}", REAL_KEY)


async def test_current_is_bound_to_one_session_at_a_time_until_it_is_bound_anew(project: Project) -> None:
    async with serving(Model().answer) as url:
        project.configure(TOML.format(url=url))
        async with control_of(project) as control:
            one, two = await opened(control, 2, "record")
            asked = Way(f"{one.current_url}/llm", REAL_KEY, {})
            assert one.current_url == two.current_url
            await control.bind_current(one.session)
            await control.bind_current(one.session)
            with pytest.raises(UsageError, match=f'bound to session "{one.session}", which is open'):
                await control.bind_current(two.session)
            await with_openai(asked, FIRST)
            assert (await control.close(one.session, 0)).recorded == 1
            with pytest.raises(openai.APIStatusError, match="which is closed") as late:
                await with_openai(asked, FIRST)
            assert late.value.status_code == 410
            with pytest.raises(UsageError, match="closed"):
                await control.bind_current(one.session)
            with pytest.raises(UsageError, match="nobody"):
                await control.bind_current("nobody")
            await control.bind_current(two.session)
            await with_openai(asked, FIRST)
            summary = await control.close(two.session, 0)
            assert (summary.recorded, summary.misses, bool(summary.sealed)) == (1, (), True)
            await control.bind_current(None)
            (three,) = await opened(control, 1, "record")
            await with_openai(asked, FIRST)
            assert (await control.close(three.session, 0)).recorded == 1


async def test_where_two_are_open_and_none_is_bound_the_refusal_says_what_to_do(project: Project) -> None:
    project.configure(TOML.format(url="http://127.0.0.1:9"))
    async with control_of(project) as control:
        infos = await opened(control, 2, "record")
        with pytest.raises(openai.NotFoundError) as refused:
            await with_openai(way("current", infos[0]), FIRST)
        told = str(refused.value)
        assert "_current is bound to no session, and 2 are open" in told
        assert "PUT /_proctor/current" in told
        assert [[miss.code for miss in each.misses] for each in await closed(control, infos)] == [["stray_request"]] * 2
