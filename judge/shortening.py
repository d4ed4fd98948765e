"""One text without its middle."""

from __future__ import annotations

from collections.abc import Callable

from proctor.judge.transcript import Passage, Transcript

_HEAD = 0.6
"""The share of what is kept that stands before the gap: texts begin with what they are about."""
_EDGE = 200
"""Characters from a cut within which a word or number ends, so that no part of one is taken for the whole."""
_MARK = "\n[left out for length: "
_LONGEST_TOKEN = 12
"""Characters that a token of any text has at most, on average."""


def shortened(passage: Passage, tokens: int, at_most: int, count: Callable[[str], int]) -> Passage:
    """The passage in at most so many tokens, its middle out and marked. `tokens` is what it has now, or a guess."""
    length = min(len(passage.text), at_most * _LONGEST_TOKEN, int(len(passage.text) * at_most / max(1, tokens)) + 1)
    while True:
        cut = _without_middle(passage, length)
        if length < 1 or count(cut.text) <= at_most:
            return cut
        length = int(length * 0.85)


def shortened_steps(transcript: Transcript) -> frozenset[int]:
    """The steps with a text whose middle is out."""
    return frozenset(
        step.index
        for step in transcript.steps
        for passage in step.passages
        if any(passage.text.startswith(_MARK, start) for start, _ in passage.withheld)
    )


def _without_middle(passage: Passage, length: int) -> Passage:
    text = passage.text
    head = _whole_words_before(text, int(length * _HEAD))
    tail = _whole_words_after(text, len(text) - (length - int(length * _HEAD)))
    for start, end in passage.withheld:
        head = start if start < head < end else head
        tail = end if start < tail < end else tail
    tail = max(head, tail)
    mark = f"{_MARK}{tail - head} characters]\n"
    moved = head + len(mark) - tail
    spans = [(start, end) for start, end in passage.withheld if end <= head]
    spans.append((head, head + len(mark)))
    spans += [(start + moved, end + moved) for start, end in passage.withheld if start >= tail]
    return Passage(passage.kind, passage.field, f"{text[:head]}{mark}{text[tail:]}", tuple(spans))


def _whole_words_before(text: str, at: int) -> int:
    least = max(0, at - _EDGE)
    start = at
    while start > least and not text[start - 1].isspace():
        start -= 1
    return start if start > least or start == 0 else at


def _whole_words_after(text: str, at: int) -> int:
    most = min(len(text), at + _EDGE)
    end = at
    while end < most and not text[end].isspace():
        end += 1
    return end if end < most or end == len(text) else at
