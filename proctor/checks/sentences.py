"""Sentences of a text, and what makes one no plain statement: a question, a condition, a future, a negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?:[^.!?;\n。！？；]|\.(?=\w)|(?<=\b[A-Z])\.)+[.!?;。！？；]*")
_PART = re.compile(r"[,，:：、—]| but | however | though | while ", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|once|when|whenever|unless|until|whether|in case|as soon as|provided|before|"
    r"after(?! (?:\w+ly )?\w+ing\b))\b"
    r"|如果|假如|若|一旦|是否|要是|除非|等到|待",
    re.IGNORECASE,
)
_NOT_SO = re.compile(
    r"\b(?:no|nothing|none|neither|never|nobody|not|cannot|unable|will|would|can|could|should|may|might|must|"
    r"shall|to be)\b|n['’]t\b"
    r"|未|没有|没能|尚|还没|无法|不能|不会|不可|无需|将会|会在|可以|可能|能够|需要|需|应该|打算|准备|即将|(?<!申)请",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(r"\s*(?:之?后|以后|时|的话|前|才|的(?!。)|吗|么|没有|与否|了吗)")

LONGEST = 1000
"""Characters before and after a place in which its sentence is looked for."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it starts in its text."""

    start: int
    text: str

    @property
    def asks(self) -> bool:
        """It ends as a question does."""
        return self.text.rstrip(" *_\"')」”").endswith(("?", "？", "吗", "吗。"))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences in order."""
    return (Sentence(found.start(), found[0]) for found in _SENTENCE.finditer(text))


_END = re.compile(r"[!?;\n。！？；]|\.(?!\w)(?<!\b[A-Z]\.)")


def sentence_at(text: str, at: int) -> Sentence:
    """The sentence in which the character `at` stands."""
    start = 0
    low = max(0, at - LONGEST)
    for end in _END.finditer(text, low, at):
        start = end.end()
    start = max(start, low)
    last = _END.search(text, at, at + LONGEST)
    return Sentence(start, text[start : last.end() if last else at + LONGEST])


def is_stated(sentence: Sentence, start: int, end: int) -> bool:
    """What stands from `start` to `end` of the sentence is said as a fact: not asked, not denied, not for later."""
    if sentence.asks or _AFTERWARDS.match(sentence.text, end):
        return False
    before = sentence.text[:start]
    if _CONDITION.search(before):
        return False
    return not _NOT_SO.search(_PART.split(before)[-1])
