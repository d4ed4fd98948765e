"""Which number a secret gets: the next one, or the one that it had on an earlier tape."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from proctor.interaction import Interaction
from proctor.placeholders import numbers_of
from proctor.redaction.finder import Finder
from proctor.redaction.messages import clean_interaction
from proctor.redaction.pii import personal_number
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.walker import Walker


class Numbers(Protocol):
    """Gives numbers; none twice."""

    @property
    def last(self) -> int:
        """The highest that is taken."""

    def reserve(self, numbers: Iterable[int]) -> None:
        """Give none of these away."""

    def look_at(self, interaction: Interaction) -> None:
        """The secrets that come now stand in this exchange."""

    def take(self, secret: str, place: str) -> int:
        """The number of a new secret."""


@dataclass
class InOrder:
    """Numbers by first appearance, above all that are taken."""

    last: int = 0

    def reserve(self, numbers: Iterable[int]) -> None:
        """See `Numbers.reserve`."""
        self.last = max(self.last, 0, *numbers)

    def look_at(self, interaction: Interaction) -> None:
        """See `Numbers.look_at`: where a secret stands does not count."""

    def take(self, secret: str, place: str) -> int:
        """See `Numbers.take`."""
        self.last += 1
        return self.last


_Call = tuple[str, str, str, int]


class _Calls:
    """Names each exchange by what it calls and how often that was called before."""

    def __init__(self) -> None:
        self._count: Counter[tuple[str, str, str]] = Counter()

    def next(self, interaction: Interaction) -> _Call:
        request = interaction.request
        what = interaction.tool or request.target.partition("?")[0]
        key = (request.service, request.method, what)
        self._count[key] += 1
        return (*key, self._count[key])


@dataclass
class AsBefore:
    """Numbers of an earlier tape: by a secret's name there, else by its place, else the first that are free.

    A place is the same one in the same call: service, method, tool (else path), and how often that was called before.
    """

    by_value: Mapping[str, int] = field(default_factory=dict)
    """Secrets that the earlier tape names, by variable or identity."""
    by_place: Mapping[_Call, Mapping[str, list[int]]] = field(default_factory=dict)
    _used: set[int] = field(default_factory=set, init=False)
    _calls: _Calls = field(default_factory=_Calls, init=False)
    _here: Mapping[str, list[int]] = field(default_factory=dict, init=False)
    _free: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        """What has a place on the earlier tape is kept for it."""
        places = (numbers for call in self.by_place.values() for numbers in call.values())
        held = {*self.by_value.values(), *(number for numbers in places for number in numbers)}
        self._free = _others(held)

    @property
    def last(self) -> int:
        """See `Numbers.last`."""
        return max(self._used, default=0)

    def reserve(self, numbers: Iterable[int]) -> None:
        """See `Numbers.reserve`."""
        self._used.update(numbers)

    def look_at(self, interaction: Interaction) -> None:
        """See `Numbers.look_at`."""
        self._here = self.by_place.get(self._calls.next(interaction), {})

    def take(self, secret: str, place: str) -> int:
        """See `Numbers.take`."""
        named = [self.by_value[secret]] if secret in self.by_value else []
        wanted = (number for number in (*named, *self._here.get(place, ())) if number not in self._used)
        number = next(wanted, None) or next(number for number in self._free if number not in self._used)
        self._used.add(number)
        return number


def places_on(interactions: Iterable[Interaction], rules: Rules, upto: int) -> dict[_Call, dict[str, list[int]]]:
    """The numbers on a sealed tape by the places in which its placeholders stand; it has `upto` of them."""
    found: dict[_Call, dict[str, list[int]]] = {}
    calls = _Calls()
    for interaction in interactions:
        call = calls.next(interaction)
        if interaction.redacted:
            found[call] = _numbers_by_place(interaction, Finder(rules), upto)
    return found


def _numbers_by_place(interaction: Interaction, finder: Finder, upto: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)

    def note(span: Span, place: str) -> None:
        personal = personal_number(span.kind, span.value)
        known = numbers_of(span.value) or ({personal} if personal else set())
        found[place] += [number for number in known if number <= upto]

    clean_interaction(Walker(finder, note), interaction)
    return found


def _others(held: set[int]) -> Iterator[int]:
    number = 0
    while True:
        number += 1
        if number not in held:
            yield number
