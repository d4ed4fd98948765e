"""`proctor effects`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence

import click

from proctor.cassette import load_cassette
from proctor.cli.effects_shown import ADVICE, effect_lines, unexplained_lines
from proctor.cli.project import project_config
from proctor.config import CONFIG_NAME, Config
from proctor.config_edit import declare
from proctor.effect_table import Confirmation, confirmations, effects_seen, toml_lines
from proctor.paths import Layout, cassette_name
from proctor.proxy.playback import indexed
from proctor.proxy.unexplained import unexplained
from proctor.trace import EffectSeen, Unexplained


@click.command()
@click.argument("names", metavar="[CASSETTE]...", nargs=-1)
@click.option("--write", is_flag=True, help="Declare the guessed ones in proctor.toml.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def effects(names: tuple[str, ...], write: bool, as_json: bool) -> None:
    """Show what each recorded call does to its service, and why that is believed.

    By today's proctor.toml, for the tapes named or for all. A POST that nothing declares is guessed from its name: look
    at each guess, then declare it, by hand or with --write, which keeps the file's comments and layout and changes
    nothing that is declared. Reads that were answered differently with no write between are named.

    \b
      proctor effects
      proctor effects refund --json
      proctor effects --write
    """
    config = project_config()
    layout = Layout(config.root)
    chosen = [cassette_name(name) for name in names] or layout.cassette_names()
    tapes = [indexed(load_cassette(layout, name), config, os.environ) for name in chosen]
    seen = effects_seen(
        config.services, (tape.shown(at) for tape in tapes for at in range(len(tape.cassette.interactions)))
    )
    confirmed = confirmations(config.services, seen)
    if write and confirmed:
        declare(config.root / CONFIG_NAME, confirmed)
    doubts = {tape.cassette.name: unexplained(tape) for tape in tapes}
    if as_json:
        click.echo(_json(seen, confirmed, doubts, written=write))
    elif not tapes:
        click.echo("no cassettes yet; record one: proctor record --cassette NAME -- COMMAND", err=True)
    else:
        told = [f"{name}: {line}" for name, found in doubts.items() for line in unexplained_lines(found)]
        click.echo("\n".join(effect_lines(seen)))
        click.echo(
            "\n".join(
                [
                    *_guesses(config, seen, confirmed, written=write),
                    *([*told, *(f"  {line}" for line in ADVICE)] if told else ()),
                ]
            )
        )


def _guesses(
    config: Config, seen: Sequence[EffectSeen], confirmed: Mapping[str, Confirmation], *, written: bool
) -> Iterator[str]:
    """What was declared, or how it would be; and which guesses no entry can declare."""
    guessed = sum(each.why == "guessed" for each in seen)
    if not guessed:
        yield "no effect is guessed: there is nothing to confirm"
    elif confirmed:
        yield (
            f"declared in {CONFIG_NAME}, which holds now:"
            if written
            else f"if the guessed ones are right, declare them: proctor effects --write, or in {CONFIG_NAME}:"
        )
        yield from (f"  {line}" for line in toml_lines(config.services, confirmed))
    left = guessed - sum(len(reads) + len(writes) for reads, writes in confirmed.values())
    if left > 0:
        yield (
            f"{left} of the guessed ones can be declared by hand only: their service is not in {CONFIG_NAME}, "
            "or a name like theirs has another effect"
        )


def _json(
    seen: Sequence[EffectSeen],
    confirmed: Mapping[str, Confirmation],
    doubts: Mapping[str, Sequence[Unexplained]],
    *,
    written: bool,
) -> str:
    told = {
        "effects": [each.model_dump(mode="json") for each in seen],
        "confirm": {name: added._asdict() for name, added in confirmed.items()},
        "written": written and bool(confirmed),
        "unexplained": {name: [each.model_dump(mode="json") for each in found] for name, found in doubts.items()},
    }
    return json.dumps(told, ensure_ascii=False)
