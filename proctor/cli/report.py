"""A session's summary, for a person: ten lines, the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from proctor.cli.project import shown_path
from proctor.stamp import age_text
from proctor.summary import Ending
from proctor.trace import GuessedEffect, SessionSummary

_LISTED = 6


def summary_text(summary: SessionSummary, end: Ending, command_status: int, root: Path) -> str:
    """The summary with each reason for failing and what to do about it."""
    return "\n".join(summary_lines(summary, end, command_status, root))


def summary_lines(summary: SessionSummary, end: Ending, command_status: int, root: Path) -> Iterator[str]:
    """The lines of `summary_text`."""
    yield from head_lines(summary)
    if summary.recorded_at:
        age = age_text(summary.recorded_at, datetime.fromisoformat(summary.started_at))
        yield f"  tape        {summary.interactions} interactions, recorded {summary.recorded_at} ({age})"
    if summary.guessed:
        guesses = _listed([_guess(guess) for guess in summary.guessed])
        yield f"  guessed     {guesses}; confirm by reads and writes in proctor.toml"
    for other in summary.other_states[:_LISTED]:
        times = f" {other.count} times" if other.count > 1 else ""
        yield f"  other state {other.service} {other.name} was answered{times} from #{other.index}: {other.writes[0]}"
    if len(summary.other_states) > _LISTED:
        yield f"  other state and {len(summary.other_states) - _LISTED} more answers"
    if summary.unused:
        yield f"  unused      {len(summary.unused)} of {summary.interactions} recordings: {_listed(summary.unused)}"
    tried = [f"{host.host} ({host.count}x)" for host in summary.hosts]
    yield f"  hosts tried {_listed(tried) if tried else 'none past the services'}"
    if summary.passed:
        yield f"  passed      {_listed(summary.passed)} went direct, unseen (pass_hosts)"
    for note in summary.notes:
        yield f"  note        {note}"
    if summary.replaced:
        places = sum(len(secret.places) for secret in summary.replaced)
        yield f"  redacted    {len(summary.replaced)} secrets in {places} places: {_listed(list(_secrets(summary)))}"
    if summary.sealed:
        placeholders = f" ({summary.redacted} interactions hold placeholders)" if summary.redacted else ""
        yield f"  sealed      {shown_path(summary.sealed, root)}{placeholders}"
    if summary.aside:
        yield aside_line(summary, root)
    yield from _verdict(end, command_status)
    yield "  not watched without --isolate: clients that ignore proxy variables (docs/recording.md)"


def head_lines(summary: SessionSummary) -> Iterator[str]:
    """What ran, and how much of it came from where."""
    verb = "recorded" if "record" in summary.modes.values() else "replayed"
    yield f"proctor: {verb} {summary.cassette}   set-up {summary.set_up}, llm {summary.llm}, session {summary.session}"
    yield f"  {_counts(summary)}"


def reason_lines(reasons: Iterable[str]) -> Iterator[str]:
    """Each reason for failing, and what to do about it."""
    for reason in reasons:
        first, *more = reason.split("\n")
        yield f"  * {first}"
        yield from (f"  {line}" for line in more)


def aside_line(summary: SessionSummary, root: Path) -> str:
    """Where a recording is that was not sealed."""
    return f"  kept aside  {shown_path(summary.aside, root)}; the old tape is as it was"


def _verdict(end: Ending, command_status: int) -> Iterator[str]:
    told = f"  status      {end.status}"
    yield told if end.status == command_status else f"{told} (the command's own: {command_status})"
    yield from reason_lines(end.reasons)


def _counts(summary: SessionSummary) -> str:
    parts = [f"{summary.exchanges} exchanges in {summary.seconds:.1f} s"]
    for count, what in ((summary.recorded, "recorded"), (summary.hits, "from the tape"), (summary.live, "live")):
        if count:
            parts.append(f"{count} {what}")
    if summary.repeated:
        parts.append(f"{summary.repeated} of them the last recording once more")
    parts.append(f"{sum(miss.count for miss in summary.misses)} misses")
    return ", ".join(parts)


def _secrets(summary: SessionSummary) -> Iterator[str]:
    for secret in summary.replaced:
        more = f" and {len(secret.places) - 1} more" if len(secret.places) > 1 else ""
        yield f"{secret.kind} at {secret.places[0]}{more}"


def _guess(guess: GuessedEffect) -> str:
    again = f", answered {guess.repeated}x again" if guess.repeated else ""
    return f"{guess.service} {guess.name} ({guess.effect}{again})"


def _listed(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_LISTED])
    return f"{shown} and {len(items) - _LISTED} more" if len(items) > _LISTED else shown
