"""What an agent tells by `POST .../_events`: taken whole or refused by name, in every mode, never as an exchange."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import pytest

from proctor.proxy.eventing import BODY_BYTES, EVENT_BYTES, SESSION_EVENTS
from proctor.wire import Mode
from tests.integration.cli.support import Desk
from tests.integration.proxy.raw import ended
from tests.support import Project, Running, services, serving, session

INTENT = {"kind": "intent", "data": {"intent": "refund", "confidence": 0.8}}
STATE = {"kind": "state", "turn": 0, "when": "after", "data": {"order": "A-1"}}
NOTE = {"kind": "note", "data": ["anything", 1]}
ALL: list[dict[str, Any]] = [
    INTENT,
    {"kind": "skill_routed", "data": {"skill": "refunds"}},
    {"kind": "memory_hit", "data": {"query": "name", "found": {"name": "Anna"}}},
    {"kind": "memory_miss", "data": {"query": "address"}},
    STATE,
    NOTE,
]


async def tell(run: Running, told: Any, method: str = "POST", below: str = "_events") -> tuple[int, dict[str, Any]]:
    """Status and body of one request to the resource; bytes go as they are."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    async with run.http.request(method, run.url(below), data=BytesIO(body)) as answer:
        return answer.status, await answer.json()


async def ask(run: Running, path: str) -> int:
    async with run.http.get(run.url("desk", path)) as answer:
        await answer.read()
        return answer.status


@pytest.mark.parametrize("mode", ["record", "replay", "live"])
async def test_every_kind_is_kept_in_order_with_the_exchanges_and_on_no_tape(project: Project, mode: Mode) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            assert [await ask(run, path) for path in ("/a", "/b")] == [200, 200]
            assert (await run.close()).sealed
        plain = project.tape("t")
        async with session(project, "u" if mode == "record" else "t", mode) as run:
            assert await tell(run, INTENT) == (200, {"taken": 1, "left": SESSION_EVENTS - 1})
            await ask(run, "/a")
            assert (await tell(run, ALL[1:]))[0] == 200
            await ask(run, "/b")
            assert await tell(run, []) == (200, {"taken": 0, "left": SESSION_EVENTS - len(ALL)})
            shown = await run.control.events(run.info.session)
            assert [row.target for row in await run.control.trace(run.info.session)] == ["/a", "/b"]
            summary = await run.close()
        if mode == "record":
            assert [each.index for each in project.tape("u").interactions] == [0, 1]
            assert len(project.tape("u").interactions) == len(plain.interactions)
    assert desk.asked == (["/a", "/b"] if mode == "replay" else ["/a", "/b"] * 2)
    trace = project.whole_trace(summary.session)
    assert [{"kind": row.kind, "data": row.data} for row in trace.events] == [
        {"kind": each["kind"], "data": each["data"]} for each in ALL
    ]
    assert trace.events == shown
    assert [row.index for row in trace.events] == [0, 2, 3, 4, 5, 6]
    assert [row.index for row in trace.exchanges] == [1, 7]
    assert (trace.events[4].turn, trace.events[4].when) == (0, "after")
    assert (summary.exchanges, summary.events, summary.events_dropped, summary.errors) == (2, 6, 0, ())


