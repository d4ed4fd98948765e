"""Which interaction of one tape is which of another: pairs, by what was asked and where it stands. Pure and fast.

First what is equal at both ends, then the requests that are unique on both sides, then, between two such pairs, equal
requests in order; and last, at places where something is missing on both sides, calls of one tool or path whose
request changed. Time n log n, for tapes of any likeness.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

Pairs = list[tuple[int, int]]
"""Positions in the old tape with their positions in the new one."""


@dataclass(frozen=True, slots=True)
class Keys:
    """One tape, each interaction by three keys, the first the finest."""

    whole: Sequence[Hashable]
    """Request and answer."""
    asked: Sequence[Hashable]
    """The request."""
    call: Sequence[Hashable]
    """The tool or path."""


def align(old: Keys, new: Keys) -> Pairs:
    """The pairs, in the order of the new tape. What is in no pair was removed or added."""
    pairs = list(_in_place(old, new))
    pairs += _in_order(_without(old.asked, (i for i, _ in pairs)), _without(new.asked, (j for _, j in pairs)))
    kept = longest_in_order(pairs)
    pairs += _between(old, new, pairs, [pairs[at] for at in kept])
    return sorted(pairs, key=lambda pair: pair[1])


def longest_in_order(pairs: Pairs) -> list[int]:
    """Which of the pairs, by their place in the list, are the most that stand in one order on both sides."""
    places = sorted(range(len(pairs)), key=lambda at: pairs[at][0])
    ends: list[int] = []
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(ends, pairs[place][1])
        before[place] = tails[at - 1] if at else None
        ends[at : at + 1] = [pairs[place][1]]
        tails[at : at + 1] = [place]
    chain: list[int] = []
    last = tails[-1] if tails else None
    while last is not None:
        chain.append(last)
        last = before[last]
    return chain[::-1]


def out_of_order(pairs: Pairs, free: Callable[[tuple[int, int], tuple[int, int]], bool]) -> set[tuple[int, int]]:
    """The fewest pairs that would have to move for both sides to have one order.

    `free` says of two pairs that their order means nothing.
    """
    kept = [pairs[at] for at in longest_in_order(pairs)]
    olds, news = [i for i, _ in kept], [j for _, j in kept]
    moved = set()
    for pair in set(pairs).difference(kept):
        ends = sorted((bisect_left(olds, pair[0]), bisect_left(news, pair[1])))
        if not all(free(pair, kept[at]) for at in range(*ends)):
            moved.add(pair)
    return moved


def _in_place(old: Keys, new: Keys) -> Iterator[tuple[int, int]]:
    """Equal requests that stand between the same neighbours."""
    todo = [(0, len(old.asked), 0, len(new.asked))]
    while todo:
        first, last, start, end = todo.pop()
        while first < last and start < end and old.whole[first] == new.whole[start]:
            yield first, start
            first, start = first + 1, start + 1
        while first < last and start < end and old.whole[last - 1] == new.whole[end - 1]:
            last, end = last - 1, end - 1
            yield last, end
        if first == last or start == end:
            continue
        anchors = _anchors(old.asked, new.asked, (first, last, start, end))
        if not anchors:
            yield from _repeats(old, new, (first, last, start, end))
        for left, right in anchors:
            yield left, right
            todo.append((first, left, start, right))
            first, start = left + 1, right + 1
        if anchors:
            todo.append((first, last, start, end))


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], span: tuple[int, int, int, int]) -> Pairs:
    """Requests that stand once on each side of a span, as many as are in one order."""
    first, last, start, end = span
    there = {key: first + at for at, key in enumerate(old[first:last])}
    here = {key: start + at for at, key in enumerate(new[start:end])}
    times_old, times_new = Counter(old[first:last]), Counter(new[start:end])
    pairs = [(there[key], at) for key, at in here.items() if times_old[key] == 1 and times_new[key] == 1]
    return [pairs[at] for at in longest_in_order(pairs)]


def _repeats(old: Keys, new: Keys, span: tuple[int, int, int, int]) -> Iterator[tuple[int, int]]:
    """Requests that stand several times in a span: in order; where their number differs, equal answers first."""
    first, last, start, end = span
    there, here = _places(old.asked, range(first, last)), _places(new.asked, range(start, end))
    for key, lefts in there.items():
        rights = here.get(key, [])
        if len(lefts) != len(rights):
            equal = _in_order({at: old.whole[at] for at in lefts}, {at: new.whole[at] for at in rights})
            kept = [equal[at] for at in longest_in_order(equal)]
            yield from kept
            for gap_old, gap_new in _gaps(lefts, rights, kept):
                yield from zip(gap_old, gap_new, strict=False)
        else:
            yield from zip(lefts, rights, strict=True)


def _between(old: Keys, new: Keys, pairs: Pairs, kept: Pairs) -> Iterator[tuple[int, int]]:
    """Calls of one tool or path at one place, whose request changed."""
    left = _without(old.call, (i for i, _ in pairs))
    right = _without(new.call, (j for _, j in pairs))
    for gap_old, gap_new in _gaps(list(left), list(right), kept):
        yield from _in_order({at: left[at] for at in gap_old}, {at: right[at] for at in gap_new})


def _gaps(lefts: Sequence[int], rights: Sequence[int], kept: Pairs) -> Iterator[tuple[list[int], list[int]]]:
    """What is left of both sides, ascending, before, between and after pairs that stand in one order."""
    taken_old, taken_new = {i for i, _ in kept}, {j for _, j in kept}
    lefts = [at for at in lefts if at not in taken_old]
    rights = [at for at in rights if at not in taken_new]
    first = start = 0
    for i, j in kept:
        last, end = bisect_left(lefts, i), bisect_left(rights, j)
        yield lefts[first:last], rights[start:end]
        first, start = last, end
    yield lefts[first:], rights[start:]


def _in_order(old: dict[int, Hashable], new: dict[int, Hashable]) -> Pairs:
    """The n-th of a key with the n-th of the same key."""
    there: dict[Hashable, list[int]] = defaultdict(list)
    for at, key in old.items():
        there[key].append(at)
    waiting = {key: iter(places) for key, places in there.items()}
    found = ((next(waiting[key], None), at) for at, key in new.items() if key in waiting)
    return [(left, right) for left, right in found if left is not None]


def _places(keys: Sequence[Hashable], span: range) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for at in span:
        places[keys[at]].append(at)
    return places


def _without(keys: Sequence[Hashable], taken: Iterable[int]) -> dict[int, Hashable]:
    gone = set(taken)
    return {at: key for at, key in enumerate(keys) if at not in gone}
