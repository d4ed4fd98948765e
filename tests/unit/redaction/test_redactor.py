"""One secret, one placeholder, in every place of a tape and in every spelling; nothing else is touched."""

from __future__ import annotations

import gzip
import json
import zlib
from urllib.parse import quote

import pytest

from proctor.interaction import Headers, Interaction
from proctor.redaction.digests import remeasured
from proctor.redaction.redactor import Redactor, short_secrets
from tests.unit.core.values import interaction, request, response

TOKEN = 'sk-live/A+b=9"Z'
ONE = "proctor-redacted-0001"
BEARER: Headers = (("Authorization", f"Bearer {TOKEN}"),)


def redacted(*made: Interaction) -> list[Interaction]:
    """As sealing does it: learn from all, then replace in each."""
    redactor = Redactor.over(made)
    return [redactor.interaction(each) for each in made]


def test_one_secret_has_one_placeholder_in_headers_targets_urls_and_bodies() -> None:
    asked = request(b"key=" + TOKEN.encode(), target=f"/x?k={quote(TOKEN, safe='')}", headers=BEARER)
    answered = response(b"hello " + TOKEN.encode(), headers=(("X-Echo", f"<{TOKEN}>"), ("Set-Cookie", f"s={TOKEN}")))
    (clean,) = redacted(interaction(asked, answered))
    assert clean.request.target == f"/x?k={ONE}"
    assert clean.url == f"http://desk.test/x?k={ONE}"
    assert clean.request.headers == (("Authorization", f"Bearer {ONE}"),)
    assert clean.request.body == f"key={ONE}".encode()
    assert clean.response.body == f"hello {ONE}".encode()
    assert clean.response.headers == (("X-Echo", f"<{ONE}>"), ("Set-Cookie", f"s={ONE}"))
    assert clean.redacted == (
        "request.target", "request.headers", "request.body", "response.headers", "response.body",
    )  # fmt: skip


def test_placeholders_are_numbered_by_first_appearance_across_the_recording() -> None:
    first = interaction(request(headers=(("X-Api-Key", "first-secret"),)), response(b"second-secret"))
    second = interaction(request(headers=(("Cookie", "a=second-secret; b=third-secret"),)), response(b"first-secret"))
    one, two = redacted(first, second)
    assert one.response.body == b"proctor-redacted-0002"  # learnt later, replaced everywhere
    assert two.request.headers == (("Cookie", "a=proctor-redacted-0002; b=proctor-redacted-0003"),)
    assert two.response.body == b"proctor-redacted-0001"


@pytest.mark.parametrize(
    "form",
    [
        TOKEN,
        json.dumps(TOKEN)[1:-1],
        quote(TOKEN, safe=""),
        pytest.param(quote(TOKEN), id="percent-encoded, slash kept"),
        pytest.param(quote(TOKEN, safe="").replace("%2F", "%2f").replace("%2B", "%2b"), id="lower-case percent"),
        pytest.param(json.dumps(TOKEN)[1:-1].replace("/", "\\/"), id="JSON with an escaped slash"),
    ],
)
def test_every_spelling_of_a_secret_in_a_body_is_replaced(form: str) -> None:
    (clean,) = redacted(interaction(request(headers=BEARER), response(b"<" + form.encode() + b">")))
    assert clean.response.body == f"<{ONE}>".encode()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_secret_with_other_letters_is_found_in_json_too(ascii_only: bool) -> None:
    secret = "schlüssel-密钥-1"
    body = json.dumps({"key": secret}, ensure_ascii=ascii_only).encode()
    (clean,) = redacted(interaction(request(headers=(("X-Api-Key", secret),)), response(body)))
    assert json.loads(clean.response.body) == {"key": ONE}


