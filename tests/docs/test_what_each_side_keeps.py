"""The table in docs/tape-format.md is what happens: what vcrpy keeps of our tapes, and we of vcrpy's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import yaml
from vcr.request import Request as VcrRequest
from vcr.serialize import deserialize, serialize
from vcr.serializers import yamlserializer

from proctor.cassette import Cassette, parse_cassette, render_cassette
from proctor.interaction import Headers, Interaction
from proctor.pieces import Pieces
from proctor.tape_bodies import BodiesToWrite
from tests.support import ROOT
from tests.unit.core.values import interaction, request, response

PAGE = ROOT / "docs" / "tape-format.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
UPDATE = "PROCTOR_UPDATE_DOCS"

TEXT = "tab\t CRLF\r\n NUL\x00 line\u2028 nel\u0085 bom\ufeff 订单 😀".encode()
BINARY = bytes(range(256))


BESIDE = "bodies beside the tape"


class Read(NamedTuple):
    """What a reader made of one exchange."""

    method: str
    url: str
    request_headers: Headers
    request_body: bytes
    status: int
    reason: str
    response_headers: Headers
    response_body: bytes
    more: dict[str, Any]


class Probe(NamedTuple):
    """One thing that may be kept: an interaction that has it, and how it shows."""

    what: str
    made: Interaction
    shown: Callable[[Read], Any]


def exchange(*, asked: Any = None, answered: Any = None, **facts: Any) -> Interaction:
    return replace(interaction(asked or request(), answered or response()), **facts)


ASKED_TWICE = request(headers=(("Accept", "a"), ("X-Many", "1"), ("X-Many", "2")))
MANY = response(headers=(("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Set-Cookie", "c=3")))
CASES = response(headers=(("X-A", "1"), ("x-a", "2")))
ORDER = response(headers=(("Zeta", "1"), ("Alpha", "2")))
STREAM = replace(response(b"data: 1\n\ndata: 2\n\n"), pieces=Pieces((9, 9), (10, 410)))
ODD = response(headers=(("X-Odd", "caf\udce9"),))

PROBES = (
    Probe(
        "text bodies: CRLF, NUL, U+2028, emoji",
        exchange(asked=request(TEXT), answered=response(TEXT)),
        lambda r: (r.request_body, r.response_body),
    ),
    Probe(
        "binary bodies",
        exchange(asked=request(BINARY), answered=response(BINARY)),
        lambda r: (r.request_body, r.response_body),
    ),
    Probe(
        "empty bodies",
        exchange(asked=request(b""), answered=response(b"")),
        lambda r: (r.request_body, r.response_body),
    ),
    Probe(
        "URL with its escapes",
        exchange(url="http://desk.test/a%2Fb/%7e?q=%20+x&q=", asked=request(target="/a%2Fb/%7e?q=%20+x&q=")),
        lambda r: r.url,
    ),
    Probe(
        "status and reason",
        exchange(answered=replace(response(status=404), reason="No Such Order")),
        lambda r: (r.status, r.reason),
    ),
    Probe("repeated response headers", exchange(answered=MANY), lambda r: r.response_headers),
    Probe("repeated request headers", exchange(asked=ASKED_TWICE), lambda r: sorted(r.request_headers)),
    Probe("header names that differ in case only", exchange(answered=CASES), lambda r: r.response_headers),
    Probe("order of headers", exchange(answered=ORDER), lambda r: r.response_headers),
    Probe("header bytes that are no UTF-8", exchange(answered=ODD), lambda r: r.response_headers),
    Probe(
        "service, tool and effect",
        exchange(tool="pay", effect="write"),
        lambda r: [r.more.get(key) for key in ("service", "tool", "effect")],
    ),
    Probe(
        "when, and how long it took",
        exchange(started=1.5, seconds=0.25),
        lambda r: [r.more.get(key) for key in ("started", "seconds")],
    ),
    Probe(
        "that an answer broke off",
        exchange(answered=replace(response(b"half"), complete=False)),
        lambda r: r.more.get("complete"),
    ),
    Probe("pieces of a stream", exchange(answered=STREAM), lambda r: r.more.get("pieces")),
    Probe(BESIDE, exchange(asked=request(b"x" * 5000)), lambda r: r.request_body),
)
"""Each with an interaction in which it shows."""


def as_made(made: Interaction) -> Read:
    """What a perfect reader gets; also what Proctor read."""
    more: dict[str, Any] = {"service": made.request.service, "tool": made.tool, "effect": made.effect}
    more |= {"started": made.started, "seconds": made.seconds, "complete": made.response.complete}
    more |= {"pieces": made.response.pieces}
    return Read(
        made.request.method,
        made.url,
        made.request.headers,
        made.request.body,
        made.response.status,
        made.response.reason,
        made.response.headers,
        made.response.body,
        more,
    )


def ours_by_us(probe: Probe) -> Read:
    bodies = bodies_of(probe)
    data = render_cassette(Cassette("t", (probe.made,)), bodies)
    if bodies.kept:  # reading them back from files has tests of its own
        return as_made(probe.made)
    return as_made(parse_cassette("t", data).interactions[0])


def ours_by_vcrpy(probe: Probe) -> Read:
    data = render_cassette(Cassette("t", (probe.made,)), bodies_of(probe))
    requests, responses, *_ = deserialize(data.decode(), yamlserializer)
    return read_by_vcrpy(requests[0], responses[0])


def bodies_of(probe: Probe) -> BodiesToWrite:
    return BodiesToWrite(1024 if probe.what == BESIDE else None)


def read_by_vcrpy(asked: Any, answered: dict[str, Any]) -> Read:
    body = asked.body or b""
    return Read(
        asked.method,
        asked.uri,
        tuple((name, value) for name, value in asked.headers.items()),
        body.encode() if isinstance(body, str) else body,
        answered["status"]["code"],
        answered["status"]["message"],
        tuple((name, value) for name, values in answered["headers"].items() for value in values),
        answered["body"]["string"],
        {},
    )


def vcrpys_by_us(probe: Probe) -> Read:
    made = probe.made
    headers: dict[str, list[str]] = {}
    for name, value in made.response.headers:
        headers.setdefault(name, []).append(value)
    asked = VcrRequest(made.request.method, made.url, made.request.body, dict(made.request.headers))
    answered = {
        "status": {"code": made.response.status, "message": made.response.reason},
        "headers": headers,
        "body": {"string": made.response.body},
    }
    text = serialize({"requests": [asked], "responses": [answered]}, yamlserializer)
    return as_made(parse_cassette("t", text.encode()).interactions[0])


READERS: dict[str, Callable[[Probe], Read]] = {
    "our tape, served by Proctor": ours_by_us,
    "our tape, played by vcrpy": ours_by_vcrpy,
    "vcrpy's tape, served by Proctor": vcrpys_by_us,
}


def verdict(probe: Probe, reader: Callable[[Probe], Read]) -> str:
    if reader is vcrpys_by_us and probe.what == BESIDE:
        return "does not arise"
    try:
        found = probe.shown(reader(probe))
    except (ValueError, UnicodeEncodeError):
        return "refused"
    return "kept" if found == probe.shown(as_made(probe.made)) else "lost"


def table() -> str:
    lines = [f"| what | {' | '.join(READERS)} |", f"|---|{'---|' * len(READERS)}"]
    lines += [
        f"| {probe.what} | {' | '.join(verdict(probe, reader) for reader in READERS.values())} |" for probe in PROBES
    ]
    return "\n".join(lines) + "\n"


def test_the_table_of_the_page_is_what_happens() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    written, _, after = rest.partition(END)
    made = table()
    if os.environ.get(UPDATE):
        PAGE.write_text(before + BEGIN + made + END + after, encoding="utf-8")
        return
    assert written == made, f"run this test once with {UPDATE}=1"


def test_proctor_loses_nothing_of_its_own_tapes() -> None:
    assert {verdict(probe, ours_by_us) for probe in PROBES} == {"kept"}


def test_vcrpy_never_plays_another_body_than_was_recorded() -> None:
    bodies = [probe for probe in PROBES if "bodies" in probe.what]
    assert [verdict(probe, ours_by_vcrpy) for probe in bodies] == ["kept", "kept", "kept", "refused"]


def test_the_tape_that_the_page_shows_has_the_keys_of_a_real_one_in_their_order() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    example = yaml.safe_load(shown)
    stamp = dict(example["metadata"]["x-proctor"])
    for derived in ("v", "count", "digest", "sums", "times"):
        del stamp[derived]
    made = exchange(asked=request(b"{}", headers=(("Authorization", "x"), ("Content-Type", "y"))), tool="query_order")
    made = replace(made, response=response(headers=(("Content-Type", "y"),)))
    real = yaml.safe_load(render_cassette(Cassette("t", (made,), stamp)))
    assert _keys(example) == _keys(real)


def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _keys(each)) for key, each in value.items()]
    return [_keys(value[0])] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def test_every_error_of_a_tape_is_in_the_table_of_the_page() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "proctor").glob("*.py"))
    raised = {code for source in sources for code in re.findall(r'"(cassette_[a-z0-9_]+)"', source)}
    explained = set(re.findall(r"`(cassette_[a-z0-9_]+)`", PAGE.read_text(encoding="utf-8")))
    assert explained == raised - {"cassette_name", "cassette_not_portable"}
