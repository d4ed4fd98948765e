"""Values of the tape and of staging stand for each other wherever a request or an answer may have them."""

from __future__ import annotations

import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest

from proctor.interaction import Headers, Request, Response, header
from proctor.proxy.both_worlds import BothWorlds
from proctor.redaction.redactor import Redactor

PLACEHOLDER, TOKEN = "proctor-redacted-0001", "shop.8f/2+e91c07aa==.ann"
JSON = ("Content-Type", "application/json")


def answer(value: Any, *headers: tuple[str, str], status: int = 200) -> Response:
    return Response(status, "OK", (JSON, *headers), json.dumps(value).encode())


def asking(target: str = "/x", body: bytes = b"", headers: Headers = ()) -> Request:
    return Request("desk", "POST", target, headers, body)


def knowing(recorded: Any, live: Any) -> BothWorlds:
    """What two answers to one call teach."""
    made = BothWorlds(Redactor(placeholders=9))
    assert made.learn(answer(recorded), answer(live)) == []
    return made


def test_a_token_and_an_id_are_put_into_path_query_headers_and_body() -> None:
    worlds = knowing({"token": PLACEHOLDER, "id": "ord-a1"}, {"token": TOKEN, "id": "ord-77"})
    body = json.dumps({"id": "ord-a1", "note": "order ord-a1, please", "token": PLACEHOLDER}).encode()
    headers = (JSON, ("Authorization", f"Bearer {PLACEHOLDER}"), ("Content-Length", str(len(body))))
    sent = worlds.request(asking(f"/orders/ord-a1?key={PLACEHOLDER}", body, headers))
    assert sent.target == f"/orders/ord-77?key={TOKEN}"
    assert json.loads(sent.body) == {"id": "ord-77", "note": "order ord-77, please", "token": TOKEN}
    assert header(sent.headers, "authorization") == f"Bearer {TOKEN}"
    assert header(sent.headers, "content-length") == str(len(sent.body))


def test_an_answer_comes_back_in_the_tapes_words_whatever_its_spelling_and_coding() -> None:
    worlds = knowing({"token": PLACEHOLDER, "id": "ord-a1"}, {"token": TOKEN, "id": "ord-77"})
    plain = json.dumps({"next": f"/x?t={quote(TOKEN, safe='')}", "raw": TOKEN}).replace("/", "\\/").encode()
    packed = Response(
        200, "OK", (JSON, ("Content-Encoding", "gzip"), ("Location", "/orders/ord-77")), gzip.compress(plain)
    )
    back = worlds.response(packed)
    assert json.loads(gzip.decompress(back.body)) == {"next": f"/x?t={PLACEHOLDER}", "raw": PLACEHOLDER}
    assert header(back.headers, "location") == "/orders/ord-a1"


def test_what_stands_in_the_place_of_a_secret_is_its_counterpart_even_if_it_looks_like_a_word() -> None:
    worlds = knowing({"grant": PLACEHOLDER}, {"grant": "tok-VQUNEDAZ"})
    sent = worlds.request(asking(headers=(("Authorization", f"Bearer {PLACEHOLDER}"),)))
    assert header(sent.headers, "authorization") == "Bearer tok-VQUNEDAZ"
    assert worlds.redactor.known["tok-VQUNEDAZ"] == PLACEHOLDER, "no row may show it"


@pytest.mark.parametrize("now", ["none", "please sign in again"])
def test_a_word_or_a_sentence_in_the_place_of_a_secret_is_none(now: str) -> None:
    worlds = BothWorlds(Redactor(placeholders=9))
    (told,) = worlds.learn(answer({"grant": PLACEHOLDER}), answer({"grant": now}))
    assert told.startswith("/grant: ")


def test_only_whole_words_are_replaced() -> None:
    worlds = knowing({"id": "ord-1a"}, {"id": "ord-2b"})
    assert worlds.request(asking("/ord-1a/ord-1ab/xord-1a")).target == "/ord-2b/ord-1ab/xord-1a"


def test_a_cookie_is_paired_by_its_place() -> None:
    worlds = BothWorlds(Redactor(placeholders=9))
    worlds.learn(
        answer({}, ("Set-Cookie", f"sid={PLACEHOLDER}; Path=/")), answer({}, ("Set-Cookie", "sid=q8w7e6r5t4; Path=/"))
    )
    sent = worlds.request(asking(headers=(("Cookie", f"sid={PLACEHOLDER}"),)))
    assert header(sent.headers, "cookie") == "sid=q8w7e6r5t4"


def test_a_secret_of_staging_is_known_so_that_nothing_shows_it() -> None:
    worlds = knowing({"token": PLACEHOLDER}, {"token": TOKEN})
    assert worlds.redactor.text(f"key {TOKEN}") == f"key {PLACEHOLDER}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("open", "refunded"),
        ("84.90", "84.91"),
        (17, 18),
        ("a1", "b2"),
        ("order ord-a1", "order ord-b2"),
        (None, "x1y2"),
    ],
)
def test_what_is_no_name_stands_for_nothing_and_is_told(old: Any, new: Any) -> None:
    worlds = BothWorlds(Redactor(placeholders=9))
    (told,) = worlds.learn(answer({"it": old}), answer({"it": new}))
    assert told.startswith("/it: recorded ")
    request = asking(body=json.dumps({"it": old}).encode())
    assert worlds.request(request) == request


def test_a_value_of_staging_that_stands_for_two_of_the_tape_stays_unless_it_is_a_secret() -> None:
    worlds = knowing({"id": "ord-a1"}, {"id": "ord-77"})
    assert worlds.learn(answer({"id": "ord-b2"}), answer({"id": "ord-77"})) == []
    assert worlds.response(answer({"id": "ord-77"})).body == answer({"id": "ord-77"}).body
    assert worlds.request(asking("/ord-a1/ord-b2")).target == "/ord-77/ord-77"
    tokens = knowing({"token": PLACEHOLDER}, {"token": TOKEN})
    tokens.learn(answer({"token": "proctor-redacted-0002"}), answer({"token": TOKEN}))
    assert TOKEN.encode() not in tokens.response(answer({"token": TOKEN})).body


def test_a_secret_that_stands_for_none_of_the_tapes_is_new() -> None:
    worlds = knowing({"token": PLACEHOLDER}, {"token": TOKEN})
    assert worlds.secrets_in(answer({"token": "another.9d8c7b6a5f.bob"})) == {"another.9d8c7b6a5f.bob"}
    assert worlds.secrets_in(worlds.response(answer({"token": TOKEN}))) == set()
