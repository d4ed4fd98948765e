"""However a secret is written, it is found there, and no output shows more than two characters of it."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from difflib import SequenceMatcher
from urllib.parse import quote as percent

from hypothesis import given
from hypothesis import strategies as st

from proctor.check import CheckResult
from proctor.checks.index import CHECKS, ON_WORDS_AND_VALUES
from proctor.checks.masking import SHOWN, masked, quote
from proctor.sensitive.finds import luhn, sensitive
from proctor.sensitive.readings import readings
from tests.property.counts import examples
from tests.runs import run_of

LETTERS = "QXZJKVWqxzjkvw0123456789"
"""Which no message of a check has three of in a row."""


def _with_check_digit(digits: str) -> str:
    return next(whole for digit in "0123456789" if luhn(whole := digits + digit))


def _digits(first: str, rest: int) -> st.SearchStrategy[str]:
    return st.builds(str.__add__, st.sampled_from(first.split()), st.text(string.digits, min_size=rest, max_size=rest))


SECRETS: st.SearchStrategy[str] = st.one_of(
    _digits("130 138 159 186 199", 8),
    _digits("41 55 62 37", 13).map(_with_check_digit),
    st.builds(
        "{}@{}.example.com".format, st.text(LETTERS, min_size=3, max_size=12), st.text(LETTERS, min_size=2, max_size=9)
    ),
    st.builds(
        "sk-{}7{}".format, st.text(LETTERS, min_size=10, max_size=12), st.text(LETTERS, min_size=10, max_size=20)
    ),
    st.text("QXZJKVW0123456789", min_size=16, max_size=16).map("AKIA{}".format),
)


def _full_width(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if letter in string.digits else letter for letter in text)


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def _halves(between: str) -> Callable[[str], str]:
    return lambda text: text[: len(text) // 2] + between + text[len(text) // 2 :]


ENCODINGS: tuple[Callable[[str], str], ...] = (
    str,
    _full_width,
    _escaped,
    lambda text: "".join(f"%{ord(letter):02X}" for letter in text),
    lambda text: percent(percent(text, safe=""), safe=""),
    lambda text: base64.b64encode(f"{text} is it".encode()).decode(),
    lambda text: base64.b64encode(_escaped(text).encode()).decode(),
    lambda text: "\u200b".join(text),
    _halves("\n"),
    _halves("\r\n  "),
    _halves("\u2060\n"),
)


@given(secret=SECRETS, encode=st.sampled_from(ENCODINGS), before=st.sampled_from(("", "It is ", "是：", "a\nb\n")))
@examples(300, 4000)
def test_a_secret_is_found_however_it_is_written_and_its_span_is_the_original(
    secret: str, encode: Callable[[str], str], before: str
) -> None:
    written = encode(secret)
    text = f"{before}{written} !"
    found = sensitive(text)
    assert found
    covered = {at for one in found for at in range(one.start, one.end)}
    assert covered >= set(range(len(before), len(before) + len(written)))
    assert max(covered) < len(before) + len(written)


@given(secret=SECRETS, encode=st.sampled_from(ENCODINGS), longest=st.integers(20, 200))
@examples(300, 4000)
def test_no_output_shows_more_than_two_characters_of_a_secret(
    secret: str, encode: Callable[[str], str], longest: int
) -> None:
    text = f"~ {encode(secret)} ~"
    assert _shown(secret, masked(secret)) <= SHOWN
    for start in (0, 1, len(text) // 2):
        assert _shown(secret, _read(quote(text, start, len(text), longest))) <= SHOWN
    run = run_of(
        f"user: {text}", {"call": "pay", "arguments": {"card_id": text, "n": text}, "result": text}, f"agent: {text}"
    )
    other = run_of(
        "user: ?", {"call": "pay", "arguments": {"card_id": secret}, "result": "not found"}, f"agent: {text}"
    )
    for each in (run, other):
        for check in ON_WORDS_AND_VALUES:
            declared = {"texts": [secret]} if check.__name__.startswith("answer") else {}
            strict = {"strict": True} if check.__name__ == "no_pii" else {}
            result = CHECKS[check.__name__](each, **declared, **strict)
            assert all(_shown(secret, _read(part)) <= SHOWN for part in _parts(result)), result


def _parts(result: CheckResult) -> list[str]:
    return [result.message, result.needs, *(part for place in result.evidence for part in (place.field, place.quote))]


def _read(shown: str) -> str:
    """All that a reader could make of what is shown."""
    return "\n".join(reading.text for reading in readings(shown))


def _shown(secret: str, shown: str) -> int:
    """The longest piece of the secret that is shown; what begins every key, or ends every address, is none."""
    core = secret.replace("sk-", "").replace("AKIA", "").partition("@")[0]
    found = SequenceMatcher(None, core, shown, autojunk=False).find_longest_match()
    return found.size


@given(
    st.text(st.characters(exclude_categories=()), max_size=80)
    | st.text(" \t\r\n\\n>@a1%5&#x;u/=-\u200b１\ud800", max_size=30),
    st.integers(0, 80),
    st.integers(0, 80),
)
@examples(300, 4000)
def test_any_text_can_be_read_and_quoted_and_every_span_lies_in_it(text: str, start: int, end: int) -> None:
    for reading in readings(text):
        for at in range(len(reading.text)):
            first, last = reading.span(at, at + 1)
            assert 0 <= first < last <= len(text)
    quote(text, min(start, end), max(start, end)).encode()
