"""Sealing: from a journal to a tape, if the recording was clean; else the recording is kept aside with the reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.cassette import Cassette, save_cassette
from proctor.credentials import credentials_of
from proctor.errors import PlatformError
from proctor.extending import extended, extended_tape, in_places
from proctor.interaction import Interaction
from proctor.journal import JournalContent
from proctor.matchkey import CanonicalKey, canonical_key, key_headers_of
from proctor.paths import Layout
from proctor.redacted_trace import redacted_rows, session_redactor
from proctor.redaction.redactor import Redactor, short_secrets
from proctor.retries import folded
from proctor.stamp import BEFORE, recording_stamp
from proctor.summary import without_trailers
from proctor.tape_bodies import body_folder, prune_bodies
from proctor.tape_mixes import mixes_beside

_REFUSED = frozenset({401, 403})
_LARGE = 1_000_000
"""Bytes of a body from which on the summary warns."""


@dataclass(frozen=True)
class SealResult:
    """What became of a recording. Exactly one of `sealed` and `aside` is set, or neither if nothing was recorded.

    A clean one is put `aside` without `reasons` where it is recorded again: somebody is to compare it first.
    """

    cassette: Cassette
    redactor: Redactor
    rows: tuple[dict[str, Any], ...]
    """The trace, from the redacted interactions."""
    sealed: Path | None = None
    aside: Path | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def seal(layout: Layout, content: JournalContent) -> SealResult:
    """Redact, judge and write what a journal holds.

    Raises PlatformError where a secret survived redaction, or vcrpy could not read the tape; CassetteError where the
    tape to be extended is not what it was; OSError where the disk refuses. The old tape is then untouched and the
    journal still there.
    """
    head = content.head
    redactor = session_redactor(content, layout)
    old = extended_tape(layout, head)
    size = len(old.interactions) if old else 0
    kept = folded(content.interactions, frozenset(head.get("llms", ())))
    places = {interaction.index: size + nth for nth, interaction in enumerate(kept)}
    clean = tuple(_clean(interaction, redactor, places, size) for interaction in kept)
    stamp = recording_stamp(head, redactor, clean, content.judge_salt)
    cassette = extended(old, clean, head, stamp) if old and clean else old or Cassette(head["cassette"], clean, stamp)
    rows = redacted_rows(content, redactor)
    notes = (*_notes(content, redactor, clean), *_folded(clean))
    if not head["services"]:  # a session that only asks the real thing, or replays beside it
        return SealResult(cassette, redactor, rows, notes=notes)
    taken = {places[index] for index in content.taken}  # judged when the earlier tape was sealed
    recorded = tuple(interaction for interaction in clean if interaction.index not in taken)
    if old and not clean:  # the tape answered everything
        return SealResult(cassette, redactor, rows, notes=notes)
    reasons = tuple(dict.fromkeys(reasons_not_to_seal(head, recorded, content.faults)))  # retries repeat them
    if not clean:
        return SealResult(cassette, redactor, rows, reasons=reasons, notes=notes)
    refuse_leaks(redactor, clean)
    limit = head.get("body_files_over")
    if not reasons and BEFORE not in head:
        path = layout.confined_cassette(cassette.name)
        save_cassette(path, cassette, limit)
        forget_aside(layout, cassette.name)
        beside = tuple(mixes_beside(layout, cassette.name))
        return SealResult(cassette, redactor, rows, sealed=path, notes=(*notes, *beside))
    path = layout.aside / f"{cassette.name}.yaml"
    why = list(reasons) or ["recorded again: compare it with the old tape"]
    save_cassette(path, replace(cassette, stamp={**cassette.stamp, "aside": why}), limit)
    return SealResult(cassette, redactor, rows, aside=path, reasons=reasons, notes=notes)


def _folded(interactions: Iterable[Interaction]) -> Iterator[str]:
    calls = [interaction for interaction in interactions if interaction.attempts > 1]
    if calls:
        times = sum(interaction.attempts - 1 for interaction in calls)
        yield f"{times} retries were folded into the calls that they repeat: {', '.join(map(_told, calls[:5]))}"


def _clean(interaction: Interaction, redactor: Redactor, places: Mapping[int, int], size: int) -> Interaction:
    """The interaction as the tape has it; one that was taken over may hold placeholders already.

    `places` are those on the tape by index, `size` is that of the tape that is extended.
    """
    clean = redactor.interaction(interaction)
    after = None if interaction.after is None else in_places(interaction.after, size, places)
    return replace(
        clean,
        index=places[interaction.index],
        beside=tuple(sorted(places[other] for other in interaction.beside if other in places)),
        after=after,
        redacted=tuple(dict.fromkeys((*interaction.redacted, *clean.redacted))),
    )


def refuse_leaks(redactor: Redactor, interactions: Iterable[Interaction]) -> None:
    """Raise PlatformError, with place and kind but never the value, where redaction left a secret."""
    left = [(interaction, leak) for interaction in interactions for leak in redactor.left_in(interaction)]
    if left:
        interaction, leak = left[0]
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        in_target = any(
            one is interaction and leak.where.startswith(("request.target", "request.url")) for one, leak in left
        )
        told = f"#{interaction.index} {interaction.request.service}" if in_target else _told(interaction)
        raise PlatformError(
            "secret_left",
            f"{told}: a secret ({leak.kind}) is left at {leak.where}{more}, so no tape was written",
            "report this; until then name the place under [redact] in proctor.toml",
        )


def forget_aside(layout: Layout, name: str) -> None:
    """Delete the recording of this name that was put aside, which a newer one has replaced. Raises OSError."""
    aside = layout.aside / f"{name}.yaml"
    aside.unlink(missing_ok=True)
    prune_bodies(body_folder(aside), {})


def reasons_not_to_seal(
    head: dict[str, Any],
    interactions: Sequence[Interaction],
    faults: Iterable[dict[str, Any]] = (),
) -> Iterable[str]:
    """Every reason why this recording is no clean run, in words; none for one that may become a tape."""
    if not interactions:
        yield "nothing was recorded"
    for fault in faults:
        yield str(fault["message"])
    for interaction in interactions:
        if not interaction.response.complete:
            yield f"{_told(interaction)}: the answer broke off"
    expected = {name: frozenset(facts["expected_status"]) for name, facts in head["services"].items()}
    yield from _unfinished_business(head, interactions, expected)
    yield from _unauthorised(interactions, expected)


def _unfinished_business(
    head: dict[str, Any], interactions: Sequence[Interaction], expected: dict[str, frozenset[int]]
) -> Iterable[str]:
    """A 429 or 5xx as the last word to a request: replay would serve the outage for ever."""
    last: dict[CanonicalKey, Interaction] = {}
    for interaction in interactions:
        headers = interaction.request.headers
        identity = tuple(credential.value for credential in credentials_of(headers))
        declared = head["services"][interaction.request.service]["key_headers"]
        last[canonical_key(interaction.request, key_headers_of(headers, declared), identity)] = interaction
    for interaction in last.values():
        status, service = interaction.response.status, interaction.request.service
        if (status == 429 or status >= 500) and status not in expected.get(service, ()):
            yield (
                f"{_told(interaction)}: the last answer was {status} "
                f"(if that is right: expected_status = [{status}] under [services.{service}])"
            )


def _unauthorised(interactions: Sequence[Interaction], expected: dict[str, frozenset[int]]) -> Iterable[str]:
    """A service that refused every request: the credentials were stale."""
    statuses: dict[str, set[int]] = defaultdict(set)
    for interaction in interactions:
        statuses[interaction.request.service].add(interaction.response.status)
    for service, seen in statuses.items():
        if seen <= _REFUSED and not seen & expected.get(service, frozenset()):
            told = " and ".join(map(str, sorted(seen)))
            yield f'service "{service}" answered nothing but {told}: the credentials are missing or stale'


def _told(interaction: Interaction) -> str:
    request = interaction.request
    return f"#{interaction.index} {request.service} {request.method} {request.target}"


def _notes(content: JournalContent, redactor: Redactor, interactions: Sequence[Interaction]) -> tuple[str, ...]:
    notes = []
    if content.torn:
        notes.append("the last line of the journal was cut off; that exchange had not reached the client")
    short = short_secrets(redactor.known)
    if short:
        notes.append(f"{short} credential(s) under 8 characters were replaced in their headers only, not in bodies")
    for coding, count in sorted(redactor.unread.items()):
        notes.append(
            f'{count} bodies in the coding "{coding}" could not be looked into for secrets: '
            "let the agent ask without it (Accept-Encoding: gzip), or see docs/redaction.md"
        )
    notes += dict.fromkeys(filter(None, map(without_trailers, interactions)))
    limit = content.head.get("body_files_over")
    for interaction in interactions:
        for whose, body in (("request", interaction.request.body), ("answer", interaction.response.body)):
            if len(body) > _LARGE and (limit is None or len(body) <= limit):
                notes.append(
                    f"{_told(interaction)}: the {whose} has {len(body) / 1e6:.1f} MB, hard to review in a tape; "
                    "[cassettes] body_files_over = 1000000 keeps such bodies in files beside it"
                )
    return tuple(notes)
