"""Replacing secrets by numbered placeholders: one secret, one placeholder, everywhere in a tape.

Two passes: `learn` goes through every interaction and gives each secret its number, then `interaction` replaces all of
them, also where they stand under no name and had no shape. `leaks` is the look at what came of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from proctor.encoding import decoded
from proctor.interaction import Interaction, Request, Response, header, readable
from proctor.placeholders import is_placeholder, numbers_in, stand_in
from proctor.redaction.finder import Finder
from proctor.redaction.known import Known
from proctor.redaction.messages import clean_interaction, clean_request, clean_response
from proctor.redaction.numbering import InOrder, Numbers
from proctor.redaction.pii import personal_number, personal_stand_in
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.strength import SHORTEST, Reach, reach_of
from proctor.redaction.walker import Walker
from proctor.trace import ReplacedSecret

Maker = Callable[[int], str]


class Replaced(NamedTuple):
    """A place in which a placeholder stands now. `where` names side, part and field, never a value."""

    interaction: int
    where: str
    kind: str
    placeholder: str


class Seen(NamedTuple):
    """Something that was found in an exchange. The value itself is only for a fingerprint."""

    interaction: int
    where: str
    kind: str
    value: str


@dataclass
class Redactor:
    """Learns secrets, then replaces them. `known` maps each secret to its placeholder."""

    rules: Rules = field(default_factory=Rules)
    placeholders: int = 0
    """How many a sealed tape has already: digits and dates that stand for a secret are known by this alone."""
    make: Maker | None = None
    """What to put for the n-th secret, where not a placeholder of a tape."""
    numbers: Numbers | None = None
    """Gives the numbers; by default those above `placeholders`, in order."""
    known: dict[str, str] = field(default_factory=dict)
    replaced: list[Replaced] = field(default_factory=list)
    """Every place that `interaction` changed."""
    unread: Counter[str] = field(default_factory=Counter)
    """How many bodies could not be unpacked, by coding: they are searched for what is known, as they are."""
    _numbers: Numbers = field(init=False)
    _met: int = field(default=0, init=False)
    """How many times something was found."""
    _given: set[str] = field(default_factory=set, init=False)
    _search: Known = field(default_factory=Known, init=False)

    def __post_init__(self) -> None:
        """Watch for the values of the environment, which get a number when they are first seen."""
        watched = Known()
        for value, name in self.rules.variables.items():
            watched.add(value, Reach.EVERYWHERE, f"variable {name}")
        # Learning looks for what is new: searching for all that is known would be made anew for each new secret.
        self._learner = Walker(Finder(self.rules, watched), self._learn)
        self.finder = Finder(self.rules, self._search)
        self._numbers = self.numbers or InOrder(0 if self.make else self.placeholders)

    @classmethod
    def over(
        cls,
        interactions: Iterable[Interaction],
        rules: Rules | None = None,
        placeholders: int = 0,
        *,
        bound: Mapping[str, str] | None = None,
        numbers: Numbers | None = None,
    ) -> Redactor:
        """A redactor that knows every secret seen in a recording, numbered by first appearance.

        Those that are `bound` have a placeholder already; `numbers` may number the others in another way.
        """
        redactor, seen = cls(rules or Rules(), placeholders, numbers=numbers), list(interactions)
        for secret, placeholder in (bound or {}).items():
            redactor.learn_value(secret, placeholder)
        for interaction in seen:
            redactor.reserve(interaction)
        for interaction in seen:
            redactor.learn(interaction)
        return redactor

    @property
    def count(self) -> int:
        """The highest number that a placeholder has."""
        return self._numbers.last

    def reserve(self, interaction: Interaction) -> None:
        """Never give the number of a placeholder that stands anywhere in this exchange to a secret."""
        request, response = interaction.request, interaction.response
        texts = [request.target, *(value for side in (request, response) for _, value in side.headers)]
        for side in (request, response):
            coding = header(side.headers, "content-encoding")
            plain = decoded(side.body, coding)
            if plain is None:
                self.unread[coding or ""] += 1
            texts.append((side.body if plain is None else plain).decode("latin-1"))
        self._numbers.reserve(numbers_in("\n".join(texts)))

    def learn(self, interaction: Interaction) -> None:
        """Give each new secret of this exchange the next number. A placeholder is never a secret."""
        self._numbers.look_at(interaction)
        clean_interaction(self._learner, interaction)

    def learn_row(self, row: Any) -> None:
        """Give each new secret of a trace row, or of other plain data, the next number."""
        text, met = json.dumps(row), self._met
        if text in self.rules.innocent:
            return
        self._learner.json(text, "row")
        if self._met == met and self.rules.finder is None:  # a project's own function may judge anew
            self.rules.innocent.add(text)

    def learn_value(self, secret: str, placeholder: str) -> None:
        """Replace `secret` by `placeholder` from now on."""
        self.known[secret] = placeholder
        self._given.add(placeholder)
        self._search.add(secret, reach_of(secret), "credential")

    def interaction(self, interaction: Interaction) -> Interaction:
        """The interaction with placeholders; `redacted` names the parts that changed."""
        found: dict[tuple[str, str], str] = {}
        clean = clean_interaction(self._replacer(found), interaction)
        self.replaced += [
            Replaced(interaction.index, self.shown_place(where), self.text(kind), placeholder)
            for (where, kind), placeholder in found.items()  # a key above a secret may be one itself
        ]
        return replace(clean, redacted=_differing(interaction, clean))

    def request(self, request: Request) -> Request:
        """The request with placeholders for what is known, its lengths made true again."""
        return clean_request(self._replacer({}), request)

    def text(self, text: str) -> str:
        """A URL or other short text with every known secret replaced."""
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def data(self, data: bytes) -> bytes:
        """Bytes with every spelling of a known secret replaced; the very same object where there is none."""
        return self._search.raw(data, self.known.get)

    def learn_secret(self, secret: str) -> str:
        """The placeholder of a secret, which gets one now if it has none."""
        self._learn(Span(0, 0, secret, "credential"), "")
        return self.known.get(secret, secret)

    def learnt_request(self, request: Request) -> Request:
        """The request with placeholders for all that is known or found in it now."""
        clean_request(self._learner, request)
        return self.request(request)

    def shown(self, value: Any) -> Any:
        """Plain data as people may see it: with placeholders for all that is known or found in it now."""
        self.learn_row(value)
        return self.value(value) if self.known else value

    def value(self, value: Any) -> Any:
        """Plain data, as a trace row has it, with every secret replaced that its names or shapes show."""
        return self._replacer({}).value(value, "row")

    def numbers_in_request(self, request: Request) -> set[int]:
        """The numbers of the placeholders that a request holds, through all its layers."""
        found, walker = self._counting()
        clean_request(walker, request)
        return found

    def numbers_in_response(self, response: Response) -> set[int]:
        """The numbers of the placeholders that an answer holds, through all its layers."""
        found, walker = self._counting()
        clean_response(walker, response)
        return found

    def _counting(self) -> tuple[set[int], Walker]:
        found: set[int] = set()

        def count(span: Span, place: str) -> None:
            found.update(numbers_in(span.value))

        return found, Walker(self.finder, count)

    def replaced_secrets(self) -> tuple[ReplacedSecret, ...]:
        """What `interaction` replaced so far, a secret a line, with its places."""
        places: dict[str, dict[str, None]] = {}
        kinds: dict[str, str] = {}
        for one in self.replaced:
            places.setdefault(one.placeholder, {})[f"#{one.interaction} {one.where}"] = None
            if kinds.get(one.placeholder) in (None, "credential"):
                kinds[one.placeholder] = one.kind
        return tuple(
            ReplacedSecret(placeholder=each, kind=kinds[each], places=tuple(found)) for each, found in places.items()
        )

    def leaks(self, data: bytes) -> bool:
        """Whether a known secret stands in `data`, in any spelling."""
        found: list[str] = []
        self._search.raw(data, lambda value: found.append(value) if value in self.known else None)
        return bool(found)

    def left_in(self, interaction: Interaction) -> list[Seen]:
        """What is still a secret in an interaction that was redacted."""
        return self.seen_in(interaction, placeholders=False)

    def seen_in(self, interaction: Interaction, *, placeholders: bool) -> list[Seen]:
        """What the rules find in an interaction."""
        found: list[Seen] = []
        clean_interaction(self._looking(interaction.index, found, placeholders), interaction)
        values = sorted({seen.value for seen in found}, key=len, reverse=True)
        return [seen._replace(where=_without(seen.where, values), kind=_without(seen.kind, values)) for seen in found]

    def seen_in_text(self, text: str, place: str, index: int, *, placeholders: bool) -> list[Seen]:
        """What the rules find in a text beside the parts of an interaction."""
        found: list[Seen] = []
        self._looking(index, found, placeholders).text(text, place)
        return found

    def learn_text(self, text: str) -> None:
        """Give each new secret of a text the next number."""
        self._learner.text(text, "text")

    def _looking(self, index: int, found: list[Seen], placeholders: bool) -> Walker:
        def look(span: Span, place: str) -> None:
            if placeholders or not self.is_placeholder(span.value, span.kind):
                found.append(Seen(index, self.shown_place(place), self.text(span.kind), span.value))

        return Walker(self.finder, look)

    def shown_place(self, place: str) -> str:
        """A place as people may see it: a key above it may itself be a secret."""
        shown = readable(place)
        spelled = shown.replace("~1", "/").replace("~0", "~")
        clean = self.text(spelled)
        return shown if clean == spelled else clean

    def _learn(self, span: Span, place: str) -> str | None:
        self._met += 1
        secret = span.value
        if secret in self.known or self.is_placeholder(secret, span.kind):
            return None
        number = self._numbers.take(secret, place)  # a JWT's claims may hold secrets that take the next ones
        personal = None if self.make else personal_stand_in(span.kind, secret, number)
        made = self.make(number) if self.make else stand_in(secret, number, self._inside)
        self.known[secret] = personal or self._numbers.spelled(number, made)
        self._given.add(self.known[secret])
        reach = Reach.EVERYWHERE if personal else reach_of(secret, cookie=span.kind.startswith("cookie"))
        self._search.add(secret, reach, span.kind)
        return None

    def _replacer(self, found: dict[tuple[str, str], str]) -> Walker:
        def put(span: Span, place: str) -> str | None:
            if self.is_placeholder(span.value, span.kind):
                return None
            new = self.known.get(span.value)
            if new is not None:
                found[place, span.kind] = new
            return new

        return Walker(self.finder, put)

    def _inside(self, text: str) -> str:
        """A JWT's claims, with the secrets in them replaced as anywhere."""
        self._learner.text(text, "claims")
        return self._replacer({}).text(text, "claims")

    def is_placeholder(self, value: str, kind: str) -> bool:
        """Whether something that was found stands for a secret already."""
        if value in self._given or is_placeholder(value, self.placeholders):
            return True
        return personal_number(kind, value) in range(1, self.placeholders + 1)


def _without(place: str, values: Iterable[str]) -> str:
    """A place, or a kind, that can be told: a key in it may be a secret itself."""
    for value in values:
        place = place.replace(value, "...")
    return place


_PARTS = ("request.target", "request.headers", "request.body", "response.headers", "response.body")


def _differing(old: Interaction, new: Interaction) -> tuple[str, ...]:
    """Which parts of an exchange are not what they were."""
    sides = {"request": (old.request, new.request), "response": (old.response, new.response)}
    found = []
    for part in _PARTS:
        side, _, name = part.partition(".")
        before, after = sides[side]
        if getattr(before, name) != getattr(after, name):
            found.append(part)
    return tuple(found)


def short_secrets(known: Mapping[str, str]) -> int:
    """How many secrets were too short to be searched for in bodies."""
    return sum(len(secret) < SHORTEST for secret in known)
