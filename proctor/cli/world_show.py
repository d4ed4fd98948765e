"""`proctor world list` and `show`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from proctor.cli.project import project_config
from proctor.cli.world_project import world_kind, world_services
from proctor.errors import EXIT_FINE
from proctor.world.kind import WorldKind
from proctor.world.loading import load_world
from proctor.world.openai_tools import openai_tools
from proctor.world.session import WorldSession
from proctor.world.toolkit import Tool


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: by service, the class and its tools.")
def list_worlds(as_json: bool) -> int:
    """List the services that have a world, with the class and its tools. Each class is loaded and checked.

    \b
    Exit status: 0 fine; 2 a world cannot be loaded, or there is none.
    """
    config = project_config()
    found = {name: (world, load_world(world, config.root)) for name, world in world_services(config).items()}
    if as_json:
        told = {name: {"world": world, "tools": list(kind.tools)} for name, (world, kind) in found.items()}
        click.echo(json.dumps(told, ensure_ascii=False))
        return EXIT_FINE
    for name, (world, kind) in found.items():
        click.echo(f"{name:16} {world}: {', '.join(kind.tools)}")
    return EXIT_FINE


@click.command("show")
@click.argument("service", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the list for a model's API, and the start.")
@click.option("--distractors", type=click.IntRange(0, 999), default=0, help="So many near misses stand in the list.")
def show_world(service: str | None, as_json: bool, distractors: int) -> int:
    """Print each tool of a world with its arguments and rules, and the state that a session begins with.

    \b
      proctor world show orders
      proctor world show orders --json | jq .tools
    """
    name, kind = world_kind(project_config(), service)
    state = WorldSession(kind, 0).state()
    if as_json:
        told = {"service": name, "tools": openai_tools(kind, distractors), "start": state}
        click.echo(json.dumps(told, ensure_ascii=False))
        return EXIT_FINE
    for line in _lines(kind):
        click.echo(line)
    click.echo(f"\nstart: {json.dumps(state, ensure_ascii=False, indent=1)}")
    return EXIT_FINE


def _lines(kind: WorldKind) -> Iterator[str]:
    for tool in kind.tools.values():
        yield f"{tool.name}{_rules(tool)}"
        yield f"    {tool.description}"
        schema = tool.arguments.json_schema()
        for argument, told in schema.get("properties", {}).items():
            left_out = " (may be left out)" if argument in tool.defaults else ""
            what = told.get("description") or told.get("type") or "one of several types"
            yield f"    {argument}: {what}{left_out}"


def _rules(tool: Tool) -> str:
    declared = tool.declared
    rules: list[str] = [declared.effect] if declared.effect else []
    rules += [f"for {' and '.join(declared.audience)}"] if declared.audience else []
    rules += [f"after {' and '.join(declared.after)}"] if declared.after else []
    rules += [f"token in {declared.token}"] if declared.token else []
    return f"  [{'; '.join(rules)}]" if rules else ""
