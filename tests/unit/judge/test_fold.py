"""The fold: white space and typographic quotes, by code point, with every span mapped back."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.fold import LINE_ENDS, QUOTES, SPACES, fold, rows
from tests.property.counts import examples

LISTED = {*LINE_ENDS, *SPACES, *QUOTES}


def test_no_other_code_point_of_all_unicode_is_changed() -> None:
    apart = "".join(f"{chr(code)}x" for code in range(sys.maxunicode + 1))  # so that no run is longer than one
    changed = {ord(was) for was, now in zip(apart, fold(apart).text, strict=True) if was != now}
    assert changed == LISTED - {0x20}


def test_the_white_space_is_unicodes_and_the_quotes_are_its_single_and_double_ones() -> None:
    separators = {code for code in range(0x4000) if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp")}
    assert {*LINE_ENDS, *SPACES} == separators | {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}
    assert all("QUOTATION MARK" in unicodedata.name(chr(code)) for code in QUOTES)


def test_a_run_of_any_white_space_is_one_space_and_nothing_is_trimmed() -> None:
    assert fold(" a\r\n\t b\u3000\u00a0c\u2028").text == " a b c "


@pytest.mark.parametrize(
    "other", ["\u200b", "\ufeff", "\u2060", "\u00ad", "\u2032", "`", "\u00b4", "«", "Ａ", "ﬁ", "\x1f"]
)
def test_what_looks_like_nothing_or_like_something_else_stays(other: str) -> None:
    assert fold(f"a{other}b").text == f"a{other}b"


def test_a_span_is_mapped_back_over_runs_before_inside_and_at_its_ends() -> None:
    text = "a \n b  ‘c’\t\td"
    folded = fold(text)
    assert folded.text == "a b 'c' d"
    at = folded.text.index
    assert text[slice(*folded.span(at("b"), at("b") + 1))] == "b"
    assert text[slice(*folded.span(at(" b"), at("c")))] == " \n b  ‘"
    assert text[slice(*folded.span(at("'c"), at(" d") + 1))] == "‘c’\t\t"
    assert folded.span(0, len(folded.text)) == (0, len(text))


_TEXTS = st.text(st.sampled_from("ab \n\t\u00a0\u2028'’“\u200b字"), max_size=40)


@given(text=_TEXTS)
@examples(ci=300, soak=20_000)
def test_folding_again_changes_nothing(text: str) -> None:
    once = fold(text).text
    assert fold(once).text == once


@given(text=_TEXTS, data=st.data())
@examples(ci=300, soak=20_000)
def test_what_stands_at_a_span_folds_to_what_was_found(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    start = data.draw(st.integers(0, len(folded.text)))
    end = data.draw(st.integers(start, len(folded.text)))
    begins, ends = folded.span(start, end)
    assert fold(text[begins:ends]).text == folded.text[start:end]


def test_the_rows_name_every_code_point_in_order() -> None:
    assert [row.code for row in rows()] == sorted(LISTED)
    assert all(row.name and row.becomes in (" ", "'", '"') for row in rows())
