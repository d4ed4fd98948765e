"""One session: an agent run's isolated use of the proxy, from its first request to its summary."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from proctor.config import Config
from proctor.errors import ProctorError, SessionError
from proctor.identities import dummy_keys, recorded_variables
from proctor.interaction import Interaction
from proctor.journal import JournalWriter
from proctor.paths import Layout
from proctor.placeholders import is_live
from proctor.proxy.faulting import Faulting
from proctor.proxy.guarding import Guarding
from proctor.proxy.held import Held
from proctor.proxy.judge_salt import Judging
from proctor.proxy.order import StateAware
from proctor.proxy.overlaying import Overlaying
from proctor.proxy.playback import Tape
from proctor.proxy.receiving import Received
from proctor.proxy.restoring import Restorer
from proctor.proxy.rewriting import Rewriter
from proctor.proxy.seams import Exchange, FaultPlan, Source
from proctor.proxy.tracing import TraceWriter
from proctor.redaction.redactor import Redactor
from proctor.service_config import ServiceConfig
from proctor.summary import Tally, label
from proctor.tape_lock import TapeLock
from proctor.trace import interaction_fields, row_line
from proctor.wire import CURRENT, KEY_MARK, SessionInfo, SessionSpec, set_up_of
from proctor.world.session import WorldSession

CLOSING_SECONDS = 10.0
"""How long a closing session waits for answers that are still on their way."""
_BREAKING_SECONDS = 1.0
"""And for those which it then breaks off."""
_TOLD = 400
"""Characters of an error's message that quotes what the agent sent."""


@dataclass(slots=True)
class ServiceInSession:
    """A service with what answers it in this session."""

    name: str
    config: ServiceConfig
    source: Source


