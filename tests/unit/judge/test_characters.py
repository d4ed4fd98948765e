"""Characters that read otherwise than they are written are named, and ordinary text is left in peace."""

from __future__ import annotations

import pytest

from proctor.judge.characters import MOST, suspicious


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("pay\u200bpal", "U+200B ZERO WIDTH SPACE"),
        ("T\u200dhank", "U+200D ZERO WIDTH JOINER"),
        ("refund\u202etext", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a\U000e0041b", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("total ４2", "U+FF14 FULLWIDTH DIGIT FOUR"),
        ("p\u0430ypal", "U+0430 CYRILLIC SMALL LETTER A beside Latin letters"),
        ("\u0410BC", "U+0410 CYRILLIC CAPITAL LETTER A beside Latin letters"),
        ("\u039fK", "U+039F GREEK CAPITAL LETTER OMICRON beside Latin letters"),
        ("\U0001d400", "U+1D400 MATHEMATICAL BOLD CAPITAL A"),
    ],
)
def test_a_suspicious_character_is_named(text: str, named: str) -> None:
    assert suspicious(text) == (named,)


@pytest.mark.parametrize(
    "text",
    [
        "plain words, 'quoted' and “quoted”",
        "您好，订单（W2378156）已发货！",
        "Привет, мир",
        "Ελληνικά και English",
        "می\u200cخواهم",
        "👩\u200d💻 works, and so does ❤\ufe0f\u200d🔥",
        "5 μm, π ≈ 3.14, Δx",
        "née Šimůnek, 꼭",
        "",
    ],
)
def test_ordinary_text_in_any_script_has_none(text: str) -> None:
    assert suspicious(text) == ()


def test_each_kind_is_named_once_and_not_too_many() -> None:
    assert suspicious("\u200b" * 1_000) == ("U+200B ZERO WIDTH SPACE",)
    assert len(suspicious("".join(map(chr, range(0xFF10, 0xFF1A))))) == MOST
