"""`proctor world call`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from proctor.cli.project import project_config
from proctor.cli.world_project import SEED_OPTION, start_of, world_kind
from proctor.errors import EXIT_FAILED, EXIT_FINE, UsageError, WorldFailed
from proctor.world.session import Answer, WorldSession


@click.command("call")
@click.argument("service")
@click.argument("steps", nargs=-1, required=True, metavar="TOOL [JSON] [TOOL [JSON]]...")
@click.option("--as", "caller", metavar="IDENTITY", default="", help="Who calls; by default nobody (anonymous).")
@click.option("--start", type=click.Path(dir_okay=False, path_type=Path), help="A JSON file: the state to begin with.")
@SEED_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object: each answer, the state and the diff.")
def call_world(service: str, steps: Sequence[str], caller: str, start: Path | None, seed: int, as_json: bool) -> int:
    """Call tools of a world, one after the other, in a session of their own; prints each answer and what it changed.

    A word that begins with "{" holds the arguments of the tool before it. The token that was handed out last goes along
    as the credential, for tools that take theirs from there.

    \b
    Exit status: 0 each call succeeded; 1 one was refused; 2 usage, or the world cannot be loaded;
    4 the world failed.

    \b
      proctor world call orders query_order '{"order_id": "A1"}'
      proctor world call orders calc_refund '{"order_id": "A1"}' create_refund '{"order_id": "A1"}' --as alice
    """
    _, kind = world_kind(project_config(), service)
    world = WorldSession(kind, seed, start_of(start))
    answers: list[tuple[str, Answer]] = []
    for tool, body in calls_of(steps):
        try:
            token = world.tokens()[-1:]
            answers.append((tool, world.call(tool, body.encode("utf-8", "surrogateescape"), caller, *token)))
        except WorldFailed as failed:
            click.echo(failed.trace, err=True, nl=False)
            raise
        if not as_json:
            _tell(*answers[-1])
    if as_json:
        told = {"calls": [_as_data(*each) for each in answers], "state": world.state(), "diff": world.diff()}
        click.echo(json.dumps(told, ensure_ascii=False))
    return EXIT_FAILED if any(answer.refused for _, answer in answers) else EXIT_FINE


def calls_of(steps: Sequence[str]) -> list[tuple[str, str]]:
    """Each tool with its arguments as JSON. Raises UsageError for arguments without a tool."""
    found: list[tuple[str, str]] = []
    for step in steps:
        if not step.lstrip().startswith("{"):
            found.append((step, "{}"))
        elif not found or found[-1][1] != "{}":
            raise UsageError("no_tool", f"{step} belongs to no tool", "put each object after its tool: TOOL JSON")
        else:
            found[-1] = (found[-1][0], step)
    return found


def _tell(tool: str, answer: Answer) -> None:
    click.echo(f"{tool}  -> {answer.status}  {answer.body.decode()}")
    for step in answer.patch:
        value = f" {json.dumps(step['value'], ensure_ascii=False)}" if "value" in step else ""
        click.echo(f"    {step['op']:<7} {step['path']}{value}")


def _as_data(tool: str, answer: Answer) -> dict[str, Any]:
    result = json.loads(answer.body)
    return {"tool": tool, "status": answer.status, "result": result, "effect": answer.effect, "patch": answer.patch}