@dataclass
class Session:
    """A session as it runs. One that asks the real thing has a `journal`, one that only replays a `trace`.

    Each takes one line an exchange. The trace of a journal is written at the end, when every credential is known.
    """

    id: str
    spec: SessionSpec
    config: Config
    layout: Layout
    restorer: Restorer
    rewriter: Rewriter
    secrets: Redactor
    """Finds the secrets that the agent sends, and keeps them out of every row and text of a replay."""
    overlay: Overlaying
    tape: Tape | None = None
    order: StateAware | None = None
    journal: JournalWriter | None = None
    trace: TraceWriter | None = None
    lock: TapeLock | None = None
    """Of the tape that a recording will become."""
    services: dict[str, ServiceInSession] = field(default_factory=dict)
    faults: FaultPlan = field(default_factory=Faulting)
    guarding: Guarding = field(init=False)
    held: Held = field(default_factory=Held)
    """For how long faults kept the agent waiting."""
    worlds: dict[str, WorldSession] = field(default_factory=dict)
    """By service in mode `world`."""
    judge: Judging = field(default_factory=Judging)
    """The judge whose calls go to the tape, if there is one."""
    tally: Tally = field(default_factory=Tally)
    began: float = field(default_factory=time.perf_counter)
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    closed: bool = False
    """No new exchange may arrive."""
    settled: bool = False
    """What comes of an exchange now is written nowhere any more."""
    underway: set[int] = field(default_factory=set)
    """Indexes of the exchanges that have no whole answer yet."""
    relayed: set[Received] = field(default_factory=set)
    """The answers of real services that are on their way."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nobody is to be kept waiting any more."""
    _bound: set[str] = field(default_factory=set)
    """The secrets of which the journal says for which placeholders they stand."""
    _next: int = 0
    _open: int = 0
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Set the guard that was asked for."""
        self.guarding = Guarding(self.spec.guard)

    async def exchange(self, exchange: Exchange) -> web.StreamResponse:
        """Run one exchange: the fault plan may answer, else the service's source does."""
        try:
            planned = await self.faults.answer(exchange)
            return planned if planned is not None else await exchange.service.source.answer(exchange)
        finally:
            count = self.tally.services[exchange.service.name]
            count.timed += 1
            count.seconds += time.perf_counter() - exchange.started

    def release(self) -> None:
        """Let the next recording of the tape begin."""
        if self.lock is not None:
            self.lock.release()

    def next_index(self) -> int:
        """The number of the next exchange, in order of arrival."""
        index = self._next
        self._next += 1
        return index

    def arrived(self) -> tuple[int, tuple[int, ...]]:
        """The number of an exchange that has just arrived, and of those which have no answer yet then.

        It counts as on its way until it has `left`. A session that only replays keeps none of the latter: order at the
        same time matters where it is recorded.
        """
        index = self.next_index()
        self.entered()
        if self.journal is None:
            return index, ()
        beside = tuple(sorted(self.underway)) if self.underway else ()
        self.underway.add(index)
        return index, beside

    def left(self, index: int) -> None:
        """Note that an exchange which had arrived is over."""
        self.underway.discard(index)
        self.gone()

    def entered(self) -> None:
        """Count a request as on its way until it is `gone`: the session's end waits for it."""
        self._open += 1

    def gone(self) -> None:
        """Note that a request which had `entered` is over."""
        self._open -= 1
        if not self._open:
            self._idle.set()

    async def settle(self) -> None:
        """Wait for what is on its way, uploads and abandoned streams too; then break answers off, to be kept as cut.

        What has no answer at all even then is noted as unfinished.
        """
        self.closed = True
        self.closing.set()
        if not await self._idle_within(CLOSING_SECONDS):
            for received in tuple(self.relayed):
                received.stop()
            if not await self._idle_within(_BREAKING_SECONDS):
                self.failed("unfinished", f"{self._open} exchange(s) had no end when the session closed")
        self.settled = True

    async def _idle_within(self, seconds: float) -> bool:
        if self._open:
            self._idle.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), seconds)
        return not self._open

    def answered(
        self,
        interaction: Interaction,
        *,
        kept: bool,
        client_gone: bool,
        rewrites: Sequence[str],
        fault: Mapping[str, Any],
    ) -> None:
        """Journal a finished exchange with the real thing: called before the end of its answer goes on.

        `fault` has the fields of its row that tell of one.
        """
        assert self.journal is not None
        self.underway.discard(interaction.index)
        if self.spec.extends:
            self._journal_bound()
            if kept:
                self.tally.episodes.append(f"{interaction.request.service} {label(interaction)}")
        self.journal.interaction(interaction, kept=kept, client_gone=client_gone, rewrites=rewrites, fault=fault)
        self.tally.answered(interaction, "recorded" if kept else "live", repeated=False)

    def unkept(
        self,
        interaction: Interaction,
        size: int,
        *,
        kept: bool,
        client_gone: bool,
        rewrites: Sequence[str],
        fault: Mapping[str, Any],
    ) -> None:
        """Trace an exchange with the real thing of which `size` bytes were too many to be kept.

        It is not in the journal as an interaction, so no tape can hold half of it; a recording fails.
        """
        self.underway.discard(interaction.index)
        self.tally.answered(interaction, "recorded" if kept else "live", repeated=False)
        self.write_row(
            {
                "index": interaction.index,
                "session": self.id,
                "source": "record" if kept else "live",
                "started": round(interaction.started, 6),
                "seconds": round(interaction.seconds, 6),
                **interaction_fields(interaction),
                "unkept": size,
                **({"rewrites": list(rewrites)} if rewrites else {}),
                **({"client_gone": True} if client_gone else {}),
                **fault,
            }
        )
        if kept:
            name = interaction.request.service
            path = interaction.request.target.partition("?")[0]
            told = f"{name} {interaction.request.method} {path}: {size} bytes passed, too many for a tape"
            self.failed("body_too_large", told, f"a tape takes 64 MiB a body: --mode {name}=live, or ask for less")

    def taken(self, interaction: Interaction) -> None:
        """Journal what is taken over from the tape, with the secrets that stand for its own, before it goes on."""
        assert self.journal is not None
        self._journal_bound()
        self.journal.taken(interaction)

    def _journal_bound(self) -> None:
        """Journal what stands for the tape's secrets, as far as it is new."""
        assert self.journal is not None
        for secret, placeholder in self.secrets.known.items():
            if not is_live(placeholder) and secret not in self._bound:
                self._bound.add(secret)
                self.journal.bound(secret, placeholder)

    def doubted(self, code: str, message: str) -> None:
        """Note why an answer that is taken over may be wrong: it forbids sealing, not the session."""
        assert self.journal is not None
        self.journal.fault(code, message)

    def missed(self, row: dict[str, Any]) -> None:
        """Trace a miss, which fails the session."""
        row = self.secrets.shown(row)
        self.write_row(row)
        self.tally.missed(row)
        if self.journal is not None:
            self.journal.fault(row["error"]["code"], row["error"]["message"])

    def stray(self, row: dict[str, Any]) -> None:
        """Trace a request that named no session or service, which fails the session as a miss does."""
        now = round(time.perf_counter() - self.began, 6)
        head = {"index": self.next_index(), "session": self.id, "source": "refused", "started": now, "seconds": 0.0}
        self.missed({**head, **row})

    def failed(self, code: str, message: str, fix: str = "", *, exchange: bool = False, service: str = "") -> None:
        """Note something that went wrong: it fails the session and forbids sealing."""
        message = self.secrets.shown(message)
        self.tally.failed(code, message, fix, exchange=exchange, service=service)
        if self.journal is not None:
            self.journal.fault(code, message)

    def stopped(
        self, code: str, message: str, fix: str = "", *, service: str, exchange: bool = True, spoils: bool = True
    ) -> None:
        """Note that the guard answered the agent. It forbids sealing where it `spoils` what is recorded.

        `exchange` says that nothing else counts that exchange.
        """
        message = self.secrets.shown(message)
        self.tally.stopped(code, message, fix, exchange=exchange, service=service)
        if self.journal is not None and spoils:
            self.journal.fault(code, message)

    @property
    def fault_seconds(self) -> float:
        """Seconds in which at least one injected fault kept the agent waiting, those of this moment included."""
        return self.held.seconds

    def bypassed(self, host: str, method: str, service: str | None) -> None:
        """Note a call past the services, which was refused."""
        self.tally.bypassed(host, method, service)
        if self.journal is not None:
            self.journal.fault("host_refused", f"{method} went to {host}, past the services, and was refused")

    def told(self, row: dict[str, Any]) -> None:
        """Trace what the agent told of itself: no exchange, and on no tape."""
        self.tally.events += 1
        self.write_row(row)

    def written(self) -> None:
        """Let nothing that was traced wait for the disk any more."""
        if self.trace is not None:
            self.trace.flush()

    def dropped(self, error: ProctorError, count: int) -> None:
        """Note that so many events of the agent were not taken, which fails the session: its readers would miss them.

        Of one kind of error the first is told, and the others are counted.
        """
        new = error.code not in self.tally.drops
        what = f"what the agent told was dropped ({error.code}): {self.secrets.shown(error.message)[:_TOLD]}"
        what = self.tally.drops.setdefault(error.code, what)
        self.tally.events_dropped += count
        self.tally.failed("events_dropped", what, error.fix)
        if self.journal is not None and new:
            self.journal.fault("events_dropped", what)

    def error_row(self, exchange: Exchange, status: int, error: dict[str, Any]) -> None:
        """Trace an exchange that ended in an error of the real service or of ours."""
        request = exchange.request
        self.write_row(
            {
                **({"rewrites": exchange.rewrites} if exchange.rewrites else {}),
                **exchange.row_head("refused", request),
                "status": status,
                "error": error,
                **exchange.fault,
            }
        )
        self.failed(error["code"], error["message"], error.get("fix", ""), exchange=True, service=request.service)

    def write_row(self, row: dict[str, Any]) -> None:
        """One trace row, into the journal or the trace."""
        if self.journal is not None:
            self.journal.row(row)
        else:
            self.write_line(row_line(self.secrets.shown(row)))

    def write_line(self, line: bytes) -> None:
        """One trace row that is JSON already."""
        if self.trace is not None:
            self.trace.write(line)
        elif self.journal is not None:
            self.journal.row_line(line)

    def info(self, url: str) -> SessionInfo:
        """The session as the control API tells of it."""
        return SessionInfo(
            session=self.id,
            cassette=self.spec.cassette,
            modes=self.spec.modes,
            url=url,
            current_url=url.removesuffix(self.id) + CURRENT,
            key=KEY_MARK + self.id,
            set_up=set_up_of(self.spec.modes, self.config.llm_services),
            recorded_at=self.tape.cassette.recorded_at if self.tape else "",
            identities=dummy_keys(self.tape.cassette) if self.tape else {},
            seed=self.spec.seed if self.worlds else None,
            ids={name: world.ids for name, world in self.worlds.items() if world.ids},
            variables=recorded_variables(self.tape.cassette) if self.tape else {},
        )


def session_closed(session_id: str) -> SessionError:
    """The error for whoever still names a session that has ended."""
    return SessionError("session_closed", f'session "{session_id}" is closed', f"proctor session show {session_id}")
