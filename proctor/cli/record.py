"""`proctor record`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from proctor.cli.launching import launch, session_options
from proctor.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@session_options(needs_cassette=False)
@click.option("--only", default="", metavar="SERVICE[,...]", help="Record these; a tape answers all others.")
@click.option("--over", default="", metavar="TAPE", help="The tape that answers them; by default that of --cassette.")
def record(only: str, **options: Any) -> int:
    """Run COMMAND against the real services and keep what they answer.

    The tape is written only after a clean run; until then, and after any other, the old one stays. Modes: record,
    replay (from the tape of that name), live (asked, not kept).

    With --only, an earlier tape answers the other services, and what it answers is taken over into the new tape: a
    changed prompt needs the LLM, not staging. NAME and TAPE may be the same.

    \b
      proctor record --cassette refund -- python agent.py
      proctor record --cassette refund --mode helper=live -- pytest -k refund
      proctor record --only llm --over refund --cassette refund_v2 -- python agent.py
    """
    if not options["cassette"]:
        raise UsageError("no_cassette", "no tape is named", "say which: --cassette NAME")
    named = _services(only)
    if options["over"] and not named and not options["modes"]:
        raise UsageError("over_what", "--over names a tape, but nothing says what is recorded", "add --only llm")
    return launch("record", only=named, **options)


def _services(only: str) -> Sequence[str]:
    return tuple(name.strip() for name in only.split(",") if name.strip())
