"""How a judging service is set up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proctor.trajectories.file import MAX_LINE_BYTES

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """What one service takes."""

    line_bytes: int = MAX_LINE_BYTES
    """Of one trajectory or request."""
    batch_bytes: int = 256 * MIB
    batch_lines: int = 100_000
    waiting: int = 10_000
    """Verdicts asked for and not begun; past it nothing is accepted."""
    requests_a_second: float = 100.0
    """Of all who send, on average; ten seconds' worth may come at once."""


@dataclass(frozen=True)
class Settings:
    """Of one service."""

    folder: Path
    """`.proctor/judge`: database, salt and lock."""
    models: tuple[str, ...]
    """The models that may be asked for; the first by default."""
    agent_vendor: str = ""
    """The agent's, where neither trajectory nor request tells."""
    host: str = "127.0.0.1"
    port: int = 0
    """0 lets the system choose."""
    token: str = ""
    """Made where it is empty."""
    lasting: bool = True
    """What is accepted goes on after a restart. A command's own service ends with the command instead."""
    calls_at_once: int = 5
    """Per provider."""
    runs_at_once: int = 4
    """Per model."""
    per_day: float | None = None
    """US dollars a day (UTC)."""
    share: float = 0.05
    """Of verdicts that nothing flags, those that people look at all the same."""
    grace: float = 30.0
    """Seconds that runs which are being judged have to come to their end, when the service is stopped."""
    limits: Limits = Limits()
