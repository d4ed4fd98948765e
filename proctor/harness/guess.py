"""How many tokens a trial of a case might take that nobody has run yet: a guess, rather too high, from its text."""

from __future__ import annotations

import json
from collections import Counter

from proctor.cases.case import Case, Difficulty
from proctor.errors import UsageError
from proctor.tokens import count

AROUND = 2_000
"""Tokens of an agent's instructions and tools, which come with each call of a model."""
SAID = 300
"""Tokens of a reply to the user."""
CALLED = 100
"""Tokens of a tool call beside its arguments."""
RESULT = 500
"""Tokens of a tool's result."""
_CALLS: dict[Difficulty, int] = {"single_step": 1, "multi_step": 3, "recovery": 4, "long_range": 4}
"""Tool calls in a turn, where no reference tells them."""
_BYTES = 2
"""Of a text to a token, where nothing can count tokens."""


def guessed(case: Case, model: str) -> tuple[int, int]:
    """Tokens of one trial: input, output. Each call of the model is sent all that came before, so that they add up.

    In each turn the model is asked once for each tool call, and once for the reply; where the user answers when asked
    back, once more for that.
    """
    calls = _calls(case, model)
    asked = Counter({turn: _tokens(each.user, model) for turn, each in enumerate(case.turns)})
    history, sent, received = AROUND, 0, 0
    for turn in range(len(case.turns)):
        history += asked[turn]
        for answer, came in [*((each, RESULT) for each in calls[turn]), (SAID, 0)]:
            sent, received = sent + history, received + answer
            history += answer + came
    for reply in case.replies:
        history += _tokens(reply.say, model)
        sent, received = sent + history, received + SAID
        history += SAID
    return sent, received


def _calls(case: Case, model: str) -> list[list[int]]:
    """By turn: the tokens of each tool call in it."""
    if not case.reference:
        return [[CALLED] * _CALLS[case.difficulty] for _ in case.turns]
    calls: list[list[int]] = [[] for _ in case.turns]
    for step in case.reference:
        calls[step.turn].append(CALLED + _tokens(json.dumps(step.arguments, ensure_ascii=False), model))
    return calls


def _tokens(text: str, model: str) -> int:
    try:
        return count(text, model)
    except UsageError:  # nothing that counts is installed, and a guess needs no more than a guess
        return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES)
