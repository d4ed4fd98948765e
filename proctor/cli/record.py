"""`proctor record`."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.launching import launch, session_options


@click.command(context_settings={"ignore_unknown_options": True})
@session_options
def record(**options: Any) -> int:
    """Run COMMAND against the real services and keep what they answer.

    The tape is written only after a clean run; until then, and after any other, the old one stays. Modes: record,
    replay (from the tape of that name), live (asked, not kept).

    \b
      proctor record --cassette refund -- python agent.py
      proctor record --cassette refund --mode helper=live -- pytest -k refund
    """
    return launch("record", **options)
