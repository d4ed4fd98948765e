"""What a test gets: its session, as seen from inside the test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.events import EventRow
    from proctor.pytest_plugin.background import BackgroundProxy
    from proctor.trace import MissSeen, SessionSummary, TraceRow
    from proctor.wire import SessionInfo


class ProctorSession:
    """The fixture `proctor_session`: where the services are, what has been asked, and how to run a program there."""

    def __init__(self, proxy: BackgroundProxy, info: SessionInfo, variables: Mapping[str, str]) -> None:
        """`variables` are those that the launcher sets; the test's process has them already."""
        self._proxy = proxy
        self.id = info.session
        self.cassette = info.cassette
        """The name of the tape: `cassettes/NAME.yaml`."""
        self.modes: Mapping[str, str] = dict(info.modes)
        """`record`, `replay` or `live`, by service."""
        self.recording = "record" in info.modes.values()
        self.urls: Mapping[str, str] = {name: f"{info.url}/{name}" for name in info.modes}
        """The address of each service in this session."""
        self.variables: Mapping[str, str] = dict(variables)
        """What points an agent at this session; for containers and other machines' launchers."""

    @property
    def summary(self) -> SessionSummary:
        """What the session has done so far. Only while the test and its later fixtures run."""
        return self._proxy.summary(self.id)

    @property
    def misses(self) -> tuple[MissSeen, ...]:
        """The requests so far that the tape does not answer; any of them fails the test."""
        return self.summary.misses

    def trace(self) -> list[TraceRow]:
        """Every exchange so far: service, tool, arguments, result, status."""
        return self._proxy.trace(self.id)

    def events(self) -> list[EventRow]:
        """What the agent told so far, by `POST $PROCTOR_SESSION_URL/_events`: kind and data."""
        return self._proxy.events(self.id)

    def environment(self) -> dict[str, str]:
        """The whole environment for a program that runs as the agent."""
        return {**os.environ, **self.variables}

    def run(self, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a program to its end as the agent, its output kept as text; `options` as `subprocess.run` takes them."""
        given = {"env": self.environment(), "capture_output": True, "text": True, **options}
        done: subprocess.CompletedProcess[str] = subprocess.run(command, **given)
        return done
