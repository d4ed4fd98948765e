"""Looking inside compressed bodies: whole and undamaged, or not at all."""

from __future__ import annotations

import gzip
import zlib

import pytest

from proctor.encoding import decoded, encoded
from proctor.matchkey import canonical_key
from tests.unit.core.values import request

BODY = b'{"a": 1}' * 20
RAW_DEFLATE = zlib.compress(BODY, wbits=-zlib.MAX_WBITS)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (None, BODY),
        ("", BODY),
        ("identity", BODY),
        ("gzip", gzip.compress(BODY, mtime=0)),
        (" GZIP ", gzip.compress(BODY, mtime=0)),
        ("x-gzip", gzip.compress(BODY, mtime=0)),
        ("gzip", gzip.compress(BODY[:50], mtime=0) + gzip.compress(BODY[50:], mtime=0)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", RAW_DEFLATE),
    ],
)
def test_a_known_coding_is_undone(coding: str | None, body: bytes) -> None:
    assert decoded(body, coding) == BODY


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", BODY),
        ("gzip, deflate", gzip.compress(BODY, mtime=0)),
        ("gzip", BODY),
        ("gzip", gzip.compress(BODY, mtime=0)[:-4]),
        ("gzip", gzip.compress(BODY, mtime=0)[:30]),
        ("deflate", BODY),
        ("deflate", zlib.compress(BODY)[:-1]),
        ("deflate", RAW_DEFLATE[:-1]),
        pytest.param("gzip", gzip.compress(BODY, mtime=0) + b"more", id="gzip and more"),
        pytest.param("deflate", zlib.compress(BODY) + b"more", id="zlib and more"),
        pytest.param("deflate", RAW_DEFLATE + b"more", id="raw deflate and more"),
    ],
)
def test_what_is_unknown_stacked_damaged_or_followed_by_more_is_left_alone(coding: str, body: bytes) -> None:
    assert decoded(body, coding) is None


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "identity", None])
def test_packing_again_gives_the_same_bytes_on_any_day_and_can_be_undone(coding: str | None) -> None:
    assert encoded(BODY, coding) == encoded(BODY, coding)
    assert decoded(encoded(BODY, coding), coding) == BODY
    assert coding not in {"gzip", "x-gzip"} or encoded(BODY, coding)[4:8] == b"\x00" * 4


def test_two_compressed_bodies_that_differ_only_behind_their_end_are_two_requests() -> None:
    headers = (("Content-Encoding", "deflate"), ("Content-Type", "application/json"))
    one, other = (request(zlib.compress(BODY) + tail, headers=headers) for tail in (b"one", b"two"))
    assert canonical_key(one, (), ()) != canonical_key(other, (), ())


def test_one_body_in_two_compressions_is_one_request() -> None:
    headers = (("Content-Encoding", "gzip"), ("Content-Type", "application/json"))
    one, other = (request(gzip.compress(BODY, level, mtime=level), headers=headers) for level in (1, 9))
    assert canonical_key(one, (), ()) == canonical_key(other, (), ())
