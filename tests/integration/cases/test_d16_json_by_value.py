"""D16: a JSON body that was equal but for a space or the order of its keys missed."""

from __future__ import annotations

import gzip

import pytest

from tests.integration.cases.support import JSON, Asked, replayed
from tests.support import Project

BIG = b"123456789012345678901234567890"
SAME: dict[str, tuple[bytes, bytes]] = {
    "a space after the comma": (b'[{"a":1,"b":2}]', b'[{"a": 1, "b": 2}]'),
    "the order of keys, deep": (b'[{"x": 1, "y": {"p": 1, "q": 2}}]', b'[{"y": {"q": 2, "p": 1}, "x": 1}]'),
    "lines and tabs": (b'{"a":[1,2]}', b'{\r\n\t"a": [\n  1,\n  2\n]\n}\n'),
    "escapes": ('{"a": "好/é👩"}'.encode(), rb'{"a": "\u597d\/\u00E9\ud83d\udc69"}'),
    "a key in escapes": ('{"好": 1, "a": 2}'.encode(), rb'{"\u0061": 2, "\u597d": 1}'),
    "one number in three spellings": (b"[1.0, 1e2, -0.5]", b"[1.00, 100.0, -5E-1]"),
    "blanks around": (b"{}", b" \n{ }\n"),
    "a big integer": (b'{"id": %s }' % BIG, b'{"id":%s}' % BIG),
    "a value without an object": (b'"a"', b' "\\u0061" '),
}
OTHER: dict[str, tuple[bytes, bytes]] = {
    "the order of a list": (b'{"a": [1, 2]}', b'{"a": [2, 1]}'),
    "1 and 1.0": (b'{"a": 1}', b'{"a": 1.0}'),
    "1 and true": (b'{"a": 1}', b'{"a": true}'),
    "1 and a text": (b'{"a": 1}', b'{"a": "1"}'),
    "the last digit of a big integer": (b'{"id": %s}' % BIG, b'{"id": %s1}' % BIG[:-1]),
    "a digit that no float holds": (b'{"a": 0.12345678901234567891}', b'{"a": 0.12345678901234567892}'),
    "null and nothing": (b'{"a": null}', b"{}"),
    "an empty list and an empty object": (b'{"a": []}', b'{"a": {}}'),
    "a space in a text": (b'{"a": "b c"}', b'{"a": "b  c"}'),
    "two forms of one letter": ('{"a": "é"}'.encode(), '{"a": "e\u0301"}'.encode()),
    "a key twice, the first one changed": (b'{"a": 1, "a": 3}', b'{"a": 2, "a": 3}'),
    "a key twice, a space more": (b'{"a": 1, "a": 3}', b'{"a": 1,  "a": 3}'),
    "NaN, a space more": (b'{"a": NaN}', b'{"a":  NaN}'),
    "a lone surrogate, a space more": (rb'{"a": "\ud800"}', rb'{"a":  "\ud800"}'),
}
"""The last four are read differently by different readers, so their bytes count."""


@pytest.mark.parametrize("kind", SAME)
async def test_the_same_value_matches_in_both_directions(project: Project, kind: str) -> None:
    one, other = (Asked("/", body) for body in SAME[kind])
    got = await replayed(project, [one], [other])
    assert (got.numbers, got.rows[0].match, got.status) == ([0], "canonical", 0)
    got = await replayed(project, [other], [one])
    assert got.numbers == [0]


@pytest.mark.parametrize("kind", OTHER)
async def test_another_value_misses_in_both_directions(project: Project, kind: str) -> None:
    one, other = (Asked("/", body) for body in OTHER[kind])
    got = await replayed(project, [one], [other])
    assert (got.numbers, got.status) == ([None], 3)
    got = await replayed(project, [other], [one])
    assert got.numbers == [None]


@pytest.mark.parametrize("media", [JSON, "application/vnd.api+json; charset=utf-8", "application/problem+json"])
async def test_whatever_kind_of_json_it_calls_itself(project: Project, media: str) -> None:
    got = await replayed(project, [Asked("/", b'{"a":1,"b":2}', media)], [Asked("/", b'{"b": 2, "a": 1}', media)])
    assert got.numbers == [0]


async def test_compressed_json_is_compared_by_value_too(project: Project) -> None:
    def zipped(body: bytes) -> Asked:
        return Asked("/", gzip.compress(body, mtime=0), headers=("Content-Encoding: gzip",))

    got = await replayed(project, [zipped(b'{"a":1}')], [zipped(b'{"a": 1}'), zipped(b'{"a": 2}')])
    assert got.numbers == [0, None]


async def test_of_two_recordings_the_equal_bytes_go_first(project: Project) -> None:
    one, two = Asked("/", b'{"a":1,"b":2}'), Asked("/", b'{"b":2,"a":1}')
    got = await replayed(project, [one, two], [two, one], 'reads = ["POST /"]\n')
    assert got.numbers == [1, 0]
