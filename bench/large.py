"""A tape of many interactions, made without recording them: the same questions and answers as the other tapes."""

from __future__ import annotations

from pathlib import Path

from bench.traffic import ANSWER_HEADERS, PATH, SERVICE, answer_body, request_body
from proctor.cassette import Cassette, render_cassette
from proctor.interaction import Interaction, Request, Response
from proctor.paths import Layout

_ASKED = (
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate"),
    ("User-Agent", "bench/1"),
    ("Authorization", "Bearer proctor-redacted-0001"),
    ("Content-Type", "application/json"),
)


def write_tape(project: Path, name: str, count: int) -> Path:
    """A sealed tape of `count` interactions; gives its file."""
    cassette = Cassette(
        name, tuple(_interaction(number) for number in range(count)), {"recorded_at": "2026-01-01T00:00:00Z"}
    )
    path = Layout(project).cassette(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(render_cassette(cassette))
    return path


def _interaction(number: int) -> Interaction:
    asked, answered = request_body(number), answer_body(number)
    return Interaction(
        index=number,
        request=Request(SERVICE, "POST", PATH, (*_ASKED, ("Content-Length", str(len(asked)))), asked),
        response=Response(200, "OK", (*ANSWER_HEADERS.items(), ("Content-Length", str(len(answered)))), answered),
        url=f"http://staging.test{PATH}",
        effect="read",
        effect_why="declared",
        tool="query_order",
        started=number / 100,
        seconds=0.012,
    )
