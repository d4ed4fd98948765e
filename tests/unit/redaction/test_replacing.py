"""What is put for a secret keeps its shape, and everything around it stays true."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import uuid
import zlib
from datetime import date, datetime

import brotli
import pytest
import zstandard

from proctor.encoding import decoded
from proctor.interaction import Headers
from proctor.placeholders import is_placeholder, numbers_in, stand_in
from proctor.redaction.redactor import Redactor
from tests.property.planted import KINDS
from tests.unit.core.values import interaction, request, response

SSE = "text/event-stream"
BODY = json.dumps({"password": "S3cret-and-long", "n": 1}).encode()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_stand_in_is_known_again_and_tells_its_number(kind: str) -> None:
    secret = KINDS[kind](random.Random(5))
    for number in (1, 42, 12_345):
        made = stand_in(secret, number)
        assert made != secret
        assert is_placeholder(made, upto=12_345)
        assert kind == "digits" or (is_placeholder(made) and numbers_in(f"<{made}>") == {number})
    assert not is_placeholder(secret, upto=12_345)


def test_a_stand_in_reads_as_what_it_stands_for() -> None:
    assert uuid.UUID(stand_in(str(uuid.uuid4()), 7)).version == 4
    assert len(bytes.fromhex(stand_in("ab" * 32, 7))) == 32
    assert len(base64.b64decode(stand_in(base64.b64encode(b"\xff" * 32).decode(), 7), validate=True)) == 32
    assert date.fromisoformat(stand_in("2024-05-06", 7)) == date(2100, 1, 8)
    assert datetime.fromisoformat(stand_in("2024-05-06T01:02:03+08:00", 7)).utcoffset() is not None
    assert stand_in("123456", 7).isdigit()
    assert stand_in("sk-proj-abcdefgh12345", 7).startswith("sk-proj-")
    assert stand_in("AKIAIOSFODNN7EXAMPLE", 7) == "AKIAPROCTOR000000007"
    assert stand_in("hunter2", 7) == "proctor-redacted-0007"


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("", bytes),
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstandard.ZstdCompressor().compress),
        ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
    ],
)
def test_lengths_and_digests_of_a_changed_body_are_true_again(coding: str, pack: type[bytes]) -> None:
    body = pack(BODY)
    sha = base64.b64encode(hashlib.sha256(body).digest()).decode()
    headers: Headers = (
        ("Content-Encoding", coding),
        ("Content-Length", str(len(body))),
        ("Content-MD5", base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()),
        ("Content-Digest", f"sha-256=:{sha}:, unixsum=7"),
        ("Digest", f"SHA-256={sha}"),
        ("X-Amz-Content-Sha256", hashlib.sha256(body).hexdigest()),
        ("ETag", '"v1"'),
    )
    made = interaction(request(), response(body, headers=headers))
    clean = Redactor.over([made]).interaction(made)
    told, new = dict(clean.response.headers), clean.response.body
    sha = base64.b64encode(hashlib.sha256(new).digest()).decode()
    assert json.loads(decoded(new, coding) or b"") == {"password": "proctor-redacted-0001", "n": 1}
    assert told["Content-Length"] == str(len(new))
    assert told["Content-MD5"] == base64.b64encode(hashlib.md5(new, usedforsecurity=False).digest()).decode()
    assert told["Content-Digest"] == f"sha-256=:{sha}:, unixsum=7"
    assert told["Digest"] == f"SHA-256={sha}"
    assert told["X-Amz-Content-Sha256"] == hashlib.sha256(new).hexdigest()
    assert told["ETag"] == '"v1"'
    assert clean.redacted == ("response.headers", "response.body")


def test_a_digest_that_was_not_true_is_left_alone() -> None:
    made = interaction(request(), response(BODY, headers=(("Digest", "SHA-256=AAAA"), ("Content-MD5", "x"))))
    assert Redactor.over([made]).interaction(made).response.headers == made.response.headers


def test_every_byte_around_a_secret_stays() -> None:
    body = b'{ "a" : 1.50 ,\r\n "password":"hunter2-x" , "\\u00e9":"\\/", "b":[ ] }'
    made = interaction(request(), response(body))
    clean = Redactor.over([made]).interaction(made).response.body
    assert clean == body.replace(b"hunter2-x", b"proctor-redacted-0001")


def test_a_value_split_over_the_events_of_a_stream_is_replaced_in_the_first_of_them() -> None:
    pieces = ['{"pass', 'word": "hun', "ter2", '-long", "a": 1}']
    events = [f"data: {json.dumps({'delta': {'partial_json': piece}, 'index': 1})}" for piece in pieces]
    events.insert(2, f"data: {json.dumps({'delta': {'text': 'another text between'}, 'index': 0})}")
    body = ("\n\n".join(events) + "\n\n").encode()
    made = interaction(request(), response(body, headers=(("Content-Type", "text/event-stream"),)))
    clean = Redactor.over([made]).interaction(made).response.body.decode()
    told = [json.loads(line[6:]) for line in clean.splitlines() if line]
    joined = "".join(event["delta"]["partial_json"] for event in told if event["index"] == 1)
    assert json.loads(joined) == {"password": "proctor-redacted-0001", "a": 1}
    assert told[2]["delta"]["text"] == "another text between"
    assert len(told) == len(events)


def test_two_secrets_that_differ_in_one_letter_never_share_a_placeholder() -> None:
    body = json.dumps([{"password": f"S3cret-and-lon{letter}"} for letter in "gGh"]).encode()
    made = interaction(request(), response(body))
    clean = json.loads(Redactor.over([made]).interaction(made).response.body)
    assert len({each["password"] for each in clean}) == 3


def test_a_body_whose_coding_is_unknown_is_searched_and_said_so() -> None:
    made = interaction(
        request(headers=(("X-Api-Key", "long-secret-1"),)),
        response(b"\x00long-secret-1", headers=(("Content-Encoding", "compress"),)),
    )
    redactor = Redactor.over([made])
    assert redactor.interaction(made).response.body == b"\x00proctor-redacted-0001"
    assert redactor.unread == {"compress": 1}


def test_a_line_with_thousands_of_texts_is_read_once() -> None:
    """Reading it anew for each text would take longer than a test may."""
    line = json.dumps([{"text": f"word {number}", "index": number} for number in range(20_000)])
    made = interaction(request(), response(f"data: {line}\n\n".encode(), headers=(("Content-Type", SSE),)))
    assert Redactor.over([made]).interaction(made) == made


def test_the_places_that_are_told_never_hold_a_secret_that_is_itself_a_key() -> None:
    secret = "sk-proj-abcdefghijkl/1234567890AB"
    made = interaction(request(json.dumps({secret: {"password": "S3cret-and-long"}, "token": secret}).encode()))
    redactor = Redactor.over([made])
    assert "abcdefghijkl" not in str([seen.where for seen in redactor.seen_in(made, placeholders=True)])
    redactor.interaction(made)
    places = [place for each in redactor.replaced_secrets() for place in each.places]
    assert places
    assert not [place for place in places if "abcdefghijkl" in place]


def test_a_place_below_a_key_that_is_no_unicode_text_can_be_told() -> None:
    made = interaction(request(b'{"\\ud800": {"password": "S3cret-and-long"}}'))
    redactor = Redactor.over([made])
    redactor.interaction(made)
    (secret,) = redactor.replaced_secrets()
    assert secret.places == ("#0 request.body/?/password",)
