"""Equal reads that were answered differently although no write of theirs came between: something is not as declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from proctor.diff import json_differences
from proctor.effect_table import call_name
from proctor.effects import tool_today
from proctor.interaction import Response
from proctor.proxy.playback import Tape
from proctor.trace import Unexplained, body_value

_POINTERS = 3
_TOO_MANY, _FAILED = 429, 500


class _Pair(NamedTuple):
    """Two equal reads, one after the other, and where their answers differ."""

    service: str
    name: str
    first: int
    second: int
    where: tuple[str, ...]


def unexplained(tape: Tape) -> tuple[Unexplained, ...]:
    """One entry for each read that has such pairs, with the pair that tells most.

    A field that differs in most pairs of a read is rather a clock than a change, so the rarest come first. Answers that
    broke off, 429 and 5xx tell nothing of the state, and neither do reads that overlapped a write.
    """
    pairs = list(_pairs(tape))
    usual = Counter((pair.service, pair.name, where) for pair in pairs for where in pair.where)
    found: dict[tuple[str, str], list[_Pair]] = {}
    for pair in pairs:
        rarest = sorted(pair.where, key=lambda where: usual[pair.service, pair.name, where])
        found.setdefault((pair.service, pair.name), []).append(pair._replace(where=tuple(rarest)))
    told = []
    for (service, name), each in sorted(found.items()):
        clearest = min(each, key=lambda pair: usual[service, name, pair.where[0]])
        told.append(
            Unexplained(
                service=service,
                name=name,
                first=clearest.first,
                second=clearest.second,
                where=clearest.where[:_POINTERS],
                more=len(clearest.where[_POINTERS:]),
                count=len(each),
            )
        )
    return tuple(told)


def _pairs(tape: Tape) -> Iterator[_Pair]:
    last: dict[int, int] = {}
    """By the first of all equal requests: the last one that told of the state."""
    for position, interaction in enumerate(tape.cassette.interactions):
        if tape.effects[position].effect != "read" or not _tells(interaction.response):
            continue
        if tape.state.beside(position):
            continue
        key = tape.twins(position)[0]
        before = last.get(key)
        last[key] = position
        if before is None or tape.state.before(before) != tape.state.before(position):
            continue
        where = _where(tape.shown(before).response, tape.shown(position).response)
        if where:
            name = call_name(interaction, tool_today(tape.config.services, interaction))
            yield _Pair(interaction.request.service, name, before, position, where)


def _tells(response: Response) -> bool:
    return response.complete and response.status != _TOO_MANY and response.status < _FAILED


def _where(old: Response, new: Response) -> tuple[str, ...]:
    """Where two answers differ: `status`, a JSON pointer, or `body` as a whole."""
    status = ["status"] if old.status != new.status else []
    before, after = body_value(old.headers, old.body), body_value(new.headers, new.body)
    if isinstance(before, dict | list) and type(before) is type(after) and list(before) != ["base64"]:
        with suppress(RecursionError):  # nested too deeply to name a place in it
            return (*status, *(pointer for pointer, _, _ in json_differences(before, after)))
    return (*status, *(["body"] if old.body != new.body else ()))
