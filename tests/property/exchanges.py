"""Strategies for requests and answers that aiohttp can carry, and for text that formats get wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st

from proctor.interaction import Headers, Interaction, Request, Response
from proctor.pieces import Pieces

AWKWARD = (
    "null",
    "1e3",
    "2026-01-01",
    "- a",
    "{",
    "yes",
    "~",
    "%",
    "0x1f",
    "",
    " ",
    "\ufeff",
    "\u0085",
    "\u2028",
    "\x00",
)
bodies = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(AWKWARD).map(str.encode),
    st.tuples(st.sampled_from(AWKWARD), st.text(max_size=20)).map(
        lambda pair: (pair[0] + "\r\n" + pair[1]).encode("utf-8", "surrogatepass")
    ),
    st.just(b"x" * 70_000),
)

_TOKEN = st.text("abcXYZ019-_", min_size=1, max_size=12)
_VALUE = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x2FFF, exclude_characters="\x7f", exclude_categories=["Cc", "Cs"]),
    max_size=30,
).map(str.strip)
header_names = _TOKEN.map(lambda name: f"X-T-{name}")
carried_headers = st.lists(st.tuples(header_names, _VALUE), max_size=6).map(tuple)
"""Headers that aiohttp itself can carry: names of its own, values without control characters or outer blanks."""

_BYTES_VALUE = st.binary(max_size=12).map(
    lambda raw: raw.translate(None, bytes(range(0x20)) + b"\x7f").strip().decode("utf-8", "surrogateescape")
)
any_headers = st.lists(st.tuples(header_names, st.one_of(_VALUE, _BYTES_VALUE)), max_size=6).map(tuple)
"""Also values that are no UTF-8: a tape keeps them, a socket may not."""

statuses = st.integers(min_value=200, max_value=599)
_SEGMENT = st.text("abz%2F~.-_é", max_size=6).map(lambda text: text.replace("%", "%25").replace("é", "%C3%A9"))
targets = st.tuples(st.lists(_SEGMENT, max_size=3), st.sampled_from(["", "?a=1&b=2&a=", "?q=%20+x"])).map(
    lambda parts: "/" + "/".join(parts[0]) + parts[1]
)


@st.composite
def tables(draw: st.DrawFn, body: bytes) -> Pieces | None:
    """A table of pieces that fits a body; None for one that came whole."""
    inner = st.integers(1, max(len(body) - 1, 1))
    cuts = sorted(draw(st.sets(inner, max_size=5))) if len(body) > 1 else []
    if not cuts:
        return None
    lengths = tuple(end - start for start, end in pairwise([0, *cuts, len(body)]))
    at = sorted(draw(st.lists(st.integers(0, 90_000), min_size=len(lengths), max_size=len(lengths))))
    return Pieces(lengths, tuple(at), draw(st.booleans()))


def interactions(headers: st.SearchStrategy[Headers] = any_headers) -> st.SearchStrategy[Interaction]:
    """A whole interaction of a service called `desk`."""
    request = st.builds(
        Request,
        service=st.just("desk"),
        method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "QUERY"]),
        target=targets,
        headers=headers,
        body=bodies,
    )
    response = st.builds(
        Response,
        status=statuses,
        reason=st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=12),
        headers=headers,
        body=bodies,
        trailers=st.sampled_from(["", "X-Sum, Expires"]),
    ).flatmap(lambda made: tables(made.body).map(lambda pieces: replace(made, pieces=pieces)))
    return st.builds(
        Interaction,
        index=st.just(0),
        request=request,
        response=response,
        url=targets.map(lambda target: f"http://desk.test{target}"),
        effect=st.sampled_from(["read", "write", "pure"]),
        effect_why=st.sampled_from(["declared", "preset", "method", "guessed"]),
        tool=st.one_of(st.none(), st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable())),
        started=st.floats(0, 1000).map(lambda seconds: round(seconds, 3)),
        seconds=st.floats(0, 1000).map(lambda seconds: round(seconds, 3)),
    )
