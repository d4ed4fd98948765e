"""Readings without what `proctor.toml` says differs in each run, so that it is no change to a diff, and none to git.

A declared value is masked at its place. One that is long enough to be nothing else is masked wherever it stands, in
answers too: a tool that is asked about today is asked about another day tomorrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from proctor.bindings import SHORTEST, whole_words
from proctor.canonical import with_texts
from proctor.forgiving import Forgiveness, LeftOut, forgiveness_of
from proctor.service_config import ServiceConfig
from proctor.tape_reading import Reading

_MARKS = {"ignored": "(ignored)", "volatile": "(volatile)", "minted": "(id)"}


def masked(readings: Sequence[Reading], services: Mapping[str, ServiceConfig]) -> list[Reading]:
    """The readings of one tape or session, each with what was masked at a declared place. `services` are by name."""
    rules = {name: forgiveness_of(services, name) for name in {each.service for each in readings}}
    at_places = [_at_places(each, rules[each.service]) for each in readings]
    found = {
        left.value: _MARKS[left.how]
        for each in at_places
        for left in each.masked
        if left.how != "ignored" and len(left.value) >= SHORTEST
    }
    words = whole_words(found)
    if words is None:
        return at_places
    return [_everywhere(each, lambda text: words.sub(lambda match: found[match[0]], text)) for each in at_places]


def _at_places(reading: Reading, rules: Forgiveness | None) -> Reading:
    if rules is None:
        return reading
    asked, left_out = dict(reading.asked), list[LeftOut]()
    for part, place in (("query", "?"), ("body", "")):
        if part in asked:
            asked[part], found = rules.marked(asked[part], place, _MARKS)
            left_out += found
    return replace(reading, asked=asked, masked=tuple(left_out))


def _everywhere(reading: Reading, change: Callable[[str], str]) -> Reading:
    asked, answer = (with_texts(each, change) for each in (reading.asked, reading.answer))
    return replace(reading, name=change(reading.name), asked=asked, answer=answer)


def differing(old: Reading, new: Reading) -> int:
    """At how many declared places two readings hold other values."""
    before, now = (_by_place(each) for each in (old, new))
    return sum(before.get(place) != now.get(place) for place in {*before, *now})


def _by_place(reading: Reading) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for left in reading.masked:
        found.setdefault(left.place, []).append(left.value)
    return found
