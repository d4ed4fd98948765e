"""The worlds of a session: opened with it, told over the control API, and written down at its end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.config import Config
from proctor.errors import ConfigError, UsageError, nearest
from proctor.redaction.redactor import Redactor
from proctor.wire import SEEDS, SessionSpec, WorldAnswer, WorldReset, WorldWrite
from proctor.world.loading import load_world
from proctor.world.session import WorldSession

FILE = "worlds.json"
"""In the folder of a session that has ended: by service, each world as it stood then (a `WorldAnswer`)."""


def open_worlds(config: Config, spec: SessionSpec) -> dict[str, WorldSession]:
    """A world for each service in mode `world`, by name.

    Raises ConfigError where a service has none, WorldError for a class or a state that is not as it must be, UsageError
    for a state that no world begins with.
    """
    names = [name for name, mode in spec.modes.items() if mode == "world"]
    for name in spec.worlds:
        if name not in names:
            told = f'a state for the world "{name}", which is not in mode world'
            raise UsageError("world_not_opened", told, nearest(name, names))
    seed = seed_of(spec)
    return {name: _opened(config, name, seed, spec.worlds.get(name)) for name in names}


def seed_of(spec: SessionSpec) -> int:
    """The seed of a session's worlds: each tape's, so each case's, is its own, and the same on any day."""
    if spec.seed is not None:
        return spec.seed
    return int.from_bytes(hashlib.sha256(spec.cassette.encode()).digest()[:8], "big") % SEEDS


def told(service: str, world: WorldSession) -> WorldAnswer:
    """A world as it stands."""
    return WorldAnswer(
        service=service,
        calls=world.calls,
        state=world.state(),
        diff=world.diff(),
        log=tuple(WorldWrite(call=each.call, tool=each.tool, patch=each.patch) for each in world.log),
    )


def reset(service: str, world: WorldSession) -> WorldReset:
    """Let a world be as at the start."""
    writes = len(world.log)
    world.reset()
    return WorldReset(service=service, writes=writes)


def write_worlds(folder: Path, worlds: Mapping[str, WorldSession], redactor: Redactor) -> None:
    """Write each world as it stands into a session's folder, without secrets. Raises OSError."""
    if not worlds:
        return
    stand: dict[str, Any] = {name: told(name, world).model_dump(mode="json") for name, world in worlds.items()}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(redactor.shown(stand), ensure_ascii=False)
    (folder / FILE).write_bytes(text.encode("utf-8", "surrogateescape") + b"\n")


def _opened(config: Config, name: str, seed: int, given: Any) -> WorldSession:
    reference = config.services[name].world
    if not reference:
        told = f'service "{name}" has no world'
        raise ConfigError("world_missing", told, f'world = "module:Class" under [services.{name}]; see docs/worlds.md')
    return WorldSession(load_world(reference, config.root), seed, given)
