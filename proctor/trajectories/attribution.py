"""Which tool traffic a call that a model asked for caused: one to one, by the surest evidence first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.steps import canonical, parsed
from proctor.trajectory import ToolCall

Key = tuple[int, int]
"""Which call: the index of its exchange, and the number of the call there."""
_TELLING = 20
"""Characters of a result that is nobody else's."""


@dataclass(frozen=True)
class Asked:
    """A call that a model asked for, and what the model was told of it. Only traffic begun in its time is its own."""

    key: Key
    call: ToolCall
    after: float
    before: float
    answered: bool = False
    told: str | None = None
    minted: bool = False
    """A model's answer asked for it; else nothing but a later request tells of it."""

    @cached_property
    def arguments(self) -> str:
        """In one spelling."""
        return canonical(self.call.arguments)

    @cached_property
    def result(self) -> str | None:
        """What the model was told, in one spelling."""
        if self.told is None:
            return None
        value = parsed(self.told)
        return canonical(self.told if value is None else value)


@dataclass(frozen=True)
class Attribution:
    """The traffic of each call that has any, its attempts put together; and what no call explains."""

    found: dict[Key, ToolTraffic]
    left: tuple[ToolTraffic, ...]


def attributed(asked: Iterable[Asked], traffic: Iterable[ToolTraffic]) -> Attribution:
    """Join calls and traffic. Failed attempts before the one that a call got count as its `attempts`."""
    work = _Work(asked, traffic)
    for fits in (_by_id, _by_arguments_and_result, _by_arguments, _by_part_and_result, _by_part):
        work.join(fits)
    for fits in (_by_name_and_result, _by_name, _by_result):
        work.join(fits, alone=True)
    work.fold_attempts()
    return Attribution(
        {key: row.seen for key, row in work.found.items()}, tuple(work.rows[each].seen for each in work.open_rows)
    )


@dataclass(frozen=True)
class _Row:
    seen: ToolTraffic

    @cached_property
    def arguments(self) -> str:
        return canonical(self.seen.arguments)

    @cached_property
    def result(self) -> str:
        return canonical(self.seen.result)

    def same_request(self, other: _Row) -> bool:
        mine, its = self.seen, other.seen
        return (mine.name, mine.service) == (its.name, its.service) and self.arguments == other.arguments


_Fits = Callable[[Asked, _Row], bool]


class _Work:
    """What is joined and what is not yet."""

    def __init__(self, asked: Iterable[Asked], traffic: Iterable[ToolTraffic]) -> None:
        self.asked = {each.key: each for each in sorted(asked, key=lambda each: (each.after, each.key))}
        self.rows = [_Row(seen) for seen in sorted(traffic, key=lambda each: (each.started, each.index))]
        self.open_rows = dict.fromkeys(range(len(self.rows)))
        self.found: dict[Key, _Row] = {}
        self._starts = [row.seen.started for row in self.rows]

    def join(self, fits: _Fits, *, alone: bool = False) -> None:
        """Join what fits, in order; `alone`: only where nothing else fits either of the two."""
        for asked in [each for each in self.asked.values() if each.key not in self.found]:
            places = [place for place in self._in_time(asked) if fits(asked, self.rows[place])]
            if not places:
                continue
            rivals = self._rivals(places[-1], fits)
            if alone and (rivals > 1 or not self._one_request(places)):
                continue
            chosen = self._first(places, rivals)
            self.found[asked.key] = self.rows[chosen]
            del self.open_rows[chosen]

    def fold_attempts(self) -> None:
        """Count each failed attempt that is left to the later one that a call got, where they ask for the same."""
        for place in list(self.open_rows):
            row = self.rows[place]
            later = [
                key
                for key, found in self.found.items()
                if row.seen.failed
                and row.seen.started <= found.seen.started
                and row.same_request(found)
                and self.asked[key].after <= row.seen.started
            ]
            if later:
                key = min(later, key=lambda key: self.found[key].seen.attempts or 1)
                self.found[key] = _Row(_with_attempt(self.found[key].seen, row.seen))
                del self.open_rows[place]

    def _in_time(self, asked: Asked) -> Sequence[int]:
        begin, end = bisect_left(self._starts, asked.after), bisect_right(self._starts, asked.before)
        return [place for place in range(begin, end) if place in self.open_rows]

    def _rivals(self, place: int, fits: _Fits) -> int:
        """How many calls may have caused a piece of traffic."""
        row = self.rows[place]
        return sum(
            fits(each, row)
            for each in self.asked.values()
            if each.key not in self.found and each.after <= row.seen.started <= each.before
        )

    def _one_request(self, places: Sequence[int]) -> bool:
        return all(self.rows[place].same_request(self.rows[places[0]]) for place in places)

    def _first(self, places: Sequence[int], rivals: int) -> int:
        """The first; failed attempts are passed over as long as there are more of them than calls."""
        for number, place in enumerate(places):
            if not self.rows[place].seen.failed or len(places) - number <= rivals:
                return place
        return places[-1]


def _with_attempt(last: ToolTraffic, failed: ToolTraffic) -> ToolTraffic:
    attempts = (last.attempts or 1) + (failed.attempts or 1)
    return replace(last, attempts=attempts, fault=last.fault or failed.fault)


def _by_id(asked: Asked, row: _Row) -> bool:
    return bool(row.seen.call_id) and row.seen.call_id == asked.call.id


def _by_name(asked: Asked, row: _Row) -> bool:
    return row.seen.name == asked.call.name


def _by_arguments(asked: Asked, row: _Row) -> bool:
    return _by_name(asked, row) and row.arguments == asked.arguments


def _by_arguments_and_result(asked: Asked, row: _Row) -> bool:
    return _by_arguments(asked, row) and row.result == asked.result


def _by_part(asked: Asked, row: _Row) -> bool:
    """Agents add what the model need not know: the arguments asked for are among those sent."""
    wanted, sent = asked.call.arguments, row.seen.arguments
    if not _by_name(asked, row) or not isinstance(wanted, dict) or not isinstance(sent, dict):
        return False
    return all(name in sent and canonical(sent[name]) == canonical(value) for name, value in wanted.items())


def _by_part_and_result(asked: Asked, row: _Row) -> bool:
    return row.result == asked.result and _by_part(asked, row)


def _by_name_and_result(asked: Asked, row: _Row) -> bool:
    return _by_name(asked, row) and row.result == asked.result


def _by_result(asked: Asked, row: _Row) -> bool:
    """A tool whose address has another name than the model knows it by."""
    return asked.result is not None and len(asked.result) >= _TELLING and row.result == asked.result