async def test_an_event_is_on_disk_when_it_is_answered(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    for mode in ("live", "record"):
        async with session(project, "t", mode) as run:
            await tell(run, INTENT)
            (journal,) = project.layout.journals.glob(f"*{run.info.session}*")
            assert '"confidence":0.8' in journal.read_text(encoding="utf-8")
            await run.close()


async def test_a_replay_writes_an_event_before_it_answers(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await ask(run, "/a")
            await run.close()
        async with session(project, "t", "replay") as run:
            await tell(run, INTENT)
            assert len(project.whole_trace(run.info.session).events) == 1


async def test_a_session_that_only_told_something_has_asked_nothing(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "record") as run:
        assert (await tell(run, ALL))[0] == 200
        summary = await run.close()
    assert (summary.exchanges, summary.events, summary.sealed) == (0, 6, "")
    assert summary.services_unused == ("desk",)
    assert len(project.whole_trace(summary.session).events) == 6


async def test_current_stands_for_the_session_that_is_bound(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        async with run.http.post(f"{run.info.current_url}/_events", json=NOTE) as answer:
            assert answer.status == 200
        assert [row.kind for row in await run.control.events(run.info.session)] == ["note"]


async def test_a_secret_that_an_event_quotes_is_redacted_as_in_an_exchange(project: Project) -> None:
    secret = "sk-" + "Zq81Lm" * 6
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        for mode in ("record", "replay"):
            async with session(project, "t", mode) as run:
                async with run.http.get(run.url("desk", "/a"), headers={"Authorization": f"Bearer {secret}"}) as answer:
                    assert answer.status == 200
                await tell(run, {"kind": "note", "data": {"text": f"used {secret}", "password": "Hunter2-Hunter2"}})
                summary = await run.close()
            left = (project.layout.sessions / summary.session / "trace.jsonl").read_text(encoding="utf-8")
            assert "used " in left
            assert secret not in left
            assert "Hunter2" not in left


BAD: list[tuple[Any, int, str, str, str]] = [
    ({"kind": "intnet", "data": {}}, 400, "unknown_kind", 'kind: there is no "intnet"', 'did you mean "intent"?'),
    ({"data": {}}, 400, "bad_request", "kind: a text is needed", "known: intent, memory_hit"),
    (
        {"kind": "intent", "data": {"intent": "refund", "confidense": 0.8}},
        400,
        "unknown_field",
        'unknown field "data.confidense"',
        'did you mean "confidence"?',
    ),
    (
        {**INTENT, "trun": 1},
        400,
        "unknown_field",
        'unknown field "trun"',
        'did you mean "turn"?',
    ),
    ({**INTENT, "by": "proctor"}, 400, "unknown_field", 'unknown field "by"', "known: data, kind, turn"),
    ({"kind": "intent", "data": {"intent": "refund", "confidence": 1.2}}, 400, "bad_request", "data.confidence", ""),
    ({"kind": "intent", "data": {"intent": "refund", "confidence": True}}, 400, "bad_request", "data.confidence", ""),
    ({"kind": "skill_routed", "data": {"skill": ""}}, 400, "bad_request", "data.skill", ""),
    ({"kind": "state", "data": {}}, 400, "bad_request", "when", ""),
    ({"kind": "state", "when": "after", "data": None}, 400, "bad_request", "data: ", ""),
    ([NOTE, {"kind": "note"}], 400, "bad_request", "event 1: data", ""),
    ([NOTE, 3], 400, "bad_request", "event 1: an event is a JSON object", ""),
    (b"", 400, "bad_json", "no JSON", ""),
    (b'{"kind": "note", "data": NaN}', 400, "bad_json", "NaN", ""),
    (b'{"kind": "note", "data": 1e999}', 400, "bad_json", "larger than any", ""),
    (b'{"kind": "note", "data": "\\ud800"}', 400, "bad_json", "surrogate", ""),
    (b'{"kind": "note", "data": 1, "data": 2}', 400, "bad_json", "a key twice", ""),
    (b"[" * 200_000, 400, "bad_json", "deeper than", ""),
    ({"kind": "note", "data": "x" * EVENT_BYTES}, 413, "event_too_large", f"at most {EVENT_BYTES} bytes", "tell less"),
    (b" " * (BODY_BYTES + 1), 413, "body_too_large", f"at most {BODY_BYTES} bytes", ""),
    ([NOTE] * (SESSION_EVENTS + 1), 409, "too_many_events", f"takes {SESSION_EVENTS} events", ""),
]


async def test_a_bad_event_is_refused_by_name_and_nothing_of_its_body_is_taken(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    for told, status, code, message, fix in BAD:
        async with session(project, "t", "live") as run:
            answered, error = await tell(run, told)
            assert (answered, error["code"]) == (status, code), error
            assert message in error["message"]
            assert fix in error["fix"]
            summary = await run.close()
        assert (summary.exchanges, summary.events) == (0, 0)
        assert summary.events_dropped == (len(told) if isinstance(told, list) else 1)
        (seen,) = [each for each in summary.errors if each.code == "events_dropped"]
        assert f"({code})" in seen.message
        assert message in seen.message
        assert seen.fix == error["fix"]


async def test_over_the_number_that_a_session_takes_every_event_is_dropped_and_counted(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t", "record") as run:
            await ask(run, "/a")
            assert (await tell(run, [NOTE] * (SESSION_EVENTS - 1)))[1] == {"taken": SESSION_EVENTS - 1, "left": 1}
            assert (await tell(run, [NOTE] * 2))[0] == 409
            assert (await tell(run, NOTE))[1] == {"taken": 1, "left": 0}
            for _ in range(3):
                assert (await tell(run, NOTE))[1]["code"] == "too_many_events"
            summary = await run.close()
    assert (summary.events, summary.events_dropped) == (SESSION_EVENTS, 5)
    (seen,) = summary.errors
    assert (seen.code, seen.count) == ("events_dropped", 4)
    assert summary.sealed == ""
    assert [reason for reason in summary.aside_reasons if "too_many_events" in reason] == list(summary.aside_reasons)


async def test_another_method_or_path_is_told_and_counts_as_dropped_where_something_was_sent(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        async with run.http.get(run.url("_events")) as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert (await tell(run, NOTE, "PUT"))[1]["code"] == "method_not_allowed"
        assert (await tell(run, NOTE, below="_events/now"))[1]["code"] == "unknown_route"
        assert (await tell(run, NOTE, below="_events/"))[0] == 200
        summary = await run.close()
    assert (summary.events, summary.events_dropped) == (1, 2)


async def test_a_misspelt_resource_fails_the_session_and_names_the_right_one(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        assert (await tell(run, NOTE, below="_event"))[0] == 404
        (missed,) = (await run.close()).misses
    assert missed.fix == 'did you mean "_events"?'


async def test_a_closed_session_takes_no_event(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        await run.close()
        assert await tell(run, NOTE) == (410, {**(await tell(run, NOTE))[1], "code": "session_closed"})


@asynccontextmanager
async def half_sent(run: Running, body: bytes) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which all of a request but its last five bytes has gone out, and the proxy waits for those."""
    path = run.url("_events").removeprefix(run.proxy.url)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(run.proxy.url.rpartition(":")[2]))
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-5])
    assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
    yield reader, writer
    await ended(writer)


async def test_an_event_that_breaks_off_is_dropped_and_the_session_says_so(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        async with half_sent(run, json.dumps(NOTE).encode()):
            pass
        summary = await run.close()
    assert [each.code for each in summary.errors if "body_cut" in each.message] == ["events_dropped"]


async def test_an_event_that_ends_while_the_session_closes_is_taken(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    body = json.dumps(NOTE).encode()
    async with session(project, "t", "live") as run, half_sent(run, body) as (reader, writer):
        closing = asyncio.create_task(run.close())
        await run.proxy.registry.sessions[run.info.session].closing.wait()
        writer.write(body[-5:])
        assert b'"taken":1' in await reader.read()
        summary = await closing
    assert (summary.events, summary.events_dropped) == (1, 0)


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"5\r\nabc", b"-1\r\n\r\n", b"ffffffffffffffffffff\r\nx"])
async def test_a_body_that_is_no_http_fails_nothing_of_ours(project: Project, chunk: bytes) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "t", "live") as run:
        path = run.url("_events").removeprefix(run.proxy.url)
        reader, writer = await asyncio.open_connection("127.0.0.1", int(run.proxy.url.rpartition(":")[2]))
        writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunk)
        writer.write_eof()
        answer = await reader.read()
        await ended(writer)
        summary = await run.close()
    assert not answer.startswith(b"HTTP/1.1 5")
    assert "platform_error" not in [each.code for each in summary.errors]
    assert summary.errors


async def test_clients_that_wait_for_100_continue_are_let_go_on(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with (
        session(project, "t", "live") as run,
        run.http.post(run.url("_events"), json=NOTE, expect100=True) as answer,
    ):
        assert answer.status == 200
