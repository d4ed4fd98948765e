"""What differs between two requests is named by its place, and nothing that is equal is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.diff import json_differences, request_diff, shown_value
from proctor.interaction import Headers, Request
from tests.unit.core.values import request

JSON: Headers = (("Content-Type", "application/json"),)
FORM: Headers = (("Content-Type", "application/x-www-form-urlencoded"),)


def asked(body: Any = None, **parts: Any) -> Request:
    """A request, with a JSON body where one is given."""
    data = b"" if body is None else json.dumps(body).encode()
    return request(data, **{"headers": JSON, **parts})


@pytest.mark.parametrize(
    ("recorded", "now", "told"),
    [
        (asked(), asked(method="PUT"), ['method: recorded "POST", got "PUT"']),
        (asked(), asked(target="/tools/y"), ['path: recorded "/tools/x", got "/tools/y"']),
        (asked(target="/t?q=1"), asked(target="/t?q=2"), ['query q: recorded "1", got "2"']),
        (asked(target="/t?q=1"), asked(target="/t"), ['query q: recorded "1", got nothing']),
        (asked(target="/t?q=1&q=2"), asked(target="/t?q=2&q=1"), ['query q: recorded ["1", "2"], got ["2", "1"]']),
        (asked(target="/t?a=1&b=2"), asked(target="/t?b=2&a=1"), []),
        (asked({"a": 1}), asked({"a": 1.0}), ["body /a: recorded 1, got 1.0"]),
        (asked({"a": 1}), asked({"a": True}), ["body /a: recorded 1, got true"]),
        (asked({"a": None}), asked({}), ["body /a: recorded null, got nothing"]),
        (asked({"a": [1, 2]}), asked({"a": [1]}), ["body /a/1: recorded 2, got nothing"]),
        (asked({"a/b": {"~": 1}}), asked({"a/b": {"~": 2}}), ["body /a~1b/~0: recorded 1, got 2"]),
        (asked({"你": "好"}), asked({"你": "坏"}), ['body /你: recorded "好", got "坏"']),
        (asked({"a": 1, "b": 2}), asked({"b": 2, "a": 1}), []),
        (
            asked(headers=(*JSON, ("X-Amz-Target", "Db.Get"))),
            asked(headers=(*JSON, ("x-amz-target", "Db.Put"))),
            ['header x-amz-target: recorded "Db.Get", got "Db.Put"'],
        ),
        (asked(headers=(*JSON, ("User-Agent", "a"))), asked(headers=(*JSON, ("User-Agent", "b"))), []),
        (
            request(b"a=1&b=x+y", headers=FORM),
            request(b"b=x%20y&a=2", headers=FORM),
            ['form a: recorded "1", got "2"'],
        ),
        (
            request(b"\x00\xff", headers=(("Content-Type", "audio/wav"),)),
            request(b"\x00\xfe", headers=(("Content-Type", "audio/wav"),)),
            ['body /base64: recorded "AP8=", got "AP4="'],
        ),
    ],
)
def test_each_difference_is_told_with_its_place_and_both_values(
    recorded: Request, now: Request, told: list[str]
) -> None:
    assert request_diff(recorded, now) == told


def upload(boundary: str, *parts: bytes) -> Request:
    """A request that uploads parts, each with its headers and content."""
    body = b"".join(b"--%s\r\n%s\r\n" % (boundary.encode(), part) for part in parts)
    headers = (("Content-Type", f"multipart/form-data; boundary={boundary}"),)
    return request(body + f"--{boundary}--\r\n".encode(), headers=headers)


NOTE = b'Content-Disposition: form-data; name="note"\r\n\r\n'
PHOTO = 'Content-Disposition: form-data; name="photo"; filename="底座.png"\r\n\r\n'.encode()


@pytest.mark.parametrize(
    ("recorded", "now", "told"),
    [
        ((NOTE + b"a", PHOTO + b"\xff"), (NOTE + b"a", PHOTO + b"\xff"), []),
        ((NOTE + b"a",), (NOTE + b"b",), ['part note: recorded "a", got "b"']),
        ((PHOTO + b"\xff",), (PHOTO + b"\xfe",), ['part photo: recorded "1 bytes", got "1 other bytes"']),
        ((NOTE + b"a",), (NOTE + b"a", PHOTO + b"\xff"), ['part photo: recorded nothing, got "1 bytes"']),
        ((NOTE + b"a", PHOTO + b"\xff"), (NOTE + b"a",), ['part photo: recorded "1 bytes", got nothing']),
        ((b"X-A: 1\r\n\r\na",), (b"X-A: 2\r\n\r\na",), ['part 0 x-a: recorded "1", got "2"']),
    ],
)
def test_of_an_upload_the_part_that_differs_is_told_and_never_the_boundary(
    recorded: tuple[bytes, ...], now: tuple[bytes, ...], told: list[str]
) -> None:
    assert request_diff(upload("first-4711", *recorded), upload("second-0815", *now)) == told


def test_the_file_name_of_an_upload_is_told() -> None:
    (line,) = request_diff(upload("b", PHOTO + b"\xff"), upload("c", PHOTO.replace("底座".encode(), b"lamp") + b"\xff"))
    assert line.startswith("part photo content-disposition: recorded ")
    assert "底座.png" in line
    assert "lamp.png" in line


def test_a_body_that_only_says_it_is_an_upload_is_told_as_what_it_is() -> None:
    headers = (("Content-Type", "multipart/form-data; boundary=b"),)
    (line,) = request_diff(request(b"no parts", headers=headers), request(b"no part", headers=headers))
    assert line.startswith("body")


def test_the_credential_is_told_by_its_placeholder() -> None:
    identities = (("proctor-redacted-0001",), ("proctor-redacted-0002",))
    told = ['credential: recorded "proctor-redacted-0001", got "proctor-redacted-0002"']
    assert request_diff(asked(), asked(), identities) == told
    assert request_diff(asked(), asked(), (identities[0], ())) == [
        'credential: recorded "proctor-redacted-0001", got nothing'
    ]


def test_long_lists_are_cut_and_say_so() -> None:
    old, new = ({"keys": list(range(start, start + 30))} for start in (0, 100))
    told = request_diff(asked(old), asked(new), limit=5)
    assert len(told) == 6
    assert told[-1] == "... and more"
    exactly_five = request_diff(asked([1] * 5), asked([2] * 5), limit=5)
    assert len(exactly_five) == 5
    assert exactly_five[-1] == "body /4: recorded 1, got 2"


def test_of_two_long_texts_the_place_where_they_part_is_shown() -> None:
    old, new = "x" * 500 + "OLD" + "y" * 500, "x" * 500 + "NEW" + "y" * 500
    (line,) = request_diff(asked({"t": old}), asked({"t": new}))
    assert "OLD" in line
    assert "NEW" in line
    assert len(line) < 250


def test_bodies_that_differ_in_bytes_only_are_still_told_apart() -> None:
    (line,) = request_diff(request(b'{"a": 1e400}', headers=JSON), request(b'{"a": 1e401}', headers=JSON))
    assert line.startswith("body")


def test_a_query_name_without_a_value_is_not_the_empty_value() -> None:
    assert request_diff(asked(target="/t?q"), asked(target="/t?q=")) != []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 1}}, []),
        ({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}}, ["/a/b", "/a/c"]),
        ([[1], [2]], [[1], [3]], ["/1/0"]),
        (0, False, ["/"]),
        ({"a": []}, {"a": {}}, ["/a"]),
        (2**64, 2**64 + 1, ["/"]),
    ],
)
def test_every_leaf_that_differs_is_named_by_its_pointer(old: Any, new: Any, found: list[str]) -> None:
    assert [where for where, *_ in json_differences(old, new)] == found


def test_a_long_text_that_only_goes_on_is_shown_where_it_does() -> None:
    told = shown_value("so it begins " * 20 + "and here it goes on", "so it begins " * 20)
    assert "and here it goes on" in told
