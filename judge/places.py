"""Where in a blinded transcript a quote stands, by the fold or as a whole JSON leaf."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.json_spans import string_leaves
from proctor.judge.fold import fold
from proctor.judge.pointers import LONGEST_JSON, Leaf, NoLeaf, leaf_at
from proctor.judge.transcript import Passage, ShownStep


@dataclass(frozen=True)
class Place:
    """One place. The span counts characters of the passage; `pointer` is that of a leaf which the quote is whole."""

    passage: Passage
    start: int
    end: int
    pointer: str = ""

    withheld: bool = False
    """Whether it touches a marker that stands for what was withheld."""


def stands_in(text: str, quote: str) -> bool:
    """Whether the folded quote stands in a text."""
    return quote in fold(text).text


def text_places(step: ShownStep, quote: str) -> Iterator[Place]:
    """For each passage that holds the folded quote, the first place in it that touches no marker, else the first."""
    for passage in step.passages:
        first: Place | None = None
        for place in _all_in(passage, quote):
            first = first or place
            if not place.withheld:
                first = place
                break
        if first:
            yield first


def leaf_places(step: ShownStep, quote: str, pointer: str) -> Iterator[Place | NoLeaf]:
    """For each passage the place of the leaf, where the quote is all of it; else why not."""
    for passage in step.passages:
        markers = _Markers(passage.withheld)
        begins = _json_begins(passage)
        try:
            leaf = leaf_at(passage.text[begins:], pointer)
        except NoLeaf as why:
            yield why
            continue
        start, end = begins + leaf.start, begins + leaf.end
        if quote == fold(leaf.text).text:
            yield Place(passage, start, end, pointer, markers.touch(start, end))
        elif leaf.value and quote == fold(leaf.value).text:
            yield Place(passage, start + 1, end - 1, pointer, markers.touch(start + 1, end - 1))
        else:
            yield Differs(leaf)


def escaped_in(step: ShownStep, quote: str) -> str | None:
    """The pointer of a JSON string of that step which says the quote, though it is written with escapes."""
    for passage in step.passages:
        text = passage.text[_json_begins(passage) :]
        if "\\" in text and len(text) <= LONGEST_JSON:
            for leaf in string_leaves(text) or ():
                if stands_in(leaf.value, quote):
                    return leaf.pointer
    return None


class Differs(NoLeaf):
    """The pointer names a leaf, and the quote is not all of it."""

    def __init__(self, leaf: Leaf) -> None:
        super().__init__("the quote is not the whole leaf that stands there")
        self.leaf = leaf


class _Markers:
    """Spans that do not overlap. A passage may hold thousands, and a quote of their words stand in each."""

    def __init__(self, spans: tuple[tuple[int, int], ...]) -> None:
        self._spans = sorted(spans)

    def touch(self, start: int, end: int) -> bool:
        """Whether one of them overlaps with that span."""
        last = bisect_left(self._spans, (end,)) - 1
        return last >= 0 and self._spans[last][1] > start


def _all_in(passage: Passage, quote: str) -> Iterator[Place]:
    folded, markers = fold(passage.text), _Markers(passage.withheld)
    at = folded.text.find(quote)
    while at >= 0:
        start, end = folded.span(at, at + len(quote))
        yield Place(passage, start, end, withheld=markers.touch(start, end))
        at = folded.text.find(quote, at + 1)


def _json_begins(passage: Passage) -> int:
    """The text of a call is its tool's name, a space and the arguments."""
    return passage.text.find(" ") + 1 if passage.kind == "tool_call" else 0
