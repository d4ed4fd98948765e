"""Opening, finding and closing sessions."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from proctor.cassette import load_cassette
from proctor.config import Config, upstream_url
from proctor.errors import ProctorError, SessionError, UsageError, nearest
from proctor.journal import JournalWriter, read_journal
from proctor.paths import Layout, cassette_name
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.order import NextInLine
from proctor.proxy.playback import Tape
from proctor.proxy.replay import Replay
from proctor.proxy.session import ServiceInSession, Session, journal_head, llm_services
from proctor.proxy.tracing import TraceWriter
from proctor.proxy.upstream import Upstream, client_session
from proctor.sealing import SealResult, seal
from proctor.summary import llm_of, unused_labels
from proctor.trace import SessionSummary, row_line
from proctor.wire import SessionSpec, set_up_of

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


@dataclass
class Registry:
    """The sessions of one proxy. `current` is the session that traffic without an address of its own belongs to."""

    config: Config
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    sessions: dict[str, Session] = field(default_factory=dict)
    current: Session | None = None
    _client: aiohttp.ClientSession | None = None

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
        recorded = [name for name, mode in spec.modes.items() if mode == "record"]
        urls = {
            name: upstream_url(name, self.config.services[name], self.environ)
            for name, mode in spec.modes.items()
            if mode != "replay"
        }
        session = Session(id=session_id, spec=spec, config=self.config, layout=layout)
        if "replay" in spec.modes.values():
            session.tape = Tape(load_cassette(layout, spec.cassette), self.config)
            session.order = NextInLine(session.tape.effects)
        layout.ensure_state()
        if recorded:
            head = journal_head(session_id, spec, self.config, urls, self.environ)
            session.journal = JournalWriter(self._journal_path(spec.cassette, session_id), head)
        else:
            session.trace = TraceWriter(layout.sessions / session_id / "trace.jsonl")
        self._add_services(session, urls)
        self.sessions[session_id] = session
        if self.current is None or self.current.closed:
            self.current = session
        return session

    def find(self, session_id: str) -> Session:
        """The open session of that id (`_current` is the current one). Raises SessionError."""
        session = self.current if session_id == "_current" else self.sessions.get(session_id)
        if session is None:
            raise SessionError("unknown_session", f'no session "{session_id}" on this proxy')
        if session.closed:
            raise SessionError("session_closed", f'session "{session_id}" is closed; its agent called after the end')
        return session

    async def close(self, session_id: str, command_status: int | None) -> SessionSummary:
        """End a session: settle, seal a recording, write trace and summary. Raises SessionError for an unknown one."""
        session = self.find(session_id)
        await session.settle()
        summary = await asyncio.to_thread(self._conclude, session, command_status)
        self.sessions.pop(session.id, None)
        return summary

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
        if wanted in self.sessions:
            raise SessionError("session_exists", f'session "{wanted}" is open already', nearest("", self.sessions))
        return wanted

    def _journal_path(self, cassette: str, session_id: str) -> Path:
        return self.layout.journals / f"{cassette.replace('/', '--')}.{session_id}.jsonl"

    def _conclude(self, session: Session, command_status: int | None) -> SessionSummary:
        """What is left to do once no exchange is open; on a thread, since sealing a long recording takes a while."""
        if session.journal is not None:
            return self._conclude_recording(session, command_status)
        assert session.trace is not None
        session.trace.close()
        if session.trace.failed is not None:
            session.tally.failed(session.trace.failed.code, session.trace.failed.message)
        summary = summarised(session, command_status)
        write_summary(self.layout, summary)
        return summary

    def _conclude_recording(self, session: Session, command_status: int | None) -> SessionSummary:
        assert session.journal is not None
        session.journal.close()
        if session.journal.failed is not None:
            failed = session.journal.failed
            session.tally.failed(failed.code, failed.message, failed.fix)
            return summarised(session, command_status)
        try:
            result = seal(self.layout, read_journal(session.journal.path), command_status)
        except (ProctorError, OSError) as error:
            fix = f"the journal is kept: proctor cassette recover {session.journal.path.name}"
            session.tally.failed("seal_failed", f"the recording could not be sealed: {error}", fix)
            return summarised(session, command_status)
        summary = summarised(session, command_status, result)
        write_trace(self.layout, session.id, result)
        write_summary(self.layout, summary)
        session.journal.path.unlink()
        return summary


def summarised(session: Session, command_status: int | None, result: SealResult | None = None) -> SessionSummary:
    """The summary of a session that has ended; of a recording with what sealing said, its texts redacted."""
    tally, spec = session.tally, session.spec
    llms = llm_services(session.config)
    played = session.order.played if session.order else []
    replayed = [name for name, mode in spec.modes.items() if mode == "replay"]
    tape = session.tape.cassette if session.tape else None
    kept = result.cassette.interactions if result else ()
    on_tape = set(tape.services) if tape else set()
    must_be_asked = on_tape | {name for name, mode in spec.modes.items() if mode != "replay"}
    unused = unused_labels(tape.interactions, played) if tape else ()
    summary = SessionSummary(
        session=session.id,
        cassette=spec.cassette,
        set_up=set_up_of(spec.modes, llms),
        llm=llm_of(spec.modes, llms, tally),
        modes=dict(spec.modes),
        started_at=session.began_at.isoformat(timespec="seconds"),
        seconds=round(_elapsed(session), 3),
        command_status=command_status,
        allow_unused=spec.allow_unused,
        exchanges=tally.exchanges,
        hits=tally.hits,
        recorded=tally.recorded,
        live=tally.live,
        interactions=len(tape.interactions) if tape else len(kept),
        recorded_at=tape.recorded_at if tape else "",
        misses=tuple(tally.misses.values()),
        guessed=tally.guessed_effects(),
        unused=tuple(text for text in unused if text.split(" ")[1] in replayed),
        services_unused=tuple(sorted(must_be_asked - tally.asked)),
        hosts=tuple(tally.hosts.values()),
        passed=spec.passed,
        errors=tuple(tally.errors.values()),
        notes=(*spec.notes, *(result.notes if result else ())),
        redacted=sum(bool(interaction.redacted) for interaction in kept),
        sealed=str(result.sealed) if result and result.sealed else "",
        aside=str(result.aside) if result and result.aside else "",
        aside_reasons=result.reasons if result else (),
    )
    if result is None:
        return summary
    return SessionSummary.model_validate_json(result.redactor.data(summary.model_dump_json().encode()))


def write_trace(layout: Layout, session_id: str, result: SealResult) -> None:
    """The trace of a recording, from its redacted interactions."""
    folder = layout.sessions / session_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.jsonl").write_bytes(b"".join(row_line(row) for row in result.rows))


def write_summary(layout: Layout, summary: SessionSummary) -> None:
    """`summary.json` beside the trace."""
    folder = layout.sessions / summary.session
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(summary.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _elapsed(session: Session) -> float:
    return time.perf_counter() - session.began
