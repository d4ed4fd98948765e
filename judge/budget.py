"""A transcript that fits: its length is known before the call, and all that is left out is marked where it stood.

Steps that the criterion needs least are left out whole, each with a line of its own. Where a single text is too long
for its share, its middle is left out; the mark there is no evidence, so no quote reaches over it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from proctor.judge.faults import TooLong
from proctor.judge.prompt import SYSTEM, headings, question
from proctor.judge.relevance import Unit, units
from proctor.judge.shortening import shortened
from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.last_seen import LastSeen
from proctor.rubric import Criterion

__all__ = ["TooLong", "fitted", "tokens_of"]

Count = Callable[[str], int]

_TAG = "0123456789abcdef"
_MESSAGES = 40
"""Tokens by which providers wrap messages, and a safe distance."""
_ENOUGH = 16
"""Characters of a text to a token of room, past which it need not be counted: it is too long."""
_LEAST = 120
"""Tokens of a text that must be shown: less of it would say nothing."""


def fitted(transcript: Transcript, criterion: Criterion, room: int, count: Count) -> Transcript:
    """The transcript, in at most `room` tokens of prompt as `count` counts them. Raises TooLong."""
    return _Fitting(transcript, criterion, room, count).result()


def tokens_of(transcript: Transcript, criterion: Criterion, count: Count) -> int:
    """Tokens of the whole prompt, never fewer than it has by more than the joints between its lines."""
    return _Fitting(transcript, criterion, 1 << 60, count).whole


_COUNTED: LastSeen[Transcript, dict[Count, dict[str, int]]] = LastSeen(lambda transcript: {})
"""Tokens of the texts of the last transcript: each criterion asks for the same ones."""


@dataclass
class _Fitting:
    """One transcript for one criterion."""

    transcript: Transcript
    criterion: Criterion
    room: int
    count: Count

    def __post_init__(self) -> None:
        self.known = _COUNTED.of(self.transcript).setdefault(self.count, {})
        levels = [level.score for level in self.criterion.levels]
        around = replace(self.transcript, steps=())
        self.fixed = _MESSAGES + self.tokens(SYSTEM) + self.tokens(question(self.criterion, _TAG, levels))
        self.fixed += sum(self.line(heading) + self.tokens(text or "") for heading, text in headings(around))
        self.whole = self.fixed + sum(map(self.cost, self.transcript.steps))

    def result(self) -> Transcript:
        if self.whole <= self.room:
            return self.transcript
        every = units(self.transcript, self.criterion)
        kept = self.chosen(every)
        steps = tuple(kept.get(step.index) for step in self.transcript.steps)
        omitted = frozenset(step.index for step in self.transcript.steps if step.index not in kept)
        return replace(
            self.transcript,
            steps=tuple(step for step in steps if step is not None),
            omitted=self.transcript.omitted | omitted,
        )

    def chosen(self, every: tuple[Unit, ...]) -> dict[int, ShownStep]:
        """The steps that are shown, some of them shortened: what must be first, then by worth as far as it goes."""
        must = [unit for unit in every if unit.must]
        marks = sum(self.mark(step) for step in self.transcript.steps)
        left = self.room - self.fixed - marks
        share = left // (2 * max(1, sum(len(step.passages) for unit in must for step in unit.steps)))
        if left <= 0 or share < _LEAST:
            raise self.too_long(marks, must)
        kept: dict[int, ShownStep] = {}
        rest = sorted((unit for unit in every if not unit.must), key=lambda unit: -unit.worth)
        for unit in (*must, *rest):
            at_most = max(share, left // 8)
            steps = [self.cut(step, share if unit.must else at_most) for step in unit.steps]
            gain = sum(self.mark(step) for step in unit.steps)
            cost = sum(map(self.cost, steps)) - gain
            if cost <= left:
                kept |= {step.index: step for step in steps}
                left -= cost
            elif unit.must:
                raise self.too_long(marks, must)
        for unit in (*must, *rest):
            for step in unit.steps:
                left -= self.lengthened(step, kept, left)
        return kept

    def lengthened(self, step: ShownStep, kept: dict[int, ShownStep], left: int) -> int:
        """Give a shortened step back what there is room for, and say how much that took."""
        shown = kept.get(step.index)
        if shown is None or shown == step or left < _LEAST:
            return 0
        cuts = [each for each in zip(shown.passages, step.passages, strict=True) if each[0] != each[1]]
        longer = max(self.tokens(each.text) for each, _ in cuts) + left // len(cuts)
        better = self.cut(step, longer)
        took = self.cost(better) - self.cost(shown)
        if not 0 < took <= left:
            return 0
        kept[step.index] = better
        return took

    def cut(self, step: ShownStep, at_most: int) -> ShownStep:
        """The step with no text of more tokens than that."""
        return replace(step, passages=tuple(self.cut_passage(each, at_most) for each in step.passages))

    def cut_passage(self, passage: Passage, at_most: int) -> Passage:
        tokens = self.tokens(passage.text)
        return passage if tokens <= at_most else shortened(passage, tokens, at_most, self.count)

    def cost(self, step: ShownStep) -> int:
        """Tokens of the step as it is shown."""
        alone = replace(self.transcript, goal="", policy="", tools="", steps=(step,), omitted=frozenset())
        shown = [(heading, text) for heading, text in headings(alone) if text is not None]
        return sum(self.line(heading) + self.tokens(text or "") for heading, text in shown)

    def mark(self, step: ShownStep) -> int:
        """Tokens of the line that says that the step was left out."""
        return self.line(f"step {step.index}: left out for length")

    def line(self, heading: str) -> int:
        return self.tokens(f"{_TAG} {heading}\n") + 1

    def tokens(self, text: str) -> int:
        """Counted once for each text; one that is far too long is not counted at all."""
        if len(text) > _ENOUGH * self.room:
            return len(text) // 2
        if text not in self.known:
            self.known[text] = self.count(text)
        return self.known[text]

    def too_long(self, marks: int, must: list[Unit]) -> TooLong:
        numbers = ", ".join(str(step.index) for unit in must for step in unit.steps)
        return TooLong(
            "too_long",
            f"the prompt has room for {self.room} tokens: rules, criterion, goal, policy and tools take {self.fixed}, "
            f"the marks of steps left out {marks}, and steps {numbers} have to be shown; "
            f"the whole run takes {self.whole}",
            "judge it with more room, a model with a larger window, or a shorter policy",
        )
