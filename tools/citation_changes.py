"""What a careless or hostile judge does to a quote, one small change each.

Each gives None where the quote has nothing to change.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

_WORD = re.compile(r"[^\W\d_]+")
_LOOKS_LIKE = dict(zip("aceopxyiABEKMHOPCTX已未土日人天", "асеорхуіАВЕКМНОРСТХ己末士曰入夭", strict=True))
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
BIDI = "\u202a\u202e\u2066\u2069\u200e"
_NEGATIONS = (
    ("not ", ""),
    ("n't", ""),
    ("n’t", ""),
    (" is ", " is not "),
    (" was ", " was not "),
    (" can ", " cannot "),
    (" will ", " will not "),
    ("true", "false"),
    ("false", "true"),
    ("未", "已"),
    ("已", "未"),
    ("不", ""),
    ("没有", "有"),
    ("无", "有"),
)


def _one(rng: random.Random, text: str, wanted: str, change: Callable[[str], str]) -> str | None:
    """One character that matches, changed."""
    found = [match.start() for match in re.finditer(wanted, text)]
    if not found:
        return None
    at = rng.choice(found)
    return text[:at] + change(text[at]) + text[at + 1 :]


def digit(rng: random.Random, quote: str) -> str | None:
    """Another digit in one place."""
    return _one(rng, quote, "[0-9]", lambda digit: rng.choice([each for each in "0123456789" if each != digit]))


def negation(rng: random.Random, quote: str) -> str | None:
    """A negation taken out or put in."""
    possible = [(old, new) for old, new in _NEGATIONS if old in quote]
    if not possible:
        return None
    old, new = rng.choice(possible)
    return quote.replace(old, new, 1)


def homoglyph(rng: random.Random, quote: str) -> str | None:
    """One character that looks like the one that stands there."""
    return _one(rng, quote, f"[{''.join(_LOOKS_LIKE)}]", lambda letter: _LOOKS_LIKE[letter])


def inserted(characters: str) -> Callable[[random.Random, str], str]:
    """One of these characters put in somewhere."""

    def change(rng: random.Random, quote: str) -> str:
        at = rng.randrange(1, len(quote))
        return quote[:at] + rng.choice(characters) + quote[at:]

    return change


def full_width(rng: random.Random, quote: str) -> str | None:
    """One ASCII character in full width."""
    return _one(rng, quote, "[!-~]", lambda character: chr(ord(character) + 0xFEE0))


def other_case(rng: random.Random, quote: str) -> str | None:
    """Capitals and small letters changed."""
    return rng.choice((quote.upper(), quote.lower(), quote.swapcase(), quote.title()))


def other_form(rng: random.Random, quote: str) -> str | None:
    """Compatibility forms and parts of letters, which NFKC would make equal."""
    return rng.choice(
        (
            unicodedata.normalize("NFD", quote),
            quote.replace("fi", "ﬁ"),
            quote.replace("...", "…"),
            quote.replace("2", "²"),
        )
    )


def other_mark(rng: random.Random, quote: str) -> str | None:
    """Another punctuation mark in one place."""
    return _one(rng, quote, "[-—.,:;'\"]", lambda mark: {"-": "–", "—": "-", "'": "′", '"': "″"}.get(mark, "、"))


def word_gone(rng: random.Random, quote: str) -> str | None:
    """One word less, and the text closed over it."""
    words = list(_WORD.finditer(quote))[1:-1]
    if not words:
        return None
    word = rng.choice(words)
    return quote[: word.start()] + quote[word.end() :]


def space_gone(rng: random.Random, quote: str) -> str | None:
    """Two words written as one."""
    return _one(rng, quote.strip(), r"(?<=\S)\s(?=\S)", lambda _: "")


def spaces(rng: random.Random, quote: str) -> str | None:
    """The same white space, spelt otherwise."""
    return re.sub(
        r"[\t\n\v\f\r ]+", lambda _: rng.choice((" ", "\n", "\r\n", "  ", "\u00a0", "\t\u3000", "\u2028")), quote
    )


def quotes(rng: random.Random, quote: str) -> str | None:
    """The same quotation marks, typographic or not."""
    return re.sub("['‘’]", lambda _: rng.choice("'‘’‚‛"), re.sub('["“”]', lambda _: rng.choice('"“”„‟'), quote))
