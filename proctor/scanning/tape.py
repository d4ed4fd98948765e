"""Scanning one tape: what stands on it by the rules as they are now, and what could not be looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from proctor.cassette import Edited, parse_as_it_stands
from proctor.encoding import decoded
from proctor.interaction import Headers, Interaction, Request, Response, header
from proctor.scanning.beside import texts_beside
from proctor.scanning.finds import FILE, Find, NotLooked, State, TapeScan, fingerprint, fingerprint_of_bytes
from proctor.scanning.looking import Content, Sighting, sightings
from proctor.scanning.rules import ProjectRules
from proctor.tape_bodies import strangers

_CODING = "content-encoding"
_Side = TypeVar("_Side", Request, Response)


def scan_tape(shown: str, data: bytes, bodies: Path, rules: ProjectRules, *, explain: bool = False) -> TapeScan:
    """What stands on a tape; `shown` is its path as it is told, `bodies` the folder of those beside it.

    With `explain` also what is kept, and where placeholders stand.

    Raises CassetteError for what is no whole tape. One that was edited after it was sealed is looked at as it is.
    """
    edited = parse_as_it_stands(shown, data, bodies)
    tape = edited.cassette
    read = tuple(_readable(interaction) for interaction in tape.interactions)
    content = Content(read, texts_beside(data), int(tape.stamp.get("placeholders", 0)))
    now = sightings(content, rules.now, placeholders=explain)
    finds = [_find(shown, one, rules) for one in now]
    if explain and rules.without_keep is not None:
        there = {one.key for one in now}
        loose = sightings(content, rules.without_keep, placeholders=False)
        finds += [_told(shown, one, "kept", rules.kept(one.seen.kind)) for one in loose if one.key not in there]
    not_looked = [one for interaction in read for one in _not_looked(shown, interaction)]
    not_looked += _beside(shown, bodies, tape.interactions)
    return TapeScan(shown, tape.by, len(read), tuple(finds), tuple(not_looked), tuple(_notes(edited, read)))


def _find(shown: str, one: Sighting, rules: ProjectRules) -> Find:
    if one.seen.kind == "placeholder":
        rule = "placeholder"
    elif one.first is not None:
        rule = f"same value as {place_told(one.first.interaction, one.first.where)}"
    else:
        rule = rules.told(one.seen.kind, one.seen.where)
    return _told(shown, one, "already" if one.placeholder else "found", rule)


def _told(shown: str, one: Sighting, state: State, rule: str) -> Find:
    seen = one.seen
    index = None if seen.interaction == FILE else seen.interaction
    return Find(shown, index, seen.where, seen.kind, fingerprint(seen.value, seen.where), rule, state)


def place_told(index: int | None, where: str) -> str:
    """A place as people read it: `#3 response.body/a`; without a number beside the interactions."""
    return where if index in (None, FILE) else f"#{index} {where}"


def _readable(interaction: Interaction) -> Interaction:
    """As vcrpy often keeps an answer: unpacked, under the Content-Encoding of the packed one."""
    return replace(interaction, request=_unpacked(interaction.request), response=_unpacked(interaction.response))


def _unpacked(side: _Side) -> _Side:
    if decoded(side.body, header(side.headers, _CODING)) is not None or not _is_text(side.body):
        return side
    headers: Headers = tuple(pair for pair in side.headers if pair[0].lower() != _CODING)
    return replace(side, headers=headers)


def _not_looked(shown: str, interaction: Interaction) -> Iterator[NotLooked]:
    for name, side in _sides(interaction):
        coding = header(side.headers, _CODING)
        if decoded(side.body, coding) is None:
            why = f'the coding "{coding}" is unknown, or its bytes are damaged'
            yield NotLooked(shown, interaction.index, f"{name}.body", why, fingerprint_of_bytes(side.body))


def _beside(shown: str, folder: Path, interactions: tuple[Interaction, ...]) -> Iterator[NotLooked]:
    known = (side.body for each in interactions for _, side in _sides(each))
    for path in strangers(folder, known):
        mark = fingerprint_of_bytes(path.name.encode())
        yield NotLooked(shown, None, f"{folder.name}/{path.name}", "it belongs to no interaction: delete it", mark)


def _notes(edited: Edited, interactions: tuple[Interaction, ...]) -> Iterator[str]:
    if not edited.as_sealed:
        yield "edited since it was sealed: proctor cassette seal takes the edit"
    plain = [decoded(side.body, header(side.headers, _CODING)) for each in interactions for _, side in _sides(each)]
    binary = sum(body is not None and not _is_text(body) for body in plain)
    if binary:
        yield f"binary bodies: {binary}; only what stands in them as plain letters was looked at"


def _sides(interaction: Interaction) -> tuple[tuple[str, Request | Response], ...]:
    return ("request", interaction.request), ("response", interaction.response)


def _is_text(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
