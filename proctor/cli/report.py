"""A session's summary, for a person: ten lines, the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from proctor.cli.effects_shown import ADVICE, effect_lines, unexplained_lines
from proctor.cli.project import shown_path
from proctor.stamp import age_text
from proctor.summary import Ending
from proctor.trace import GuessedEffect, SessionSummary

_LISTED = 6
_ROWS = 20


def summary_text(summary: SessionSummary, end: Ending, command_status: int, root: Path) -> str:
    """The summary with each reason for failing and what to do about it."""
    return "\n".join(summary_lines(summary, end, command_status, root))


def summary_lines(summary: SessionSummary, end: Ending, command_status: int, root: Path) -> Iterator[str]:
    """The lines of `summary_text`."""
    yield from head_lines(summary)
    if summary.recorded_at:
        age = age_text(summary.recorded_at, datetime.fromisoformat(summary.started_at))
        yield f"  tape        {summary.interactions} interactions, recorded {summary.recorded_at} ({age})"
    yield from _episodes(summary)
    if summary.events or summary.events_dropped:
        dropped = f", {summary.events_dropped} DROPPED" if summary.events_dropped else ""
        yield f"  events      {summary.events} told by the agent{dropped}"
    yield from _effects(summary)
    yield from _otherwise(summary)
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
    if summary.isolated:
        yield "  isolated    the command had a network of its own, with the proxy in it and nothing else"
    else:
        yield "  not watched without --isolate: clients that ignore proxy variables (docs/recording.md)"


def _effects(summary: SessionSummary) -> Iterator[str]:
    """What calls did: the table of a recording and how to declare what is guessed in it, else the guesses alone."""
    if not summary.effects:
        if summary.guessed:
            guesses = _listed([_guess(guess) for guess in summary.guessed])
            yield f"  guessed     {guesses}; confirm by reads and writes in proctor.toml"
        return
    head, *rows = effect_lines(summary.effects)
    yield f"  effects     {head}"
    yield from (f"              {row}" for row in rows[:_ROWS])
    if len(rows) > _ROWS:
        yield f"              and {len(rows) - _ROWS} more: proctor effects {summary.cassette}"
    if summary.confirm:
        yield "  guessed     where the guesses are right, declare them: proctor effects --write, or in proctor.toml"
        yield from (f"              {line}" for line in summary.confirm)


def _otherwise(summary: SessionSummary) -> Iterator[str]:
    """In what answers were not just the recordings of these very calls, and what effects do not explain."""
    if summary.forgiven:
        yield f"  forgiven    {_listed([f'{each.service} {each.difference}' for each in summary.forgiven])}"
    if summary.overlaid:
        yield f"  overlaid    {summary.overlaid} answers hold other data than was recorded (--overlay)"
    if summary.faults:
        fired = [f"{fault.name} call {fault.call}: {fault.kind} (#{fault.index})" for fault in summary.faults]
        yield f"  faults      {_listed(fired)}"
    for each in summary.guarded:
        yield f"  guard       {each.code}{f' ({each.count} times)' if each.count > 1 else ''}: {each.message}"
    for unfired in summary.faults_unfired:
        yield f"  NOT FIRED   fault {unfired.told}"
    for other in summary.other_states[:_LISTED]:
        times = f" {other.count} times" if other.count > 1 else ""
        yield f"  other state {other.service} {other.name} was answered{times} from #{other.index}: {other.writes[0]}"
    if len(summary.other_states) > _LISTED:
        yield f"  other state and {len(summary.other_states) - _LISTED} more answers"
    for line in unexplained_lines(summary.unexplained):
        yield f"  note        {line}"
    if summary.unexplained:
        yield from (f"              {line}" for line in ADVICE)


def head_lines(summary: SessionSummary) -> Iterator[str]:
    """What ran, and how much of it came from where."""
    over = f" over {summary.over}" if summary.over else ""
    set_up = f"set-up {summary.set_up}, llm {summary.llm}, session {summary.session}"
    yield f"proctor: {_verb(summary)} {summary.cassette}{over}   {set_up}"
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
    counts = (
        (summary.recorded, "recorded"),
        (summary.hits, "from the tape"),
        (summary.live, "live"),
        (summary.worlds, "from worlds"),
        (summary.faulted, "faulted"),
    )
    for count, what in counts:
        if count:
            parts.append(f"{count} {what}")
    if summary.repeated:
        parts.append(f"{summary.repeated} of them the last recording once more")
    parts.append(f"{sum(miss.count for miss in summary.misses)} misses")
    return ", ".join(parts)


def _verb(summary: SessionSummary) -> str:
    modes = summary.modes.values()
    return "extended" if "new_episodes" in modes else "recorded" if "record" in modes else "replayed"


def _episodes(summary: SessionSummary) -> Iterator[str]:
    """What was new, of a session that extends a tape."""
    if "new_episodes" not in summary.modes.values():
        return
    count = len(summary.episodes)
    if not count:
        yield "  episodes    nothing was new: the tape stays as it is"
        return
    yield f"  episodes    {count} new episode{'s' if count > 1 else ''}: {_listed(summary.episodes)}"
    if summary.made_again:
        calls = "1 call" if summary.made_again == 1 else f"{summary.made_again} calls"
        yield f"  made again  {calls} of the tape, so that staging is in the same state"


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
