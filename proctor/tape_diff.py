"""What really changed between two tapes, or between a tape and a session: pairs of interactions, field by field."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from proctor.canonical import with_floats
from proctor.cassette import Cassette
from proctor.diff import ABSENT, json_differences
from proctor.renumbering import Renumbering, without_numbers
from proctor.tape_alignment import Keys, align, out_of_order
from proctor.tape_changes import Change, Difference, TapeDiff
from proctor.tape_masking import differing
from proctor.tape_reading import Reading, fingerprint
from proctor.tape_readings import Rules, row_readings, tape_readings, traced_readings
from proctor.trace import TraceRow

COUNTED = ("environment", "services", "tool_schemas", "judge_salt")
"""What a tape's stamp says that is a change."""
_TOLD = ("host", "command", "proctor", "accepted", "edited_at")
"""What it says of the recording alone."""


def diff_tapes(old: Cassette, new: Cassette, rules: Rules | None = None) -> TapeDiff:
    """Compare two tapes. `rules` are the services by name, as the configuration has them."""
    sides = [tape_readings(tape, rules or {}) for tape in (old, new)]
    head, told = (tuple(_stamp_differences(old.stamp, new.stamp, keys)) for keys in (COUNTED, _TOLD))
    return _diff(sides[0], sides[1], Renumbering(_named(old.stamp, new.stamp)), head, told)


def diff_session(tape: Cassette, rows: Iterable[TraceRow], rules: Rules | None = None) -> TapeDiff:
    """Compare a tape with what a session did, by what a trace keeps: no headers, and bodies as values."""
    return _diff(traced_readings(tape, rules or {}), row_readings(rows, rules or {}), Renumbering())


def _diff(
    old: list[Reading],
    new: list[Reading],
    renumbering: Renumbering,
    head: tuple[Difference, ...] = (),
    told: tuple[Difference, ...] = (),
) -> TapeDiff:
    pairs = align(_keys(old), _keys(new))
    moved = out_of_order(pairs, lambda a, b: _unordered(old[a[0]], old[b[0]]) or _unordered(new[a[1]], new[b[1]]))
    for i, j in pairs:
        renumbering.learn([old[i].asked, old[i].answer], [new[j].asked, new[j].answer])
    there = {j: i for i, j in pairs}
    gone = deque(sorted(set(range(len(old))).difference(there.values())))
    changes: list[Change] = []
    for j, now in enumerate(new):
        if j not in there:
            changes.append(Change("added", None, now))
            continue
        i = there[j]
        while gone and gone[0] < i and (i, j) not in moved:
            changes.append(Change("removed", old[gone.popleft()], None))
        differences = tuple(_differences(old[i], now, renumbering))
        if differences or (i, j) in moved:
            changes.append(Change("changed" if differences else "moved", old[i], now, differences, (i, j) in moved))
    changes += [Change("removed", old[i], None) for i in gone]
    hidden = sum(differing(old[i], new[j]) for i, j in pairs)
    return TapeDiff(tuple(changes), len(old) + len(new) - len(pairs), head, told, hidden)


def _keys(side: list[Reading]) -> Keys:
    asked = [without_numbers(f"{each.service} {fingerprint(each.asked)}") for each in side]
    answers = [without_numbers(fingerprint([each.answer, each.effect])) for each in side]
    return Keys(list(zip(asked, answers, strict=True)), asked, [(each.service, each.name) for each in side])


def _differences(old: Reading, new: Reading, renumbering: Renumbering) -> Iterator[Difference]:
    """A session that was refused its answer is told as such, not by the fields of the refusal."""
    yield from _part_differences("request", old.asked, new.asked, renumbering)
    refused = new.answer.get("refused")
    if refused:
        yield Difference("answer refused", ABSENT, refused)
        return
    yield from _part_differences("answer", old.answer, new.answer, renumbering)
    if old.effect and new.effect and old.effect != new.effect:
        yield Difference("effect", old.effect, new.effect)


def _part_differences(
    part: str, old: dict[str, Any], new: dict[str, Any], renumbering: Renumbering
) -> Iterator[Difference]:
    before = renumbering.applied(old)
    for pointer, left, right in json_differences(before, new):
        yield Difference(_where(part, pointer), with_floats(left), with_floats(right))


def _where(part: str, pointer: str) -> str:
    name, _, rest = pointer.removeprefix("/").partition("/")
    if name == "body":
        return f"{part} body /{rest}" if rest else f"{part} body"
    return f"{part} {name} {rest.replace('~1', '/').replace('~0', '~')}".rstrip()


def _unordered(one: Reading, other: Reading) -> bool:
    """Whether neither had its answer when the other began: then their order is chance."""
    if one.beside is not None and other.beside is not None:
        return one.index in other.beside or other.index in one.beside
    return one.started < other.started + other.seconds and other.started < one.started + one.seconds


def _stamp_differences(old: dict[str, Any], new: dict[str, Any], keys: tuple[str, ...]) -> Iterator[Difference]:
    for key in keys:
        left, right = ({key: stamp[key]} if key in stamp else {} for stamp in (old, new))
        for pointer, before, now in json_differences(left, right):
            _, _, inside = pointer.removeprefix("/").partition("/")
            yield Difference(f"{key.replace('_', ' ')} {inside}".rstrip(), before, now)


def _named(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Placeholders of one identity or variable, which the stamps name."""
    for service, names in old.get("identities", {}).items():
        now = new.get("identities", {}).get(service, {})
        yield from ((value, now[name]) for name, value in names.items() if name in now)
    now = new.get("variables", {})
    yield from ((value, now[name]) for name, value in old.get("variables", {}).items() if name in now)
