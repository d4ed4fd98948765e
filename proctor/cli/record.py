"""`proctor record`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from proctor.cli.launching import launch, session_options
from proctor.cli.listening import listening
from proctor.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@session_options(needs_cassette=False)
@click.option("--only", default="", metavar="SERVICE[,...]", help="Record these; a tape answers all others.")
@click.option("--over", default="", metavar="TAPE", help="The tape that answers them; by default that of --cassette.")
@click.option("--again", multiple=True, metavar="TAPE", help="Record this tape, or all of a folder, once more.")
@click.option("--yes", is_flag=True, help="With --again: replace tapes that changed without asking.")
def record(only: str, again: Sequence[str], yes: bool, **options: Any) -> int:
    """Run COMMAND against the real services and keep what they answer.

    The tape is written only after a clean run; until then, and after any other, the old one stays. Modes: record,
    replay (from the tape of that name), live (asked, not kept); a tape is extended by `proctor replay`.

    With --only, an earlier tape answers the other services, and what it answers is taken over into the new tape: a
    changed prompt needs the LLM, not staging. NAME and TAPE may be the same.

    With --isolate (Linux) the agent has a network of its own, with the proxy in it and nothing else: so no client goes
    past unseen. With --host and --advertise an agent in a container reaches the proxy, by addresses with a secret path.

    With --faults, calls go wrong as planned (docs/faults.md): these are answered in place of the real service and are
    not on the tape.

    With --again, each tape is recorded once more and compared with what it was. Where nothing really changed it stays,
    byte for byte; else it is replaced if you say so, at the terminal or by --yes, and the new one is kept aside (status
    1) if not. It may be given several times; a folder below cassettes/ means every tape in it.

    \b
      proctor record --cassette refund -- python agent.py
      proctor record --cassette refund --mode helper=live -- pytest -k refund
      proctor record --isolate --cassette refund -- python agent.py
      proctor record --only llm --over refund --cassette refund_v2 -- python agent.py
      proctor record --again refund
      proctor record --again cassettes/ --yes
    """
    if again:
        return _again(again, yes, only, **options)
    if yes:
        raise UsageError("yes_to_what", "--yes answers what --again asks", "leave it out, or name a tape: --again NAME")
    if options["cassette"] is None:
        raise UsageError("no_cassette", "no tape is named", "say which: --cassette NAME")
    named = _services(only)
    if options["over"] and not named and not options["modes"]:
        raise UsageError("over_what", "--over names a tape, but nothing says what is recorded", "add --only llm")
    return launch("record", only=named, **options)


def _again(named: Sequence[str], yes: bool, only: str, **options: Any) -> int:
    given = {"--cassette": options["cassette"], "--mode": options["modes"], "--only": only, "--over": options["over"]}
    given |= {"--faults": options["faults"], "--strict": options["strict"]}
    wrong = [option for option, value in given.items() if value]
    if wrong:
        told = f"--again takes everything from the tape, and {wrong[0]} says otherwise"
        raise UsageError("again_with_more", told, f"leave out {wrong[0]}")
    from proctor.cli.again import record_again

    where = listening(options["port"], options["host"], options["advertise"])
    kept = {name: options[name] for name in ("command", "isolate", "allow_unused", "as_json")}
    return record_again(named, yes=yes, where=where, **kept)


def _services(only: str) -> Sequence[str]:
    return tuple(name.strip() for name in only.split(",") if name.strip())
