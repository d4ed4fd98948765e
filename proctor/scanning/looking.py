"""Every place of a tape that the rules touch, and by what each is touched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.interaction import Interaction
from proctor.redaction.redactor import Redactor, Seen
from proctor.redaction.rules import Rules
from proctor.scanning.beside import Text


@dataclass(frozen=True)
class Content:
    """All that a tape's file holds."""

    interactions: Sequence[Interaction]
    texts: Sequence[Text]
    placeholders: int
    """How many the tape has: digits and dates that stand for a secret are known by this alone."""


@dataclass(frozen=True)
class Sighting:
    """A place at which the rules find something."""

    seen: Seen
    placeholder: bool
    """It stands for a secret already."""
    first: Seen | None = None
    """The place that told the value, where nothing at this one does."""

    @property
    def key(self) -> tuple[int, str, str]:
        """Which interaction, where in it, what."""
        return self.seen.interaction, self.seen.where, self.seen.value


def sightings(content: Content, rules: Rules, *, placeholders: bool) -> list[Sighting]:
    """In the order of the tape; with `placeholders` also where one stands.

    A value that one place tells is found at every other, as recording would replace it there.
    """
    redactor = Redactor(rules, content.placeholders, make=lambda number: f"(secret {number})")
    for interaction in content.interactions:
        redactor.learn(interaction)
    for text in content.texts:
        redactor.learn_text(text.text)
    if not redactor.known and not placeholders:  # the second look costs as much as the first
        return []
    seen = _seen(redactor, content, placeholders=placeholders)
    secrets = [one for one in seen if not redactor.is_placeholder(one.value, one.kind)]
    direct = _direct(rules, content, redactor, {one.interaction for one in secrets})
    tellers: dict[str, Seen] = {}
    for one in secrets:
        if _key(one) in direct or one.kind.startswith("variable "):
            tellers.setdefault(one.value, one)
    found = []
    for one in _apart(seen, direct):
        placeholder = redactor.is_placeholder(one.value, one.kind)
        told_here = placeholder or _key(one) in direct or one.kind.startswith("variable ")
        found.append(Sighting(one, placeholder, None if told_here else tellers.get(one.value)))
    return found


def _seen(redactor: Redactor, content: Content, *, placeholders: bool) -> list[Seen]:
    found: list[Seen] = []
    for one in content.texts:
        found += redactor.seen_in_text(one.text, one.place, one.interaction, placeholders=placeholders)
    for interaction in content.interactions:
        found += redactor.seen_in(interaction, placeholders=placeholders)
    return sorted(found, key=lambda seen: seen.interaction)


def _direct(rules: Rules, content: Content, knowing: Redactor, indexes: set[int]) -> dict[tuple[int, str, str], Seen]:
    """What is found at its place itself, with nothing known from elsewhere."""
    content = Content(
        [each for each in content.interactions if each.index in indexes],
        [each for each in content.texts if each.interaction in indexes],
        content.placeholders,
    )
    found = _seen(Redactor(rules, content.placeholders), content, placeholders=True)
    return {(one.interaction, knowing.shown_place(one.where), one.value): one for one in found}


def _key(one: Seen) -> tuple[int, str, str]:
    return one.interaction, one.where, one.value


def _apart(seen: Iterable[Seen], direct: dict[tuple[int, str, str], Seen]) -> list[Seen]:
    """Each value once a place, at the nearest that is told: not `response.body` where `response.body/a` has it."""
    places: dict[tuple[int, str], list[Seen]] = defaultdict(list)
    for one in seen:
        places[one.interaction, one.value].append(direct.get(_key(one), one)._replace(where=one.where))
    kept: list[Seen] = []
    for found in places.values():
        names = {one.where: one for one in reversed(found)}
        kept += [one for where, one in names.items() if not any(_is_within(other, where) for other in names)]
    order = {_key(one): place for place, one in reversed(list(enumerate(seen)))}
    return sorted(kept, key=lambda one: order[_key(one)])


def _is_within(place: str, outer: str) -> bool:
    return place.startswith(outer) and place != outer and not place[len(outer)].isalnum()
