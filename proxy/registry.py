"""Opening, finding and closing sessions."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from proctor.cassette import load_cassette
from proctor.config import Config, upstream_url
from proctor.errors import ConfigError, SessionError, UsageError
from proctor.journal import JournalWriter
from proctor.paths import Layout, cassette_name
from proctor.proxy.addresses import Addresses, known_urls
from proctor.proxy.conclude import conclude
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.order import NextInLine
from proctor.proxy.playback import Tape
from proctor.proxy.replay import Replay
from proctor.proxy.restoring import CURRENT, Restorer
from proctor.proxy.rewriting import Rewriter
from proctor.proxy.session import ServiceInSession, Session, journal_head
from proctor.proxy.tracing import TraceWriter
from proctor.proxy.upstream import Upstream, client_session
from proctor.trace import SessionSummary
from proctor.wire import SessionSpec

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


@dataclass
class Registry:
    """The sessions of one proxy."""

    config: Config
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    sessions: dict[str, Session] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    """The proxy's own URLs, once it listens; the first is the one that agents are told."""
    _client: aiohttp.ClientSession | None = None
    _ended: set[str] = field(default_factory=set)

    @property
    def layout(self) -> Layout:
        """Where the project's files lie."""
        return Layout(self.config.root)

    def open(self, spec: SessionSpec) -> Session:
        """Start a session. Raises a typed error, leaving nothing behind, where a service, tape or journal is wrong."""
        spec = spec.model_copy(update={"cassette": cassette_name(spec.cassette)})
        for name in spec.modes:
            self.config.service(name)
        session_id = self._new_id(spec.session)
        layout = self.layout
        urls = {
            name: upstream_url(name, self.config.services[name], self.environ)
            for name, mode in spec.modes.items()
            if mode != "replay"
        }
        session = self._session(session_id, spec, urls)
        layout.ensure_state()
        if urls:
            head = journal_head(session_id, spec, self.config, urls, self.environ)
            session.journal = JournalWriter(self._journal_path(spec.cassette, session_id), head)
        else:
            session.trace = TraceWriter(layout.sessions / session_id / "trace.jsonl")
        self._add_services(session, urls)
        self.sessions[session_id] = session
        return session

    @property
    def running(self) -> tuple[Session, ...]:
        """Every session that is open: traffic that names none may be any one's, so it is booked on all."""
        return tuple(session for session in self.sessions.values() if not session.closed)

    def find(self, session_id: str) -> Session:
        """The open session of that id; `_current` is the one that is open, where only one is. Raises SessionError."""
        if session_id == CURRENT:
            return self._only_one()
        session = self.sessions.get(session_id)
        if session_id in self._ended or (session is not None and session.closed):
            raise SessionError("session_closed", f'session "{session_id}" is closed; its agent called after the end')
        if session is None:  # the ids of others are not told: they are what keeps strangers out
            raise SessionError("unknown_session", f'no session "{session_id}" on this proxy')
        return session

    async def close(self, session_id: str, command_status: int | None) -> SessionSummary:
        """End a session: settle, seal a recording, write trace and summary. Raises SessionError for an unknown one."""
        session = self.find(session_id)
        await session.settle()
        try:
            return await asyncio.to_thread(conclude, session, command_status)
        finally:
            self._ended.add(self.sessions.pop(session.id).id)

    async def aclose(self) -> None:
        """Close the connections to real services and the files of sessions that nobody closed; their journals stay."""
        for session in self.sessions.values():
            session.closed = True
            if session.journal is not None:
                session.journal.close()
            if session.trace is not None:
                session.trace.close()
        self.sessions.clear()
        if self._client is not None:
            await self._client.close()

    def _only_one(self) -> Session:
        running = self.running
        if len(running) != 1:
            raise SessionError(
                "unknown_session",
                f"_current wants one open session, and {len(running)} are",
                "call the session by its own address",
            )
        return running[0]

    def _add_services(self, session: Session, urls: Mapping[str, str]) -> None:
        binder = IdentityBinder(session.tape, self.environ) if session.tape else None
        for name, mode in session.spec.modes.items():
            service = self.config.services[name]
            if mode == "replay":
                assert session.tape is not None
                assert session.order is not None
                assert binder is not None
                source: Replay | Upstream = Replay(service, session.tape, session.order, binder)
            else:
                source = Upstream(service, urls[name], self._pool(), record=mode == "record")
            session.services[name] = ServiceInSession(name, service, source)

    def _session(self, session_id: str, spec: SessionSpec, asked: Mapping[str, str]) -> Session:
        """A session with its tape and its addresses; `asked` has the URL of each service that will be asked."""
        tape = None
        if "replay" in spec.modes.values():
            tape = Tape(load_cassette(self.layout, spec.cassette), self.config)
        real_urls = self._real_urls(spec, asked, tape)
        addresses = Addresses(f"{self.addresses[0]}/s/{session_id}", real_urls)
        session = Session(
            id=session_id,
            spec=spec,
            config=self.config,
            layout=self.layout,
            restorer=Restorer(self.addresses, session_id, real_urls),
            rewriter=Rewriter(addresses, {name: self.config.services[name].rewrite for name in spec.modes}),
            tape=tape,
            order=NextInLine(tape.effects) if tape else None,
        )
        for name in session.rewriter.unaddressed():
            session.tally.notes[f"{name}: its real address is not known here, so `rewrite` does nothing"] = None
        return session

    def _real_urls(self, spec: SessionSpec, asked: Mapping[str, str], tape: Tape | None) -> dict[str, str]:
        """Where the services of a session really are, as far as that is known: a replay needs no variable set."""
        configured = {}
        for name in spec.modes:
            with suppress(ConfigError):
                configured[name] = upstream_url(name, self.config.services[name], self.environ)
        return known_urls(spec.modes, asked, tape.cassette.stamp.get("services", {}) if tape else {}, configured)

    def _pool(self) -> aiohttp.ClientSession:
        """Made when the first service needs it: a proxy that only replays has no way out at all."""
        if self._client is None:
            self._client = client_session()
        return self._client

    def _new_id(self, wanted: str | None) -> str:
        if wanted is None:
            return secrets.token_urlsafe(12).replace("_", "-").lstrip("-") or self._new_id(None)
        if not _SESSION_ID.fullmatch(wanted):
            raise UsageError("session_id", f'"{wanted}" cannot be a session id: letters, digits, "." and "-", up to 64')
        if wanted in self.sessions or wanted in self._ended:
            raise SessionError("session_exists", f'session "{wanted}" is there already', "choose another id, or none")
        return wanted

    def _journal_path(self, cassette: str, session_id: str) -> Path:
        return self.layout.journals / f"{cassette.replace('/', '--')}.{session_id}.jsonl"
