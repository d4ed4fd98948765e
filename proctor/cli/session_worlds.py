"""The worlds that a session which has ended left in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from proctor.proxy.worlds import FILE
from proctor.wire import WorldAnswer

_WORLDS = TypeAdapter(dict[str, WorldAnswer])


def world_states(folder: Path) -> dict[str, Any]:
    """The end state of each world, by service; none where the session had none. Raises OSError, ValueError."""
    path = folder / FILE
    if not path.exists():
        return {}
    return {name: world.state for name, world in _WORLDS.validate_json(path.read_bytes()).items()}
