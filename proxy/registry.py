"""Opening, finding and closing sessions."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import aiohttp

from proctor.cassette import Cassette, check_place, load_cassette
from proctor.config import Config
from proctor.earlier import facts_of
from proctor.errors import (
    EXIT_FAILED,
    EXIT_FINE,
    EXIT_PLATFORM,
    ConfigError,
    SessionError,
    UsageError,
)
from proctor.journal import JournalWriter
from proctor.paths import Layout
from proctor.placeholders import live_stand_in
from proctor.proxy.addresses import Addresses, known_urls
from proctor.proxy.asked import check_faults, check_overlay, completed
from proctor.proxy.carriers import PathCarrier
from proctor.proxy.conclude import LeftOpen, conclude, leave
from proctor.proxy.extending import check_extends
from proctor.proxy.faulting import faults_of, left_out
from proctor.proxy.journal_head import journal_head
from proctor.proxy.judge_salt import salt_on
from proctor.proxy.metrics import Outcome, Totals, outcome_of
from proctor.proxy.order import StateAware
from proctor.proxy.overlaying import Overlaying
from proctor.proxy.playback import Tape
from proctor.proxy.restoring import Restorer
from proctor.proxy.rewriting import Rewriter
from proctor.proxy.session import Session, session_closed
from proctor.proxy.shelf import Shelf
from proctor.proxy.sources import add_services
from proctor.proxy.tracing import TraceWriter
from proctor.proxy.trust import Trust
from proctor.proxy.upstream import client_session
from proctor.proxy.way import Way, way_to
from proctor.proxy.worlds import FILE as WORLDS_FILE
from proctor.proxy.worlds import open_worlds
from proctor.redaction.environment import secret_variables
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import Rules, rules_of
from proctor.service_config import upstream_url
from proctor.stamp import BEFORE, EXTENDS, OVER
from proctor.summary import Ending, ServiceCount, ending
from proctor.tape_lock import TapeLock
from proctor.trace import SessionSummary
from proctor.wire import ASKED, CURRENT, FROM_TAPE, KEPT, SESSION_HEADER, SessionSpec

_THREADS = 2
"""Tapes that are read or sealed at once: it is work for the processor, and each takes memory of its own."""
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


_Made = TypeVar("_Made")


class Closed(NamedTuple):
    """What became of a closed session, and with what status its command should end."""

    summary: SessionSummary
    end: Ending


@dataclass
class Registry:
    """The sessions of one proxy."""

    config: Config
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    sessions: dict[str, Session] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    """The proxy's own URLs, once it listens; the first is the one that agents are told."""
    carrier: PathCarrier = field(default_factory=PathCarrier)
    totals: Totals = field(init=False)
    bound: str | None = None
    """The id of the session to which `_current` is bound."""
    statuses: set[int] = field(default_factory=set)
    """What closed sessions came to: 4, 3, 1 (that of a command which failed by itself included) or 0."""
    late: Counter[str] = field(default_factory=Counter)
    """By session that has ended, or is ending: how many requests still named it."""
    _client: aiohttp.ClientSession | None = None
    _opening: set[str] = field(default_factory=set)
    _endings: set[asyncio.Task[Closed]] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)
    _rules: Rules = field(default_factory=Rules, init=False)
    _shelf: Shelf = field(init=False)
    _trust: Trust = field(init=False)
    _stopping: bool = False
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS, "proctor"), init=False)

    def __post_init__(self) -> None:
        """Count every configured service from the start."""
        self.totals = Totals({name: ServiceCount() for name in self.config.services})
        self._shelf = Shelf(self.config, self.environ)
        self._trust = Trust(self.config.root)

    @property
    def layout(self) -> Layout:
        """Where the project's files lie."""
        return Layout(self.config.root)

    async def open(self, spec: SessionSpec) -> Session:
        """Start a session. Raises a typed error, leaving nothing behind, where a service, tape or journal is wrong."""
        spec = completed(spec)
        for name in spec.modes:
            self.config.service(name)
        check_overlay(spec)
        check_faults(spec)
        urls = {
            name: upstream_url(name, self.config.services[name], self.environ)
            for name, mode in spec.modes.items()
            if mode in ASKED
        }
        ways = await asyncio.to_thread(self._ways, urls) if urls else {}
        session_id = self._new_id(spec.session)
        self._opening.add(session_id)
        lock: TapeLock | None = None
        try:
            if not KEPT.isdisjoint(spec.modes.values()):
                check_place(self.layout, spec.cassette)
                lock = TapeLock(self.layout, spec.cassette, f"the recording of session {session_id}")
            replays = not FROM_TAPE.isdisjoint(spec.modes.values())
            tape = await self._beside(self._shelf.tape, spec.over or spec.cassette) if replays else None
            if spec.extends and tape is not None:
                check_extends(self.config, spec, tape)
            again = await self._beside(load_cassette, self.layout, spec.cassette) if spec.again else None
            self._check_not_stopping()
            worlds = await self._beside(open_worlds, self.config, spec)
            session = self._session(session_id, spec, urls, tape)
            session.worlds = worlds
            session.judge.earlier = salt_on(again or (tape.cassette if tape else None))
            session.lock = lock
            self._start(session, ways, again)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        finally:
            self._opening.discard(session_id)
        return session

    def _ways(self, urls: Mapping[str, str]) -> dict[str, Way]:
        """The ways to the services that are really asked. Raises ConfigError where one cannot be gone."""
        services, trust = self.config.services, self._trust
        return {name: way_to(name, services[name], url, trust, self.environ) for name, url in urls.items()}

    def _start(self, session: Session, ways: Mapping[str, Way], again: Cassette | None) -> None:
        """Everything that leaves a trace on disk or in the registry, at once. `again` is a tape recorded once more."""
        self._check_not_stopping()
        add_services(session, self.environ, ways, self._pool)
        layout = self.layout
        layout.ensure_state()
        urls = {name: way.url for name, way in ways.items()}
        if urls:
            key = EXTENDS if session.spec.extends else OVER
            earlier = {key: facts_of(session.tape.cassette)} if session.tape else {}
            earlier |= {BEFORE: facts_of(again)} if again else {}
            head = journal_head(session.id, session.spec, self.config, urls, self.environ, earlier)
            session.journal = JournalWriter(self._journal_path(session.spec.cassette, session.id), head)
        else:
            session.trace = TraceWriter(layout.sessions / session.id / "trace.jsonl")
        for stale in ("summary.json", WORLDS_FILE, *(("trace.jsonl",) if urls else ())):
            # An id may have served an earlier proxy: what that left must not pass for this session's.
            (layout.sessions / session.id / stale).unlink(missing_ok=True)
        self.sessions[session.id] = session
        self.totals.opened += 1

    def _check_not_stopping(self) -> None:
        if self._stopping:
            raise SessionError("proxy_stopping", "the proxy is being stopped; no session was opened")

    @property
    def running(self) -> tuple[Session, ...]:
        """Every session that is open: traffic that names none may be any one's, so it is booked on all."""
        return tuple(session for session in self.sessions.values() if not session.closed)

    def find(self, session_id: str) -> Session:
        """The open session of that id; `_current` is the one bound to it, else the only one. Raises SessionError."""
        if session_id == CURRENT:
            return self._current()
        session = self.sessions.get(session_id)
        if session_id in self._ended or (session is not None and session.closed):
            raise session_closed(session_id)
        if session is None:  # the ids of others are not told: they are what keeps strangers out
            raise SessionError("unknown_session", f'no session "{session_id}" on this proxy')
        return session

    def came_late(self, session_id: str) -> None:
        """Count a request that names a session which is closed, by its id or by what `_current` is bound to."""
        self.late[(self.bound or "") if session_id == CURRENT else session_id] += 1

    def bind(self, session_id: str | None) -> None:
        """Let `_current` stand for one session, open or ended, until it is bound anew; None lets it go.

        Raises SessionError for a session that is not open, and where another one has it and is open.
        """
        if session_id is None:
            self.bound = None
            return
        if session_id == CURRENT:
            raise SessionError("unknown_session", f"{CURRENT} cannot be bound to itself", "name a session by its id")
        session = self.find(session_id)
        holder = self.sessions.get(self.bound or "")
        if holder is not None and not holder.closed and holder is not session:
            told = f'{CURRENT} is bound to session "{holder.id}", which is open'
            raise SessionError("current_bound", told, "close that first, or let it go: bind it to null")
        self.bound = session.id

    async def close(self, session_id: str, command_status: int | None) -> Closed:
        """End a session: settle, seal a recording, write trace and summary. Raises SessionError for an unknown one.

        Of two calls at once one ends it. Whoever asked may go away: the end is not broken off.
        """
        session = self.find(session_id)
        session.closed = True
        task = asyncio.create_task(self._end(session, command_status))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)
        return await asyncio.shield(task)

    async def _end(self, session: Session, command_status: int | None) -> Closed:
        await session.settle()
        outcome: Outcome = "failed"
        own = EXIT_PLATFORM
        try:
            summary = await self._beside(conclude, session, command_status)
            end = ending(summary, command_status or 0, allow_unused=session.spec.allow_unused)
            own = ending(summary, 0, allow_unused=session.spec.allow_unused).status
            outcome = outcome_of(summary, end.status)
            return Closed(summary, end)
        finally:
            session.release()
            self._ended.add(self.sessions.pop(session.id).id)
            self.totals.take(session.tally)
            self.totals.closed[outcome] += 1
            self.statuses.add(own or (EXIT_FAILED if command_status else EXIT_FINE))

    async def finish_endings(self) -> None:
        """Open no session any more, and wait for those that are closing."""
        self._stopping = True
        await asyncio.gather(*self._endings, return_exceptions=True)

    async def aclose(self) -> tuple[LeftOpen, ...]:
        """End what nobody closed, and the connections to real services; gives what became of each such session."""
        await self.finish_endings()
        left = []
        for session in self.running:
            session.closed = True
            left.append(await self._beside(leave, session))
            session.release()
        self.sessions.clear()
        self._threads.shutdown(wait=False)
        if self._client is not None:
            await self._client.close()
        return tuple(left)

    def _current(self) -> Session:
        session = self.sessions.get(self.bound or "")
        if session is not None and not session.closed:
            return session
        if self.bound is not None:  # another one that is open is not meant: a late call may be the ended one's
            told = f'{CURRENT} is bound to session "{self.bound}", which is closed'
            raise SessionError("session_closed", told, "bind it to the next one: PUT /_proctor/current")
        running = self.running
        if len(running) != 1:
            told = f"{CURRENT} is bound to no session, and {len(running)} are open"
            fix = f"bind it (PUT /_proctor/current), or name the session: by its own address, {SESSION_HEADER}, its key"
            raise SessionError("unknown_session", told, fix)
        return running[0]

    def _session(self, session_id: str, spec: SessionSpec, asked: Mapping[str, str], tape: Tape | None) -> Session:
        """A session with its tape and its addresses; `asked` has the URL of each service that will be asked."""
        real_urls = self._real_urls(spec, asked, tape)
        path = self.carrier.address(session_id)
        starts = [own + self.carrier.address(id_) for own in self.addresses for id_ in (session_id, CURRENT)]
        session = Session(
            id=session_id,
            spec=spec,
            config=self.config,
            layout=self.layout,
            restorer=Restorer(starts, real_urls),
            rewriter=Rewriter(
                Addresses(self.addresses[0] + path, real_urls),
                {name: self.config.services[name].rewrite for name in spec.modes},
            ),
            secrets=self._secrets(tape),
            overlay=Overlaying(spec.overlay),
            faults=faults_of(spec, tape, self.config),
            tape=tape,
            order=StateAware(tape.effects, tape.state) if tape else None,
        )
        session.tally.notes.update(dict.fromkeys(tape.notes if tape else ()))
        if told := left_out(spec, tape):
            session.tally.notes[told] = None
        for name in session.rewriter.unaddressed():
            session.tally.notes[f"{name}: its real address is not known here, so `rewrite` does nothing"] = None
        return session

    def _secrets(self, tape: Tape | None) -> Redactor:
        """What finds the secrets that an agent sends, and keeps them out of every report. Raises ConfigError."""
        declared = self.config.redact
        variables = secret_variables(self.environ, declared.keep, self.config.credential_variables)
        rules = rules_of(declared.model_dump(), self.config.root, variables)
        if rules != self._rules:  # else what they looked through already is known
            self._rules = rules
        return Redactor(self._rules, tape.cassette.stamp.get("placeholders", 0) if tape else 0, make=live_stand_in)

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

    async def _beside(self, work: Callable[..., _Made], *arguments: object) -> _Made:
        """Do on a thread what takes a while: other sessions are being answered."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def _new_id(self, wanted: str | None) -> str:
        if wanted is None:
            return secrets.token_urlsafe(12).replace("_", "-").lstrip("-") or self._new_id(None)
        if not _SESSION_ID.fullmatch(wanted):
            raise UsageError("session_id", f'"{wanted}" cannot be a session id: letters, digits, "." and "-", up to 64')
        if wanted in self.sessions or wanted in self._opening or wanted in self._ended:
            raise SessionError("session_exists", f'session "{wanted}" is there already', "choose another id, or none")
        return wanted

    def _journal_path(self, cassette: str, session_id: str) -> Path:
        return self.layout.journals / f"{cassette.replace('/', '--')}.{session_id}.jsonl"
