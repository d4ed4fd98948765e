"""What the user answers when the agent asks back, by the case's rules. No I/O."""

from __future__ import annotations

import re
from collections import Counter

from proctor.cases.case import Reply
from proctor.checks.sentences import sentences

_REQUEST = re.compile(
    r"\b(?:please|could you|can you|would you|may i|let me know|tell me|provide|share|confirm|need|which|what)\b"
    r"|请|麻烦|提供|告诉|告知|需要|哪|能否|可否|多少",
    re.IGNORECASE,
)
"""What makes a sentence without a question mark one that asks for something."""


class Replies:
    """The rules of one conversation, each of which answers as often as it says."""

    def __init__(self, rules: tuple[Reply, ...]) -> None:
        """The first rule that fits answers."""
        self._rules = rules
        self._used: Counter[int] = Counter()

    def to(self, said: str) -> str | None:
        """The user's answer to what the agent said; None where it asked for nothing that a rule knows."""
        asking = [each.text.casefold() for each in sentences(said) if each.asks or _REQUEST.search(each.text)]
        for number, rule in enumerate(self._rules):
            if self._used[number] < rule.times and any(
                word.casefold() in sentence for word in rule.when for sentence in asking
            ):
                self._used[number] += 1
                return rule.say
        return None
