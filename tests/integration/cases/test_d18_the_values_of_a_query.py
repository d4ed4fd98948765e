"""D18: a match compared the names of a query only, so that id=B got id=A's answer."""

from __future__ import annotations

import pytest

from tests.integration.cases.support import CLIENTS, Asked, Numbering, recording, replayed
from tests.support import Project, session

OTHER = {
    "another value": ("/q?id=A", "/q?id=B"),
    "no value": ("/q?id=A", "/q?id="),
    "no query": ("/q?id=A", "/q"),
    "a query where there was none": ("/q", "/q?id=A"),
    "a value more": ("/q?id=A", "/q?id=A&id=B"),
    "a name more": ("/q?id=A", "/q?id=A&x=1"),
    "a name less": ("/q?id=A&x=1", "/q?id=A"),
    "the case of a value": ("/q?id=A", "/q?id=a"),
    "the case of a name": ("/q?id=A", "/q?ID=A"),
    "a sign in escapes": ("/q?id=A%2F1", "/q?id=A%252F1"),
    "a value that begins alike": ("/q?id=A", "/q?id=A1"),
    "a space at the end": ("/q?id=A", "/q?id=A%20"),
    "a zero in front": ("/q?id=7", "/q?id=07"),
    "the same query of another path": ("/q?id=A", "/p?id=A"),
    "the case of the path": ("/q?id=A", "/Q?id=A"),
    "a slash at the end of the path": ("/q?id=A", "/q/?id=A"),
}


@pytest.mark.parametrize("kind", OTHER)
async def test_it_misses_and_the_recorded_one_is_still_answered(project: Project, kind: str) -> None:
    recorded, asked = map(Asked, OTHER[kind])
    got = await replayed(project, [recorded], [asked, recorded])
    assert (got.numbers, got.status, len(got.summary.misses)) == ([None, 0], 3, 1)
    assert got.differences


async def test_each_value_has_its_own_answer_in_any_order(project: Project) -> None:
    asked = [Asked(f"/q?id={each}") for each in ("A", "B", "a", "", "A%20", "%E5%A5%BD")]
    got = await replayed(project, asked, [*reversed(asked), *asked])
    assert (got.numbers, got.status) == ([5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5], 0)


@pytest.mark.parametrize("client", CLIENTS)
async def test_no_client_gets_another_value_s_answer(project: Project, client: str) -> None:
    async with recording(project, Numbering().answer) as run:
        await CLIENTS[client]("GET", run.url("desk", "/q?id=A"), b"", {})
    async with session(project, "t", "replay") as run:
        got = await CLIENTS[client]("GET", run.url("desk", "/q?id=B"), b"", {})
    assert (got.status, got.values("x-proctor-miss")) == (422, ["not_recorded"])
    assert b'query id: recorded \\"A\\", got \\"B\\"' in got.body
