"""The calls that were made against those that were expected, one to one, in five modes.

strict      the same calls in the same order, and no other
in_order    the expected ones in this order; others may stand between them
any_order   the same calls in any order, and no other
superset    at least the expected ones, in any order
subset      none but the expected ones; some may be missing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from proctor.matching.arguments import Mismatch, described, field_mismatches
from proctor.matching.assignment import assign
from proctor.matching.matchers import ArgumentsField
from proctor.matching.names import Aliases, name_match, nearest_name
from proctor.matching.values import cut
from proctor.tool_calls import Call

Mode = Literal["strict", "in_order", "any_order", "superset", "subset"]
MOST_REPEATS = 200
"""Calls of one tool that are still assigned, on either side."""


class ExpectedCall(BaseModel):
    """A call that should be made. Without `arguments` any will do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """Exact, or a prefix such as `query_*`."""
    arguments: ArgumentsField | None = None
    """One matcher for each argument, by its name."""
    others: Literal["refused", "ignored"] = "refused"
    """What arguments are that stand in the call and not here."""

    @classmethod
    def of(cls, said: CallLike) -> ExpectedCall:
        """From a name, or from plain JSON as a suite file holds it. Raises ValueError for one that cannot be."""
        if isinstance(said, ExpectedCall):
            return said
        return cls(name=said) if isinstance(said, str) else cls.model_validate(said)


CallLike = ExpectedCall | Mapping[str, Any] | str
Forgives = Callable[[Call, Mismatch], bool]
"""Says of a difference in a call that it does not count."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected call with the call that is it, or with the nearest one and where that differs, or with none."""

    expected: int
    call: Call | None
    mismatches: tuple[Mismatch, ...] = ()
    misplaced: bool = False
    """Nothing in it differs, but it does not stand where it should."""
    other_name: str = ""
    """Where no call of the tool is left: the called tool with the nearest name."""

    @property
    def matched(self) -> bool:
        """The call is the expected one."""
        return self.call is not None and not self.mismatches and not self.misplaced


@dataclass(frozen=True, slots=True)
class Matched:
    """Which call was which: a pair for each expected call, in their order, and the calls that were none."""

    fits: bool
    pairs: tuple[Pair, ...]
    extra: tuple[Call, ...]
    in_doubt: bool = False
    """It does not fit, and only because of values of which it cannot be told whether they match."""


@dataclass(frozen=True, slots=True)
class TooManyRepeats:
    """The refusal to assign more than `MOST_REPEATS` calls of one tool."""

    name: str
    count: int

    def __str__(self) -> str:
        return f"{self.name} stands {self.count} times; calls are assigned up to {MOST_REPEATS} of one tool"


def match_calls(
    expected: Sequence[ExpectedCall],
    made: Sequence[Call],
    mode: Mode,
    aliases: Aliases | None = None,
    forgives: Forgives | None = None,
) -> Matched | TooManyRepeats:
    """Compare in that mode. Never raises, whatever the calls hold."""
    if refused := _too_many(expected, made, aliases):
        return refused
    found = _Differences(expected, made, aliases, forgives)
    if mode == "strict":
        partners: list[int | None] = [
            index if index < len(made) and found.none(index, index) else None for index in range(len(expected))
        ]
    elif mode == "in_order":
        partners = _in_order(found)
    else:
        partners = assign([[m for m in range(len(made)) if found.none(e, m)] for e in range(len(expected))])
    pairs = _pairs(partners, found, by_place=mode == "strict")
    used = {partner for partner in partners if partner is not None}
    extra = tuple(call for index, call in enumerate(made) if index not in used)
    missing = [pair for pair in pairs if not pair.matched]
    fits = (mode == "subset" or not missing) and (mode in ("in_order", "superset") or not extra)
    return Matched(fits, pairs, extra, not fits and _only_doubt(missing, extra, mode))


