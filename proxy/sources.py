"""What answers each service of a session: the tape, the real thing, both, or a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp

from proctor.bindings import Bindings
from proctor.proxy.episodes import ModelEpisodes, ToolEpisodes
from proctor.proxy.finding import RecordingFinder
from proctor.proxy.forgive import Forgiver
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.live_secrets import LiveSecrets
from proctor.proxy.live_world import LiveWorld
from proctor.proxy.order import StateAware
from proctor.proxy.playback import Tape
from proctor.proxy.replay import Replay
from proctor.proxy.seams import Source
from proctor.proxy.session import ServiceInSession, Session
from proctor.proxy.upstream import Upstream
from proctor.proxy.way import Way
from proctor.proxy.world_source import WorldSource
from proctor.wire import FROM_TAPE, KEPT


def add_services(
    session: Session, environ: Mapping[str, str], ways: Mapping[str, Way], pool: Callable[[], aiohttp.ClientSession]
) -> None:
    """Give a session its services. `ways` has each that is really asked, and only for those the pool is taken."""
    taped = _Taped.of(session, session.tape, session.order, environ) if session.tape and session.order else None
    for name, mode in session.spec.modes.items():
        service = session.config.services[name]
        if mode == "world":
            source: Source | None = WorldSource(service, session.worlds[name], environ)
            assert source is not None
            session.services[name] = ServiceInSession(name, service, source)
            continue
        upstream = Upstream(service, ways[name], pool(), record=mode in KEPT) if name in ways else None
        source = upstream
        if mode in FROM_TAPE:
            assert taped is not None
            source = taped.source(name, upstream)
        assert source is not None
        session.services[name] = ServiceInSession(name, service, source)


@dataclass
class _Taped:
    """What the services that a tape answers share."""

    session: Session
    tape: Tape
    order: StateAware
    binder: IdentityBinder
    live: LiveSecrets
    bindings: Bindings
    world: LiveWorld

    @classmethod
    def of(cls, session: Session, tape: Tape, order: StateAware, environ: Mapping[str, str]) -> _Taped:
        binder = IdentityBinder(tape, environ, session.secrets)
        live = LiveSecrets(tape, environ, session.secrets)
        return cls(session, tape, order, binder, live, Bindings(), LiveWorld(session, tape, order))

    def source(self, name: str, upstream: Upstream | None) -> Source:
        """The tape's answers; with `upstream`, those of the real thing to what the tape lacks."""
        service = self.session.config.services[name]
        essences = self.tape.essences(name)
        forgiver = Forgiver(essences, self.bindings) if essences else None
        replay = Replay(service, RecordingFinder(self.tape, self.live, forgiver), self.order, self.binder)
        if upstream is None:
            return replay
        if name in self.session.config.llm_services:
            return ModelEpisodes(replay, upstream)
        return ToolEpisodes(service, replay, upstream, self.world, self.binder)
