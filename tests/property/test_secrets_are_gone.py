"""Whatever a credential looks like and wherever it is echoed, it is not in what was redacted."""

from __future__ import annotations

import gzip
import json
from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st

from proctor.interaction import Headers, Interaction, Request, Response
from proctor.placeholders import stand_in
from proctor.redaction.redactor import Redactor
from tests.property.counts import examples

secrets = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=60)
around = st.binary(max_size=40).map(lambda data: data.translate(None, bytes(range(0x21, 0x7F))))
"""Bytes that no spelling of a secret is made of, so that none begins or ends in them."""


def redacted(secret: str, target: str, body: bytes, headers: Headers = ()) -> Interaction:
    """An exchange whose answer echoes something, after redaction."""
    request = Request("desk", "GET", target, (("X-Api-Key", secret),), b"")
    made = Interaction(0, request, Response(200, "OK", headers, body), f"http://desk.test{target}", "read", "method")
    return Redactor.over([made]).interaction(made)


@given(secret=secrets, before=around, after=around)
@examples(ci=300, soak=3000)
def test_a_secret_is_replaced_in_each_spelling_and_its_surroundings_stay(
    secret: str, before: bytes, after: bytes
) -> None:
    one = stand_in(secret, 1)
    assume(secret not in one)  # such a one has a test of its own
    for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
        body = before + form.encode() + after
        clean = redacted(secret, f"/?k={quote(secret, safe='')}", body)
        assert clean.response.body in (before + one.encode() + after, before + quote(one, safe="").encode() + after)
        assert clean.request.target == f"/?k={quote(one, safe='')}"
        assert (clean.url, clean.request.headers) == (
            f"http://desk.test/?k={quote(one, safe='')}",
            (("X-Api-Key", one),),
        )


@given(secret=secrets, before=around, after=around)
@examples(ci=100, soak=1000)
def test_a_secret_is_replaced_inside_a_compressed_body(secret: str, before: bytes, after: bytes) -> None:
    one = stand_in(secret, 1)
    assume(secret not in one)
    packed = gzip.compress(before + secret.encode() + after)
    headers: Headers = (("Content-Encoding", "gzip"), ("Content-Length", str(len(packed))))
    clean = redacted(secret, "/", packed, headers).response
    assert gzip.decompress(clean.body) == before + one.encode() + after
    assert clean.headers[1] == ("Content-Length", str(len(clean.body)))


@given(secret=secrets, body=st.binary(max_size=200), target=st.text("abc/?=&%20", max_size=20))
@examples(ci=100, soak=1000)
def test_what_holds_no_secret_is_the_same_object_afterwards(secret: str, body: bytes, target: str) -> None:
    assume(secret.encode() not in body + target.encode())
    clean = redacted(secret, f"/{target}", body)
    assert clean.response.body is body
    assert clean.request.target == f"/{target}"
    assert clean.redacted == ("request.headers",)
