"""`proctor replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.cli.launching import launch, session_options
from proctor.overlay import load_overlay


@click.command(context_settings={"ignore_unknown_options": True})
@session_options()
@click.option("--overlay", type=click.Path(path_type=Path), metavar="FILE", help="Changes to the recorded answers.")
@click.option("--timing", is_flag=True, help="Answer when the real services did, piece by piece; by default at once.")
def replay(overlay: Path | None, *, timing: bool, **options: Any) -> int:
    """Run COMMAND against a tape. Nothing is connected to, and no key is needed.

    A request that the tape does not answer is refused with status 422 and fails the run with status 3, whatever the
    agent makes of it. With one service live, the others still answer from the tape. A service in the mode new_episodes
    answers from the tape too, and what that lacks is asked of the real service and appended.

    With --timing every answer of the tape comes as long after its request as the real one did, and each event of a
    stream at its own moment: for tests of time-outs and progress. Without it nothing waits.

    With --faults, calls go wrong as planned: `proctor faults explain PLAN` tells what a plan does.

    With --isolate (Linux) the agent has a network of its own, with the proxy in it and nothing else: so no client goes
    past unseen, whatever it makes of proxy variables.

    \b
      proctor replay --cassette refund -- python agent.py
      proctor replay --isolate --cassette refund -- python agent.py
      proctor replay --cassette refund --mode llm=live -- python agent.py
      proctor replay --cassette refund --mode llm=live --mode orders=new_episodes -- python agent.py
      proctor replay --cassette refund --mode llm=live --overlay lost_parcel.toml -- python agent.py
      proctor replay --cassette refund --mode llm=live --faults create_refund:1=timeout -- python agent.py
      proctor replay --cassette refund --timing -- python agent.py
    """
    return launch("replay", overlay=load_overlay(overlay) if overlay else (), timing=timing, **options)
