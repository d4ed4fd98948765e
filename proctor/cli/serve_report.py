"""What `proctor serve` says: how to use it at the start, what became of everything at the end."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from proctor.cli.control_token import VARIABLE
from proctor.config import Config
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_MISSES, EXIT_PLATFORM
from proctor.proxy.conclude import LeftOpen
from proctor.proxy.metrics import OUTCOMES, Totals
from proctor.proxy.server import Proxy
from proctor.summary import ending
from proctor.wire import TOKEN_HEADER

_EXAMPLE = "first"
_PRECEDENCE = (EXIT_PLATFORM, EXIT_MISSES, EXIT_FAILED)


def started_text(proxy: Proxy, config: Config, token: str | None, token_file: Path | None) -> str:
    """For a person: where it listens, where the token is, and lines that open and close a session as they stand."""
    where = token
    header = f'-H "{TOKEN_HEADER}: {token}"'
    if token is None:
        where = f"in {token_file}" if token_file else f"in {VARIABLE}"
        given = f"$(cat {shlex.quote(str(token_file))})" if token_file else f"${VARIABLE}"
        header = f'-H "{TOKEN_HEADER}: {given}"'
    sessions = f"{proxy.url}/_proctor/sessions"
    spec = {"session": _EXAMPLE, "cassette": _EXAMPLE, "modes": dict.fromkeys(config.services, "record")}
    session = proxy.session_url(_EXAMPLE)
    lines = [
        f"proctor: serving {', '.join(config.services)} at {proxy.addressing.agents_url}   process {os.getpid()}",
        f"  token   {where}",
        "  open    a session, here one that records cassettes/first.yaml:",
        f"    curl -sS {header} {sessions} -d {shlex.quote(json.dumps(spec))}",
        *(f"  agent   of it: {name} is at {session}/{name}" for name in config.services),
        "  close   it, with the exit status of your agent:",
        f"    curl -sS {header} {sessions}/{_EXAMPLE}/close -d '{{\"command_status\": 0}}'",
        "  stop    with Ctrl-C; docs/serve.md tells the rest",
    ]
    if proxy.addressing.path_token and not proxy.addressing.advertised:
        lines.append("  note    other machines reach it by their name for this one: say --advertise http://NAME:PORT")
    return "\n".join(lines)


def serve_status(closed: Collection[int], left: Sequence[LeftOpen]) -> int:
    """The exit status that stands for every session: 4, 3, 1, else 0. One that nobody closed is 1 at least."""
    statuses = {*closed, *(_left_status(each) for each in left)}
    return next((status for status in _PRECEDENCE if status in statuses), EXIT_FINE)


def ended_text(totals: Totals, left: Sequence[LeftOpen], status: int) -> str:
    """For a person: how many sessions came to what, and each that nobody closed with what to do about it."""
    counts = ", ".join(f"{totals.closed[outcome]} {outcome}" for outcome in OUTCOMES if totals.closed[outcome])
    told = f"{totals.opened} opened, {totals.closed.total()} closed" + (f" ({counts})" if counts else "")
    lines = [f"proctor: stopped; sessions: {told}, {len(left)} left open"]
    for each in left:
        lines += _left_lines(each)
    if totals.strangers:
        lines.append(
            f"  note    {totals.strangers} requests lacked the path token and were refused; no session saw them"
        )
    return "\n".join((*lines, f"  status  {status}"))


def _left_status(left: LeftOpen) -> int:
    if left.error is not None or left.summary is None:
        return EXIT_FAILED if left.error is None else left.error.exit_code
    return ending(left.summary, 0, allow_unused=left.spec.allow_unused).status


def _left_lines(left: LeftOpen) -> Iterator[str]:
    verb = "recording" if left.journal is not None else "replaying"
    yield f"  * {left.session}, {verb} {left.spec.cassette}, was never closed: {left.exchanges} exchanges"
    if left.error is not None:
        yield f"    {left.error}".replace("\n", "\n  ")
    if left.journal is not None:
        yield "    its journal is kept and nothing is sealed; to make the tape of it:"
        yield f"    proctor cassette recover {left.journal.name}"
    elif left.error is None:
        yield "    its trace and summary are written, and it counts as failed:"
        yield f"    proctor session show {left.session}"
