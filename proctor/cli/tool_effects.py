"""Which tools write and which read, as proctor.toml says."""

from __future__ import annotations

from proctor.checks.writes import ToolEffects
from proctor.config import Config


def tool_effects(config: Config) -> ToolEffects:
    """The patterns of all services together."""
    services = config.services.values()
    return ToolEffects(
        tuple(pattern for each in services for pattern in each.writes),
        tuple(pattern for each in services for pattern in each.reads),
    )
