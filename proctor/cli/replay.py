"""`proctor replay`."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.launching import launch, session_options


@click.command(context_settings={"ignore_unknown_options": True})
@session_options()
def replay(**options: Any) -> int:
    """Run COMMAND against a tape. Nothing is connected to, and no key is needed.

    A request that the tape does not answer is refused with status 422 and fails the run with status 3, whatever the
    agent makes of it. With one service live, the others still answer from the tape.

    \b
      proctor replay --cassette refund -- python agent.py
      proctor replay --cassette refund --mode llm=live -- python agent.py
    """
    return launch("replay", **options)
