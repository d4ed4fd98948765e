"""Which number a secret gets: the next one, or the one that it had on an earlier tape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from proctor.interaction import Interaction
from proctor.placeholders import is_opaque, numbers_of
from proctor.redaction.finder import Finder
from proctor.redaction.messages import clean_interaction
from proctor.redaction.pii import personal_number
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span
from proctor.redaction.walker import Swap, Walker


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

    def spelled(self, number: int, made: str) -> str:
        """The placeholder of that number, which was `made` by the shape of the secret."""


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

    def spelled(self, number: int, made: str) -> str:
        """See `Numbers.spelled`."""
        return made


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
class Places:
    """Where the placeholders of a tape stand."""

    numbers: dict[_Call, dict[str, list[int]]] = field(default_factory=dict)
    """By call and place."""
    spelled: dict[int, str] = field(default_factory=dict)
    """Those that say nothing of their secret's shape, by number."""


@dataclass
class AsBefore:
    """Numbers of an earlier tape: by a secret's name there, else by its place, else the first that are free.

    A place is the same one in the same call: service, method, tool (else path), and how often that was called before.
    """

    by_value: Mapping[str, int] = field(default_factory=dict)
    """Secrets that the earlier tape names, by variable or identity."""
    places: Places = field(default_factory=Places)
    _used: set[int] = field(default_factory=set, init=False)
    _calls: _Calls = field(default_factory=_Calls, init=False)
    _here: Mapping[str, list[int]] = field(default_factory=dict, init=False)
    _free: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        """What has a place on the earlier tape is kept for it."""
        places = (numbers for call in self.places.numbers.values() for numbers in call.values())
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
        self._here = self.places.numbers.get(self._calls.next(interaction), {})

    def take(self, secret: str, place: str) -> int:
        """See `Numbers.take`."""
        named = [self.by_value[secret]] if secret in self.by_value else []
        wanted = (number for number in (*named, *self._here.get(place, ())) if number not in self._used)
        number = next(wanted, None) or next(number for number in self._free if number not in self._used)
        self._used.add(number)
        return number

    def spelled(self, number: int, made: str) -> str:
        """See `Numbers.spelled`. A random token is base64 by chance: it keeps the spelling that it had."""
        before = self.places.spelled.get(number)
        return before if before and is_opaque(made) else made


def places_on(interactions: Iterable[Interaction], rules: Rules, upto: int) -> Places:
    """The numbers on a sealed tape by the places in which its placeholders stand; it has `upto` of them."""
    found, calls = Places(), _Calls()
    for interaction in interactions:
        call = calls.next(interaction)
        if interaction.redacted:
            here = found.numbers[call] = {}
            clean_interaction(Walker(Finder(rules), _noting(here, found.spelled, upto)), interaction)
    return found


def _noting(here: dict[str, list[int]], spelled: dict[int, str], upto: int) -> Swap:
    def note(span: Span, place: str) -> None:
        personal = personal_number(span.kind, span.value)
        for number in numbers_of(span.value) or {personal or 0}:
            if 0 < number <= upto:
                here.setdefault(place, []).append(number)
                if is_opaque(span.value):
                    spelled.setdefault(number, span.value)

    return note


def _others(held: set[int]) -> Iterator[int]:
    number = 0
    while True:
        number += 1
        if number not in held:
            yield number