@pytest.mark.parametrize(
    ("coding", "pack", "unpack"),
    [("gzip", gzip.compress, gzip.decompress), ("deflate", zlib.compress, zlib.decompress)],
)
def test_a_secret_is_replaced_inside_a_compressed_body_whose_length_stays_true(
    coding: str, pack: type[bytes], unpack: type[bytes]
) -> None:
    packed = pack(b'{"t": "' + b"long-secret-1" + b'"}' + b"x" * 100)
    headers: Headers = (("Content-Encoding", coding), ("Content-Length", str(len(packed))))
    asked = request(headers=(("X-Api-Key", "long-secret-1"),))
    (clean,) = redacted(interaction(asked, response(packed, headers=headers)))
    assert unpack(clean.response.body) == f'{{"t": "{ONE}"}}'.encode() + b"x" * 100
    assert clean.response.headers == (("Content-Encoding", coding), ("Content-Length", str(len(clean.response.body))))


def test_a_compressed_body_without_a_secret_keeps_its_very_bytes() -> None:
    packed = gzip.compress(b"nothing here", compresslevel=1, mtime=12345)
    made = interaction(request(headers=BEARER), response(packed, headers=(("Content-Encoding", "gzip"),)))
    (clean,) = redacted(made)
    assert clean.response == made.response
    assert clean.redacted == ("request.headers",)


@pytest.mark.parametrize("coding", ["br", "gzip, br", "gzip"])
def test_a_body_that_cannot_be_unpacked_is_searched_as_it_is(coding: str) -> None:
    made = interaction(
        request(headers=(("X-Api-Key", "long-secret-1"),)),
        response(b"\x00long-secret-1\xff", headers=(("Content-Encoding", coding),)),
    )
    assert redacted(made)[0].response.body == b"\x00" + ONE.encode() + b"\xff"


def test_a_content_length_counts_the_new_body_and_only_a_true_one_is_changed() -> None:
    body = b"<long-secret-1>"
    headers: Headers = (
        ("X-Api-Key", "long-secret-1"),
        ("content-length", str(len(body))),
        ("X-Length", str(len(body))),
    )
    (clean,) = redacted(interaction(request(body, headers=headers)))
    assert clean.request.headers[1:] == (("content-length", str(len(ONE) + 2)), ("X-Length", str(len(body))))
    assert remeasured((("Content-Length", "999"),), b"a", b"bb") == (("Content-Length", "999"),)


def test_a_placeholder_is_never_redacted_again() -> None:
    made = interaction(request(b"proctor-redacted-0001", headers=(("X-Api-Key", ONE), ("Cookie", f"s={ONE}"))))
    redactor = Redactor.over([made])
    assert redactor.known == {}
    assert redactor.interaction(made) == made
    clean = Redactor.over([interaction(request(headers=BEARER))])
    once = clean.interaction(interaction(request(TOKEN.encode(), headers=BEARER)))
    assert clean.interaction(once).request == once.request


@pytest.mark.parametrize("secret", ["redacted", "proctor-", "proctor-redacted", "-redacted-"])
def test_a_secret_that_is_part_of_a_placeholders_text_does_not_tear_placeholders(secret: str) -> None:
    headers: Headers = (("Authorization", f"Bearer {secret}"), ("X-Api-Key", "long-secret-1"))
    (clean,) = redacted(interaction(request(f"{secret} long-secret-1".encode(), headers=headers)))
    assert clean.request.headers == (("Authorization", f"Bearer {ONE}"), ("X-Api-Key", "proctor-redacted-0002"))
    assert clean.request.body == f"{ONE} proctor-redacted-0002".encode()


def test_a_new_secret_never_gets_the_number_of_a_placeholder_that_was_sent() -> None:
    dummy = interaction(request(headers=(("X-Api-Key", ONE),)))
    real = interaction(request(headers=(("X-Api-Key", "long-secret-1"),)))
    first, second = redacted(dummy, real)
    assert first.request.headers != second.request.headers


def test_a_placeholder_that_only_a_body_or_url_holds_is_never_given_to_a_secret() -> None:
    made = interaction(request(ONE.encode(), target="/proctor-redacted-0002", headers=(("X-Api-Key", "long-secret"),)))
    (clean,) = redacted(made)
    assert clean.request.headers == (("X-Api-Key", "proctor-redacted-0003"),)


