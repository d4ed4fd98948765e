"""The end of a session: sealing, trace and summary. No exchange is open any more; runs on a thread."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.effect_table import confirmations, effects_seen, toml_lines
from proctor.errors import PlatformError, ProctorError
from proctor.journal import read_journal
from proctor.paths import Layout
from proctor.proxy.judging import is_verdict
from proctor.proxy.playback import Tape
from proctor.proxy.session import Session
from proctor.proxy.unexplained import unexplained
from proctor.proxy.worlds import write_worlds
from proctor.redacted_trace import write_trace
from proctor.sealing import SealResult, seal
from proctor.summary import Tally, llm_of, unused_labels
from proctor.trace import ForgivenSeen, SessionSummary
from proctor.wire import FROM_TAPE, KEPT, SessionSpec, set_up_of


def conclude(session: Session, command_status: int | None) -> SessionSummary:
    """Seal what was recorded, and leave `trace.jsonl` and `summary.json`; gives the summary.

    Raises PlatformError where the disk refuses the summary of a session that only replayed.
    """
    for reason in session.overlay.failed:
        session.tally.failed("overlay_unfit", reason, "the case was not as it says; mend the overlay")
    for reason in session.overlay.unmet():
        session.tally.failed(
            "overlay_not_applied", reason, "the case was not as it says; mend the overlay, or the agent"
        )
    if session.journal is not None:
        return _from_journal(session, command_status)
    assert session.trace is not None
    session.trace.close()
    if session.trace.failed is not None:
        session.tally.failed(session.trace.failed.code, session.trace.failed.message)
    summary = summarised(session, command_status)
    try:
        write_worlds(_folder(session), session.worlds, session.secrets)
        write_summary(session.layout, summary)
    except OSError as error:
        raise PlatformError("platform_error", f"the summary cannot be written: {error}") from None
    return summary


@dataclass(frozen=True)
class LeftOpen:
    """What became of a session that nobody closed: its `journal` or `summary`, and the `error` that spoilt either."""

    session: str
    spec: SessionSpec
    exchanges: int
    journal: Path | None = None
    """Of a recording: kept, to be recovered as after a kill."""
    summary: SessionSummary | None = None
    """Of any other session: written, with the error `left_open`."""
    error: ProctorError | None = None


def leave(session: Session) -> LeftOpen:
    """End a session that nobody closed: how its command ended is not known, so it never counts as fine."""
    left = LeftOpen(session.id, session.spec, session.tally.exchanges)
    if session.journal is not None and not KEPT.isdisjoint(session.spec.modes.values()):
        session.journal.close()
        return replace(left, journal=session.journal.path, error=session.journal.failed)
    session.failed("left_open", "the proxy was stopped before the session was closed", "close a session, then stop")
    try:
        return replace(left, summary=conclude(session, None))
    except ProctorError as error:
        return replace(left, error=error)


def _from_journal(session: Session, command_status: int | None) -> SessionSummary:
    """The journal goes only when everything that it holds is written elsewhere."""
    journal = session.journal
    assert journal is not None
    if command_status and not is_verdict(session, command_status):
        journal.fault("command_failed", f"the command ended with status {command_status}")
    if not session.spec.allow_unused and session.tally.exchanges:
        for name in sorted(set(session.spec.modes) - session.tally.asked):
            journal.fault("service_unused", f'service "{name}" was never asked (if that is right: --allow-unused)')
    journal.close()
    if journal.failed is not None:
        session.tally.failed(journal.failed.code, journal.failed.message, journal.failed.fix)
        return summarised(session, command_status)
    try:
        result = seal(session.layout, read_journal(journal.path))
        summary = summarised(session, command_status, result)
        write_trace(session.layout, session.id, result.rows)
        write_worlds(_folder(session), session.worlds, result.redactor)
        write_summary(session.layout, summary)
    except (ProctorError, OSError) as error:
        fix = f"the journal is kept: proctor cassette recover {journal.path.name}"
        session.tally.failed("seal_failed", f"the session could not be written: {error}", fix)
        return summarised(session, command_status)
    journal.path.unlink()
    return summary


def summarised(session: Session, command_status: int | None, result: SealResult | None = None) -> SessionSummary:
    """The summary of a session that has ended; of a recording with what sealing said, its texts redacted."""
    tally, spec = session.tally, session.spec
    llms = session.config.llm_services
    played = session.order.played if session.order else []
    replayed = [name for name, mode in spec.modes.items() if mode in FROM_TAPE]
    tape = session.tape.cassette if session.tape else None
    kept = result.cassette.interactions if result else ()
    on_tape = set(tape.services) if tape else set()
    if tape and tape.by == "vcrpy":  # its other hosts can never be asked, and a note says so
        on_tape &= set(session.config.services)
    must_be_asked = on_tape | {name for name, mode in spec.modes.items() if mode != "replay"}
    unused = unused_labels(tape.interactions, played) if tape else ()
    extended = result is not None and result.sealed is not None and spec.extends
    recorded = Tape(result.cassette, session.config) if result and kept else None
    effects = effects_seen(session.config.services, kept)
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
        **_counts(tally),
        interactions=len(kept) if extended else len(tape.interactions) if tape else len(kept),
        recorded_at=tape.recorded_at if tape else "",
        misses=tuple(tally.misses.values()),
        guessed=tally.guessed_effects(),
        forgiven=tuple(ForgivenSeen(service=s, difference=d, count=n) for (s, d), n in tally.forgiven.items()),
        faults_unfired=tuple(session.faults.unfired()),
        effects=effects,
        confirm=toml_lines(session.config.services, confirmations(session.config.services, effects)),
        unexplained=unexplained(recorded) if recorded else (),
        other_states=tuple(tally.other_states.values()),
        unused=tuple(text for text in unused if text.split(" ")[1] in replayed),
        services_unused=tuple(sorted(must_be_asked - tally.asked)),
        hosts=tuple(tally.hosts.values()),
        passed=spec.passed,
        isolated=spec.isolated,
        errors=tuple(tally.errors.values()),
        guarded=tuple(tally.guarded.values()),
        notes=(*spec.notes, *tally.notes, *(result.notes if result else ())),
        redacted=sum(bool(interaction.redacted) for interaction in kept),
        replaced=result.redactor.replaced_secrets() if result else (),
        sealed=str(result.sealed) if result and result.sealed else "",
        over=spec.over,
        episodes=tuple(tally.episodes),
        made_again=tally.made_again,
        aside=str(result.aside) if result and result.aside else "",
        aside_reasons=result.reasons if result else (),
    )
    redactor = result.redactor if result else session.secrets
    return SessionSummary.model_validate(redactor.shown(summary.model_dump(mode="json")))


def _counts(tally: Tally) -> dict[str, Any]:
    """What answered how many exchanges, and what else was counted."""
    return {
        "exchanges": tally.exchanges,
        "hits": tally.total("hits"),
        "repeated": tally.repeated,
        "recorded": tally.total("recorded"),
        "live": tally.total("live"),
        "worlds": tally.total("worlds"),
        "faulted": tally.total("faulted"),
        "faults": tuple(tally.faults),
        "overlaid": tally.overlaid,
        "events": tally.events,
        "events_dropped": tally.events_dropped,
    }


def write_summary(layout: Layout, summary: SessionSummary) -> None:
    """`summary.json` beside the trace."""
    folder = layout.sessions / summary.session
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(summary.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _folder(session: Session) -> Path:
    return session.layout.sessions / session.id


def _elapsed(session: Session) -> float:
    return time.perf_counter() - session.began
