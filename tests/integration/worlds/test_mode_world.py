"""A service in mode `world`, as an agent and its launcher see it."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.errors import UsageError
from proctor.proxy.server import start_proxy
from proctor.summary import ending
from proctor.wire import SessionSpec
from tests.integration.worlds.support import PLACE, asked, with_shop
from tests.support import Project, serving, session


@pytest.mark.req(104)
async def test_calls_are_traced_and_counted_as_the_world_s(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        assert run.info.set_up == "world"
        assert (await asked(run, "cancel_order", "alice", order_id="A1"))[0] == 200
        assert (await asked(run, "cancel_order", "alice", order_id="none"))[0] == 404
        assert (await asked(run, "query_order", order_id="A1"))[1]["status"] == "cancelled"
        summary = await run.close()
    assert (summary.worlds, summary.exchanges, summary.errors, summary.set_up) == (3, 3, (), "world")
    assert ending(summary, 0).status == 0
    wrote, refused, read = project.trace(summary.session)
    assert (wrote.source, wrote.tool, wrote.effect, wrote.effect_why) == ("world", "cancel_order", "write", "declared")
    assert wrote.changed == ("/orders/A1/status", "/orders/A1/tags/by")
    assert (wrote.arguments, wrote.result["status"]) == ({"order_id": "A1"}, "cancelled")
    assert (refused.status, refused.result["error"], refused.changed) == (404, "order_not_found", ())
    assert (read.effect, read.changed) == ("read", ())
    left = json.loads((project.layout.sessions / summary.session / "worlds.json").read_text())
    assert left["shop"]["state"]["orders"]["A1"]["status"] == "cancelled"
    assert [write["tool"] for write in left["shop"]["log"]] == ["cancel_order"]


async def test_the_tool_list_is_what_a_model_s_api_takes(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        async with run.http.get(run.url("shop", "/tools")) as answer:
            plain = [each["function"]["name"] for each in await answer.json()]
        async with run.http.get(run.url("shop", "/tools?distractors=2")) as answer:
            more = [each["function"]["name"] for each in await answer.json()]
        assert len(more) == len(plain) + 2
        (first, *_) = set(more) - set(plain)
        assert (await asked(run, first))[1]["error"] == "tool_unavailable"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/tools?distractors=-1", 422, "argument_value"),
        ("DELETE", "/tools", 405, "method_not_allowed"),
        ("GET", "/tools/query_order", 404, "path_unknown"),
        ("POST", "/other", 404, "path_unknown"),
        ("POST", "/tools/query_ordr", 404, "tool_unknown"),
    ],
)
async def test_a_request_that_reaches_no_tool_is_refused_and_traced(
    project: Project, method: str, path: str, status: int, code: str
) -> None:
    async with session(with_shop(project), "case", "world") as run:
        async with run.http.request(method, run.url("shop", path)) as answer:
            assert (answer.status, (await answer.json())["error"]) == (status, code)
        summary = await run.close()
    (row,) = project.trace(summary.session)
    assert (row.source, row.status, row.result["error"]) == ("world", status, code)


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b'{"order_id":\n "A1"}', {}, 200),
        (gzip.compress(b'{"order_id": "A1"}', mtime=0), {"Content-Encoding": "gzip"}, 200),
        (b"no gzip", {"Content-Encoding": "gzip"}, 400),
        (b"\xff\x00", {}, 400),
        (b'{"order_id": "A1"', {}, 400),
        (b'{"order_id": "\xed\xa0\x80"}', {}, 400),
        (b"", {}, 422),
    ],
)
async def test_odd_bodies_are_answered_and_leave_a_whole_row(
    project: Project, body: bytes, headers: dict[str, str], status: int
) -> None:
    async with session(with_shop(project), "case", "world") as run:
        async with run.http.post(run.url("shop", "/tools/query_order"), data=body, headers=headers) as answer:
            assert answer.status == status
        summary = await run.close()
    (row,) = project.trace(summary.session)
    assert row.status == status


@pytest.mark.req(70)
async def test_who_calls_is_told_by_the_identity_that_the_service_sees(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALICE_TOKEN", "real-token-of-alice-58213")
    async with session(with_shop(project), "case", "world") as run:
        tool = run.url("shop", "/tools/cancel_order")
        for value, status in (
            ("Bearer real-token-of-alice-58213", 200),
            ("Bearer proctor-world-bob", 200),
            ("Bearer proctor-world-owner", 403),
            ("Bearer somebody-else-entirely", 401),
        ):
            async with run.http.post(tool, data=b'{"order_id": "A1"}', headers={"Authorization": value}) as answer:
                assert answer.status == status, value
        assert (await asked(run, "cancel_order", order_id="A1"))[0] == 403
        assert (await run.control.world(run.info.session, "shop")).state["orders"]["A1"]["tags"] == {"by": "bob"}
        summary = await run.close()
    left = b"".join(path.read_bytes() for path in (project.layout.sessions / summary.session).iterdir())
    assert b"58213" not in left


async def test_a_secret_among_the_arguments_stays_out_of_what_is_written(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        secret = "s3cr3t-Xk29vQpL77wz"
        status, _ = await asked(run, "query_order", order_id="A1", password=secret)
        assert status == 422
        await asked(run, "query_order", order_id=secret)
        summary = await run.close()
    rows = project.trace(summary.session)
    assert rows[0].arguments["password"] == rows[1].arguments["order_id"] != secret
    assert secret not in (project.layout.sessions / summary.session / "trace.jsonl").read_text()


async def test_a_world_s_token_stands_in_the_trace_as_the_agent_had_it(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        _, token = await asked(run, "get_token")
        await asked(run, "create_refund", "alice", order_id="A1", amount="1", token=token)
        summary = await run.close()
    fetched, used = project.trace(summary.session)
    assert fetched.result == used.arguments["token"] == token


@pytest.mark.parametrize("tool", ["break_down", "lie"])
async def test_a_world_that_fails_is_the_platform_s_error_and_the_session_goes_on(project: Project, tool: str) -> None:
    async with session(with_shop(project), "case", "world") as run:
        before = (await run.control.world(run.info.session, "shop")).state
        status, told = await asked(run, tool, **({"how": "throw"} if tool == "break_down" else {}))
        assert (status, told["error"]) == (500, "world_failed" if tool == "break_down" else "world_effect")
        assert "traceback" not in json.dumps(told)
        assert (await run.control.world(run.info.session, "shop")).state == before
        assert (await asked(run, "query_order", order_id="A1"))[0] == 200
        summary = await run.close()
    end = ending(summary, 0)
    assert end.status == 4
    assert tool in end.reasons[0]
    failed, fine = project.trace(summary.session)
    assert (failed.source, failed.tool, failed.status, fine.status) == ("world", tool, 500, 200)
    assert failed.error is not None
    assert ('raise KeyError("gone")' in failed.error.get("traceback", "")) == (tool == "break_down")


@pytest.mark.req(222)
async def test_state_diff_and_log_are_told_and_reset_over_the_control_api(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        start = await run.control.world(run.info.session, "shop")
        assert (start.diff, start.log, start.calls) == ([], (), 0)
        _, placed = await asked(run, "place_order", **PLACE)
        await asked(run, "list_orders")
        now = await run.control.world(run.info.session, "shop")
        number = placed["order_id"]
        assert now.state["orders"][number]["lines"] == [{"sku": "TV01", "quantity": 1}]
        assert [step["path"] for step in now.diff] == [f"/orders/{number}", "/notes/0", "/stock"]
        assert [(each.call, each.tool) for each in now.log] == [(1, "place_order")]
        assert now.calls == 2
        assert (await run.control.reset_world(run.info.session, "shop")).writes == 1
        assert await run.control.world(run.info.session, "shop") == start
        assert (await asked(run, "place_order", **PLACE))[1] == placed
        with pytest.raises(UsageError) as unknown:
            await run.control.world(run.info.session, "shpo")
        assert (unknown.value.code, unknown.value.fix) == ("unknown_world", 'did you mean "shop"?')


@pytest.mark.req(131, 132)
async def test_the_case_gives_the_state_and_its_name_the_seed(project: Project) -> None:
    given = {"shop": {"orders": {"{id:ORD:mine}": {"owner": "alice"}}}}
    seen: list[Any] = []
    for cassette in ("one", "one", "two"):
        async with session(with_shop(project), cassette, "world", worlds=given) as run:
            number = run.info.ids["shop"]["{id:ORD:mine}"]
            status, order = await asked(run, "query_order", order_id=number)
            assert (status, order["owner"]) == (200, "alice")
            seen.append((run.info.seed, number, (await asked(run, "roll_dice"))[1], (await asked(run, "get_token"))[1]))
    assert seen[0] == seen[1]
    assert not set(map(str, seen[0])) & set(map(str, seen[2]))


async def test_what_is_recorded_beside_a_world_is_sealed_without_it(project: Project) -> None:
    async def fine(_: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async with serving(fine) as url:
        with_shop(project, f'[services.real]\nurl = "{url}"\n')
        async with session(project, "tape", "world", {"real": "record"}) as run:
            async with run.http.get(run.url("real", "/x")) as answer:
                assert answer.status == 200
            for _ in range(2):
                assert (await asked(run, "query_order", order_id="none"))[0] == 404
            assert (await asked(run, "cancel_order", order_id="A1"))[0] == 403
            summary = await run.close()
    assert summary.sealed
    assert (summary.recorded, summary.worlds) == (1, 3)
    assert [each.request.service for each in project.tape("tape").interactions] == ["real"]
    assert [row.source for row in project.trace(summary.session)] == ["record", "world", "world", "world"]
    assert (project.layout.sessions / summary.session / "worlds.json").is_file()


async def test_calls_at_the_same_time_come_one_after_the_other(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        answers = await asyncio.gather(*(asked(run, "place_order", **PLACE) for _ in range(20)))
        assert sorted(status for status, _ in answers) == [200] * 5 + [409] * 15
        now = await run.control.world(run.info.session, "shop")
        assert now.state["stock"] == 0
        assert len({told["order_id"] for status, told in answers if status == 200}) == 5
        assert len(now.log) == 5


async def test_sixty_four_sessions_never_see_each_other(project: Project) -> None:
    with_shop(project)
    proxy = await start_proxy(load_config(project.root / CONFIG_NAME))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(proxy.close)
        control = await stack.enter_async_context(ControlClient(proxy.url, proxy.token))
        spec = SessionSpec(cassette="case", modes={"shop": "world"})
        infos = [await control.open(spec.model_copy(update={"seed": number})) for number in range(64)]
        session_ids = [info.session for info in infos]
        http = await stack.enter_async_context(aiohttp.ClientSession())

        async def place(url: str, times: int) -> list[str]:
            made = []
            for _ in range(times):
                async with http.post(f"{url}/shop/tools/place_order", json=PLACE) as answer:
                    made.append((await answer.json())["order_id"])
            return made

        made = await asyncio.gather(*(place(info.url, 1 + number % 3) for number, info in enumerate(infos)))
        assert len({each for one in made for each in one}) == sum(map(len, made))
        for session_id, orders in zip(session_ids, made, strict=True):
            assert list((await control.world(session_id, "shop")).state["orders"]) == ["A1", "A2", *orders]


async def test_a_command_finds_the_world_and_a_key_for_each_identity(project: Project) -> None:
    with_shop(project)
    agent = project.script(
        "agent.py",
        "import json, os, urllib.request\n"
        "url = os.environ['SHOP_URL'] + '/tools/cancel_order'\n"
        "key = {'Authorization': 'Bearer ' + os.environ['ALICE_TOKEN']}\n"
        'told = urllib.request.urlopen(urllib.request.Request(url, b\'{"order_id": "A1"}\', key))\n'
        "print(json.load(told)['tags'])\n",
    )
    done = await project.proctor("replay", "--cassette", "none", "--json", "--", sys.executable, str(agent))
    assert done.status == 0, done.stderr
    assert done.printed == ["{'by': 'alice'}"]
    assert (done.summary["set_up"], done.summary["worlds"]) == ("world", 1)
    assert "1 from worlds" in done.stderr


CLUB = '''
from pydantic import BaseModel

from proctor.world import CREDENTIAL, World, tool


class State(BaseModel):
    seen: list[str] = []


class Club(World[State]):
    @tool
    def sign_in(self, member: str) -> str:
        """Get a token."""
        return self.new_token(holder=member)

    @tool(token=CREDENTIAL)
    def enter(self) -> list[str]:
        """Come in."""
        self.state.seen.append(self.holder)
        return self.state.seen
'''


async def test_a_world_s_token_may_come_as_the_credential_of_the_request(project: Project) -> None:
    project.script("club.py", CLUB)
    project.configure('[services.club]\nworld = "club:Club"\n')

    async def entered(token: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with run.http.post(run.url("club", "/tools/enter"), headers=headers) as answer:
            return answer.status, await answer.json()

    async with session(project, "case", "world") as run:
        before = await entered("tok-GUESSED1")
        async with run.http.post(run.url("club", "/tools/sign_in"), json={"member": "ann"}) as answer:
            token = await answer.json()
        answers = [await entered(each) for each in (token, "", token)]
        summary = await run.close()
    assert (before[0], before[1]["error"]) == (401, "token_invalid")
    assert [(status, told if status == 200 else told["error"]) for status, told in answers] == [
        (200, ["ann"]),
        (401, "token_required"),
        (200, ["ann", "ann"]),
    ]
    assert project.trace(summary.session)[1].result == token, "it opens nothing outside of the session"


async def test_arguments_are_traced_alike_however_often_they_come(project: Project) -> None:
    spelled = (b'{"order_id": "A1"}', b'{"order_id":\n"A1"}', b"no JSON", b"")
    async with session(with_shop(project), "case", "world") as run:
        for _ in range(2):
            for body in spelled:
                async with run.http.post(run.url("shop", "/tools/query_order"), data=body) as answer:
                    await answer.read()
        summary = await run.close()
    traced = [row.arguments for row in project.trace(summary.session)]
    assert traced == [{"order_id": "A1"}, {"order_id": "A1"}, "no JSON", None] * 2
