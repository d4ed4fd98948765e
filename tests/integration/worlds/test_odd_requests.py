"""What no well-behaved agent sends: it is answered by a stable code, and leaves the session whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from yarl import URL

from tests.integration.worlds.support import asked, with_shop
from tests.support import Project, Running, session

GOOD = b'{"order_id": "A1"}'
LONG = 60_000


async def sent(
    run: Running, method: str, target: str, body: Any = GOOD, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    """Status and JSON of any request; None for an empty body."""
    url = URL(run.url("shop", target), encoded=True)
    async with run.http.request(method, url, data=body, headers=headers) as answer:
        text = await answer.read()
        return answer.status, json.loads(text) if text else None


async def untouched(run: Running, calls: int) -> None:
    """The world has the state of the start after so many calls, the session has no error, and calls go on."""
    world = await run.control.world(run.info.session, "shop")
    assert (world.diff, world.log, world.calls) == ([], (), calls)
    assert (await asked(run, "query_order", order_id="A1"))[0] == 200
    assert (await run.close()).errors == ()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_a_tool_takes_no_other_method(project: Project, method: str) -> None:
    async with session(with_shop(project), "case", "world") as run:
        status, told = await sent(run, method, "/tools/cancel_order", headers={"X-Api-Key": "proctor-world-alice"})
        assert status == 404
        assert told is None if method == "HEAD" else told["error"] == "path_unknown"
        await untouched(run, 0)


@pytest.mark.parametrize(
    ("target", "status", "code", "calls"),
    [
        ("/tools/query_order/", 404, "path_unknown", 0),
        ("/tools//query_order", 404, "path_unknown", 0),
        ("/tools/../tools/query_order", 404, "path_unknown", 0),
        ("/tools/", 405, "method_not_allowed", 0),
        ("/tools/query%5Forder", 404, "tool_unknown", 1),
        ("/tools/query_order%2F", 404, "tool_unknown", 1),
        ("/tools/%FF%00", 404, "tool_unknown", 1),
        ("/tools/%22%0a", 404, "tool_unknown", 1),
        ("/tools/__init__", 404, "tool_unknown", 1),
        ("/tools/_order", 404, "tool_unknown", 1),
        ("/tools/start", 404, "tool_unknown", 1),
        (f"/tools/{'query_order' * (LONG // 11)}", 404, "tool_unknown", 1),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_an_odd_address_is_no_tool(project: Project, target: str, status: int, code: str, calls: int) -> None:
    async with session(with_shop(project), "case", "world") as run:
        got, told = await sent(run, "POST", target)
        assert (got, told["error"]) == (status, code)
        await untouched(run, calls)
    first, _ = project.trace(run.info.session)
    assert (first.status, first.result["error"]) == (status, code)


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    """A body that comes chunk by chunk."""
    for number in range(len(body)):
        yield body[number : number + 1]


@pytest.mark.parametrize(
    ("body", "coding", "code"),
    [
        (b'{"order_id": NaN}', "", "argument_type"),
        (b'{"order_id": 1e400}', "", "argument_type"),
        (b'{"order_id": ' + b"9" * 5000 + b"}", "", "arguments_not_json"),
        (b'{"order_id": true}', "", "argument_type"),
        (b'{"order_id": "\\ud800"}', "", "arguments_not_json"),
        (b'{"order_id": "\xc3("}', "", "arguments_not_json"),
        (b"[" * 100_000, "", "arguments_not_json"),
        (b'{"order_id": ' + b"[" * 5000 + b"]" * 5000 + b"}", "", "arguments_not_json"),
        (b'{"order_id": "\xe2\x80\xa8\xc2\x85\\u0000"}', "", "order_not_found"),
        (GOOD.decode().encode("utf-16"), "", "arguments_not_json"),
        (b"\xef\xbb\xbf" + GOOD, "", "arguments_not_json"),
        (GOOD + GOOD, "", "arguments_not_json"),
        (b"order_id=A1", "", "arguments_not_json"),
        (b" ", "", "arguments_not_json"),
        (gzip.compress(GOOD)[:-4], "gzip", "arguments_not_json"),
        (gzip.compress(GOOD) + b"junk", "gzip", "arguments_not_json"),
        (GOOD, "gzip, br", "arguments_not_json"),
        (GOOD, "rot13", "arguments_not_json"),
        (gzip.compress(gzip.compress(GOOD)), "gzip, gzip", ""),
        (b'{"order_id": "A2", "order_id": "A1"}\r\n', "", ""),
        (GOOD, "identity", ""),
    ],
    ids=range(21),
)
@pytest.mark.parametrize("chunked", [False, True])
async def test_an_odd_body_has_its_code_and_a_whole_row(
    project: Project, body: bytes, coding: str, code: str, chunked: bool
) -> None:
    headers = {"Content-Encoding": coding} if coding else {}
    given = pieces(body) if chunked and len(body) < 100 else body
    async with session(with_shop(project), "case", "world") as run:
        status, told = await sent(run, "POST", "/tools/query_order", given, headers)
        assert (status, told.get("error", "")) == ({"": 200, "order_not_found": 404}.get(code, status), code)
        assert status < 500
        await untouched(run, 1 if code != "arguments_not_json" or not coding else 0)
    first, _ = project.trace(run.info.session)
    assert first.status == status


@pytest.mark.parametrize(
    ("headers", "status", "by"),
    [
        ({"Authorization": "Bearer proctor-world-alice", "X-Api-Key": "proctor-world-bob"}, 401, ""),
        ({"Authorization": "Bearer proctor-world-alice", "X-Api-Key": "proctor-world-alice"}, 200, "alice"),
        ({"Authorization": "Bearer proctor-world-alice", "X-Api-Key": "a-key-of-nobody-1"}, 200, "alice"),
        ({"Authorization": "bearer proctor-world-bob"}, 200, "bob"),
        ({"Authorization": "Bearer proctor-world-eve"}, 401, ""),
        ({"Authorization": "Bearer "}, 401, ""),
        ({"Authorization": "Basic YWxpY2U6cHc="}, 401, ""),
        ({}, 403, ""),
    ],
    ids=range(8),
)
async def test_odd_credentials_act_for_one_identity_or_for_none(
    project: Project, headers: dict[str, str], status: int, by: str
) -> None:
    async with session(with_shop(project), "case", "world") as run:
        assert (await sent(run, "POST", "/tools/cancel_order", headers=headers))[0] == status
        tags = (await run.control.world(run.info.session, "shop")).state["orders"]["A1"]["tags"]
        assert tags == ({"by": by} if by else {})


async def test_a_token_of_another_session_opens_nothing(project: Project) -> None:
    with_shop(project)
    async with session(project, "one", "world") as one, session(project, "two", "world") as two:
        _, token = await asked(one, "get_token")
        await asked(two, "get_token")
        for run in (one, two):
            await asked(run, "calc_refund", "alice", order_id="A1")
        refund = {"order_id": "A1", "amount": "1.00", "token": token}
        status, told = await asked(two, "create_refund", "alice", **refund)
        assert (status, told["error"]) == (401, "token_invalid")
        assert (await asked(one, "create_refund", "alice", **refund))[0] == 200
