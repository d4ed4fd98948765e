"""D17: a URL matched only in the order in which its query was recorded, and repeated names broke it."""

from __future__ import annotations

import pytest

from tests.integration.cases.support import CLIENTS, Asked, Numbering, recording, replayed, replaying
from tests.support import Project

SAME = {
    "two names": ("/q?a=1&b=2", "/q?b=2&a=1"),
    "five names": ("/q?e=5&d=4&c=3&b=2&a=1", "/q?a=1&c=3&e=5&b=2&d=4"),
    "a repeated name among others": ("/q?ids=1&x=0&ids=2", "/q?x=0&ids=1&ids=2"),
    "brackets": ("/q?f[a]=1&f[b]=2", "/q?f%5Bb%5D=2&f%5Ba%5D=1"),
    "an empty value": ("/q?a=&b=1", "/q?b=1&a="),
    "a name without a value": ("/q?flag&b=1", "/q?b=1&flag"),
    "a space in two spellings": ("/q?s=a+b&t=1", "/q?t=1&s=a%20b"),
    "other letters": ("/q?name=%E5%A5%BD&a=1", "/q?a=1&name=%e5%a5%bd"),
    "a sign that needs no escape": ("/q?at=10:30~&a=1", "/q?a=1&at=10%3A30%7E"),
}
OTHER = {
    "the order of a repeated name": ("/q?ids=1&ids=2", "/q?ids=2&ids=1"),
    "one value less": ("/q?ids=1&ids=2", "/q?ids=1"),
    "one value twice": ("/q?ids=1", "/q?ids=1&ids=1"),
    "an empty value and none": ("/q?a=&b=1", "/q?b=1"),
    "an empty value and no value": ("/q?a=", "/q?a"),
    "a plus and a space": ("/q?s=a%2Bb", "/q?s=a+b"),
    "values that changed places": ("/q?a=1&b=2", "/q?a=2&b=1"),
    "one list and two values": ("/q?ids=1,2", "/q?ids=1&ids=2"),
    "an ampersand inside a value": ("/q?a=1%26b=2", "/q?a=1&b=2"),
}


@pytest.mark.parametrize("kind", SAME)
async def test_the_order_of_names_is_free(project: Project, kind: str) -> None:
    one, other = map(Asked, SAME[kind])
    got = await replayed(project, [Asked("/q?z=9"), one], [other])
    assert (got.numbers, got.rows[0].match) == ([1], "canonical")
    assert (await replayed(project, [other], [one])).numbers == [0]


@pytest.mark.parametrize("kind", OTHER)
async def test_what_says_something_else_misses(project: Project, kind: str) -> None:
    one, other = map(Asked, OTHER[kind])
    got = await replayed(project, [one], [other])
    assert (got.numbers, got.status) == ([None], 3)
    assert (await replayed(project, [other], [one])).numbers == [None]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_that_sorts_otherwise_today_is_answered(project: Project, client: str) -> None:
    async with recording(project, Numbering().answer) as run:
        recorded = await CLIENTS[client]("GET", run.url("desk", "/q?b=2&ids=1&a=%E5%A5%BD&ids=2"), b"", {})
    async with replaying(project) as run:
        again = await CLIENTS[client]("GET", run.url("desk", "/q?a=%E5%A5%BD&ids=1&ids=2&b=2"), b"", {})
    assert recorded.body == again.body == b'{"number": 0}'


async def test_a_form_s_fields_are_as_free_as_a_query_s(project: Project) -> None:
    def posted(body: bytes) -> Asked:
        return Asked("/q", body, "application/x-www-form-urlencoded")

    asked = [posted(b"b=2&ids=1&ids=2&a=1"), posted(b"a=1&b=2&ids=2&ids=1")]
    assert (await replayed(project, [posted(b"a=1&b=2&ids=1&ids=2")], asked)).numbers == [0, None]