class _Differences:
    """What differs between each expected call and each made one, worked out once and only where asked."""

    def __init__(
        self,
        expected: Sequence[ExpectedCall],
        made: Sequence[Call],
        aliases: Aliases | None,
        forgives: Forgives | None,
    ) -> None:
        self.expected = expected
        self.made = made
        self._aliases = aliases
        self._forgives = forgives
        self._known: dict[tuple[int, int], tuple[Mismatch, ...] | None] = {}

    def of(self, expected: int, made: int) -> tuple[Mismatch, ...] | None:
        """None where it is another tool."""
        if (expected, made) not in self._known:
            call = self.made[made]
            found = call_mismatches(self.expected[expected], call, self._aliases)
            if found and self._forgives:
                found = tuple(mismatch for mismatch in found if not self._forgives(call, mismatch))
            self._known[expected, made] = found
        return self._known[expected, made]

    def none(self, expected: int, made: int) -> bool:
        return self.of(expected, made) == ()


def call_mismatches(expected: ExpectedCall, made: Call, aliases: Aliases | None = None) -> tuple[Mismatch, ...] | None:
    """Where the arguments differ; None where it is another tool."""
    if not name_match(expected.name, made.name, aliases):
        return None
    if expected.arguments is None:
        return ()
    return field_mismatches(expected.arguments, made.arguments, others=expected.others)


def _too_many(expected: Sequence[ExpectedCall], made: Sequence[Call], aliases: Aliases | None) -> TooManyRepeats | None:
    wanted = Counter(call.name for call in expected)
    called = Counter(call.name for call in made)
    for name, count in wanted.items():
        repeats = max(count, sum(times for other, times in called.items() if name_match(name, other, aliases)))
        if repeats > MOST_REPEATS:
            return TooManyRepeats(name, repeats)
    return None


def _in_order(found: _Differences) -> list[int | None]:
    """The earliest call that fits after the one before: if all can be found in order, this finds them."""
    partners: list[int | None] = []
    after = 0
    for expected in range(len(found.expected)):
        partner = next((made for made in range(after, len(found.made)) if found.none(expected, made)), None)
        partners.append(partner)
        after = after if partner is None else partner + 1
    return partners


def _pairs(partners: Sequence[int | None], found: _Differences, *, by_place: bool) -> tuple[Pair, ...]:
    """Name, for each expected call without a partner, the nearest of the calls that are left."""
    used = {partner for partner in partners if partner is not None}
    free = [made for made in range(len(found.made)) if made not in used]
    pairs = []
    for expected, partner in enumerate(partners):
        near = partner if partner is not None else _nearest(expected, free, found, by_place=by_place)
        if near is not None:
            differing = found.of(expected, near) or ()
            pairs.append(Pair(expected, found.made[near], differing, misplaced=partner is None and not differing))
        else:
            name = nearest_name(found.expected[expected].name, (found.made[made].name for made in free))
            pairs.append(Pair(expected, None, other_name=name or ""))
    return tuple(pairs)


def _nearest(expected: int, free: Sequence[int], found: _Differences, *, by_place: bool) -> int | None:
    """The call of that tool with the fewest differing fields; first of all the one in its place, where that counts."""
    near = [made for made in free if found.of(expected, made) is not None]
    if by_place and expected in near:
        return expected
    return min(near, key=lambda made: len(found.of(expected, made) or ()), default=None)


def _only_doubt(missing: Sequence[Pair], extra: Sequence[Call], mode: Mode) -> bool:
    """Every difference left is one that cannot be decided, and no call is left over beside those."""
    doubtful = [pair for pair in missing if pair.mismatches and all(m.how == "undecidable" for m in pair.mismatches)]
    steps = {pair.call.index for pair in doubtful if pair.call}
    over = mode in ("strict", "any_order", "subset") and any(call.index not in steps for call in extra)
    return bool(doubtful) and (mode == "subset" or len(doubtful) == len(missing)) and not over


def told(expected: ExpectedCall) -> str:
    """An expected call in words for a message."""
    if expected.arguments is None:
        return expected.name
    arguments = ", ".join(f"{name} {described(matcher)}" for name, matcher in expected.arguments.items())
    return f"{expected.name} ({cut(arguments)})"
