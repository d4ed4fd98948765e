"""What the world commands read: the worlds of the project, and a state to begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from proctor.cli.trajectory_input import json_file
from proctor.config import Config
from proctor.errors import ConfigError, UsageError, nearest
from proctor.wire import SEEDS
from proctor.world.kind import WorldKind
from proctor.world.loading import load_world

_Command = Callable[..., Any]

SEED_OPTION = click.option(
    "--seed", type=click.IntRange(0, SEEDS - 1), default=0, show_default=True, help="Of ids, chance and time."
)


def world_services(config: Config) -> dict[str, str]:
    """The services that have a world, with its class. Raises ConfigError where there is none."""
    found = {name: service.world for name, service in config.services.items() if service.world}
    if not found:
        told = "no service of proctor.toml has a world"
        raise ConfigError("world_missing", told, 'world = "module:Class" under [services.NAME]; see docs/worlds.md')
    return found


def world_kinds(config: Config) -> dict[str, WorldKind]:
    """Every world of the project by service; none where there is none. Raises WorldError."""
    return {name: load_world(each.world, config.root) for name, each in config.services.items() if each.world}


def world_kind(config: Config, service: str | None) -> tuple[str, WorldKind]:
    """The world of a service, by default of the only one that has one, with the service's name."""
    known = world_services(config)
    if service is None and len(known) > 1:
        raise UsageError("world_ambiguous", f"which world: {', '.join(known)}?", "name the service")
    name = service or next(iter(known))
    if name not in known:
        raise UsageError("unknown_world", f'no service "{name}" has a world', nearest(name, known))
    return name, load_world(known[name], config.root)


def start_of(path: Path | None) -> Any:
    """The state in a JSON file, or None without one."""
    return None if path is None else json_file(path)
