"""What a proxy has done since it started, counted, and as Prometheus reads it (text format 0.0.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from proctor.fault_plan import KINDS
from proctor.prometheus import Family, Sample, written
from proctor.summary import ServiceCount, Tally
from proctor.trace import SessionSummary

Outcome = Literal["sealed", "aside", "ok", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("sealed", "aside", "ok", "failed")

_SOURCES = (
    ("record", "recorded"),
    ("replay", "hits"),
    ("live", "live"),
    ("world", "worlds"),
    ("fault", "faulted"),
    ("refused", "refused"),
)


@dataclass
class Totals:
    """The counters of one proxy. They hold what closed sessions did; an open one counts in its own tally."""

    services: dict[str, ServiceCount]
    """One entry for each configured service, from the start: a counter that is missing cannot be watched."""
    errors: Counter[str] = field(default_factory=Counter)
    opened: int = 0
    closed: Counter[Outcome] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    """Planned faults that fired, by kind."""
    past: int = 0
    """Calls past the services; each counts once, however many sessions it fails."""
    strays: int = 0
    """Requests that named no session or service."""
    strangers: int = 0
    """Requests that lacked the path token."""

    def take(self, tally: Tally) -> None:
        """Count what a session did."""
        for name, count in list(tally.services.items()):
            self.services.setdefault(name, ServiceCount()).add(count)
        self.faults.update(fault.kind for fault in list(tally.faults))
        for error in [*tally.errors.values(), *tally.guarded.values()]:
            self.errors[error.code] += error.count

    def with_open(self, tallies: Iterable[Tally]) -> Totals:
        """A copy that counts open sessions too."""
        copy = Totals({}, Counter(self.errors), self.opened, Counter(self.closed))
        copy.past, copy.strays, copy.strangers = self.past, self.strays, self.strangers
        copy.faults.update(self.faults)
        for name, count in self.services.items():
            copy.services[name] = ServiceCount()
            copy.services[name].add(count)
        for tally in tallies:
            copy.take(tally)
        return copy


def outcome_of(summary: SessionSummary, status: int) -> Outcome:
    """How a session ended; `status` is what `ending` gives for it."""
    if summary.sealed:
        return "sealed"
    if summary.aside:
        return "aside"
    return "failed" if status else "ok"


def rendered(totals: Totals, open_sessions: int, tasks: int) -> str:
    """Every metric with its HELP and TYPE lines, ready to be scraped."""
    return written(_families(totals, open_sessions, tasks))


def _families(totals: Totals, open_sessions: int, tasks: int) -> Iterator[Family]:
    services = sorted(totals.services.items())
    yield "sessions_opened_total", "counter", "Sessions opened.", [Sample({}, totals.opened)]
    yield (
        "sessions_closed_total",
        "counter",
        "Sessions closed: recordings sealed or put aside, others ok or failed.",
        [Sample({"ending": outcome}, totals.closed[outcome]) for outcome in OUTCOMES],
    )
    yield "sessions_open", "gauge", "Sessions open now, those that are closing included.", [Sample({}, open_sessions)]
    yield "tasks", "gauge", "Tasks of the event loop: connections, and exchanges on their way.", [Sample({}, tasks)]
    yield (
        "exchanges_total",
        "counter",
        "Exchanges by service and by what answered; refused: misses, and errors of the service or of Proctor.",
        [
            Sample({"service": name, "source": source}, getattr(count, how))
            for name, count in services
            for source, how in _SOURCES
        ],
    )
    yield (
        "misses_total",
        "counter",
        "Requests that nothing on the tape answers.",
        [Sample({"service": name}, count.misses) for name, count in services],
    )
    yield (
        "exchange_seconds",
        "summary",
        "From a request's arrival to its answer, or to the end of a streamed one.",
        [
            sample
            for name, count in services
            for sample in (
                Sample({"service": name}, count.seconds, "_sum"),
                Sample({"service": name}, count.timed, "_count"),
            )
        ],
    )
    yield (
        "faults_total",
        "counter",
        "Planned faults that fired, by kind.",
        [Sample({"kind": kind}, totals.faults[kind]) for kind in KINDS],
    )
    yield "calls_past_total", "counter", "Calls past the services, refused.", [Sample({}, totals.past)]
    yield "stray_requests_total", "counter", "Requests that named no session or service.", [Sample({}, totals.strays)]
    yield "strangers_total", "counter", "Requests without the path token, refused.", [Sample({}, totals.strangers)]
    yield (
        "errors_total",
        "counter",
        "Errors booked on sessions and answers of their guards, by code.",
        [Sample({"code": code}, count) for code, count in sorted(totals.errors.items())],
    )
