"""How much like a secret a value is, and so how widely it is searched for."""

from __future__ import annotations

import math
from collections import Counter
from enum import Enum

SHORTEST = 8
"""Characters from which on a value is searched for; a shorter one would tear ordinary words apart."""
_PLAIN_WORD = 16
"""Characters below which a value of one kind of character (`darkmode`) may be an ordinary word."""
_LONG = 12
_BITS = 3.0


class Reach(Enum):
    """Where a secret that was found once is replaced too."""

    EVERYWHERE = "everywhere"
    WORDS = "as a whole word"
    PLACE = "only under a name that says so"


def reach_of(value: str, *, cookie: bool = False) -> Reach:
    """How far a secret is searched for. A cookie is often a mere setting, so a plain word in one stays there."""
    if len(value) < SHORTEST:
        return Reach.PLACE
    if len(value) >= _PLAIN_WORD or _kinds(value) > 1:
        return Reach.EVERYWHERE
    return Reach.PLACE if cookie and value.isalpha() else Reach.WORDS


def is_strong(value: str) -> bool:
    """12 characters and 3 bits a character: what people choose as a key, and seldom as anything else."""
    return len(value) >= _LONG and not any(map(str.isspace, value)) and bits(value) >= _BITS


def is_likely(value: str) -> bool:
    """What is believed after `password: ` in prose: no ordinary word."""
    return len(value) >= SHORTEST and any(map(str.isdigit, value)) and _kinds(value) > 1


def bits(value: str) -> float:
    """Shannon entropy, in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values()) if total else 0.0


def _kinds(value: str) -> int:
    """How many of lower case, upper case, digits and other signs occur."""
    tests = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(test, value)) for test in tests) + (not value.isalnum())