def test_a_short_secret_is_replaced_in_its_header_only_and_counted() -> None:
    headers: Headers = (("X-Api-Key", "seven77"), ("X-Other", "seven77"))
    redactor = Redactor.over([interaction(request(headers=headers))])
    clean = redactor.interaction(interaction(request(b"seven77", target="/seven77", headers=headers)))
    assert clean.request.headers == (("X-Api-Key", ONE), ("X-Other", "seven77"))
    assert (clean.request.body, clean.request.target) == (b"seven77", "/seven77")
    assert short_secrets(redactor.known) == 1
    assert not redactor.leaks(b"seven77")


def test_a_secret_of_eight_characters_is_long_enough_to_be_searched_for() -> None:
    (clean,) = redacted(interaction(request(b"<eight888>", headers=(("X-Api-Key", "eight888"),))))
    assert clean.request.body == f"<{ONE}>".encode()


def test_a_secret_that_begins_another_does_not_hide_it() -> None:
    headers: Headers = (("X-Api-Key", "long-secret"), ("Cookie", "s=long-secret-and-more"))
    (clean,) = redacted(interaction(request(b"long-secret-and-more long-secret", headers=headers)))
    assert clean.request.body == b"proctor-redacted-0002 proctor-redacted-0001"


def test_attributes_of_a_set_cookie_and_everything_else_stay_as_they_are() -> None:
    cookie = "sid=long-secret-1; Path=/; HttpOnly; Expires=Wed, 21 Oct 2015 07:28:00 GMT"
    made = interaction(
        request(b"\x00\xffplain", headers=(("ACCEPT", "*/*"), ("X-Bytes", "\udcff"))),
        response(b"\x80body", headers=(("Set-Cookie", cookie), ("SET-COOKIE", "theme="), ("Vary", "Cookie"))),
    )
    (clean,) = redacted(made)
    assert clean.request == made.request
    assert clean.response.body == made.response.body
    expected = cookie.replace("long-secret-1", ONE)
    assert clean.response.headers == (("Set-Cookie", expected), ("SET-COOKIE", "theme="), ("Vary", "Cookie"))


def test_the_scan_finds_each_searched_spelling_and_nothing_after_redaction() -> None:
    redactor = Redactor.over([interaction(request(headers=BEARER))])
    for form in (TOKEN, json.dumps(TOKEN)[1:-1], quote(TOKEN, safe="")):
        assert redactor.leaks(b"..." + form.encode() + b"...")
        assert not redactor.leaks(redactor.data(b"..." + form.encode() + b"..."))
    assert not redactor.leaks(b"sk-live/A+b=8")


def test_a_secret_that_is_a_key_or_a_name_is_in_no_told_place() -> None:
    key = "sk-proj-abcdefgh12345678"
    body = json.dumps({"sessions": {key: {"password": "hunter2-long"}}}).encode()
    made = interaction(request(body, target=f"/x?user[{key}][token]=abcdefgh1", headers=(("X-Api-Key", key),)))
    redactor = Redactor.over([made])
    redactor.interaction(made)
    assert "request.body/sessions/sk-proj-proctor-redacted-0001/password" in str(redactor.replaced_secrets())
    assert "abcdefgh12345678" not in str(redactor.replaced_secrets())


def test_a_leak_tells_no_secret_by_its_place() -> None:
    body = json.dumps({"sessions": {"sk-proj-abcdefgh12345678": {"password": "hunter2-long"}}}).encode()
    leaks = Redactor().left_in(interaction(request(body, target="/x?password=hunter2-long")))
    assert {leak.value for leak in leaks} == {"hunter2-long", "sk-proj-abcdefgh12345678"}
    assert not any(secret in leak.where + leak.kind for leak in leaks for secret in ("hunter2", "abcdefgh12345678"))


def test_a_scheme_is_never_torn_by_a_short_secret() -> None:
    (clean,) = redacted(interaction(request(b'{"authorization": "Bearer e"}')))
    assert clean.request.body == b'{"authorization": "Bearer proctor-redacted-0001"}'
