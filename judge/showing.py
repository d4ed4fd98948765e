"""A text as a judge can be shown it: every character can be printed, sent as UTF-8, and quoted."""

from __future__ import annotations

import json
import re
from typing import Any

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_PLAIN_NAME = re.compile(r"[\w.:/@ -]{1,80}")
_CJK = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_ALIKE = str.maketrans(
    "АВЕКМНОРСТХІЅЈаеорсухіѕјԁɡΑΒΕΗΙΚΜΝΟΡΤΧΥοικνρυ",
    "ABEKMHOPCTXISJaeopcyxisjdgABEHIKMNOPTXYoiknpu",
)
_LETTER = re.compile(r"[^\W\d_]")
_SOME = 0.2
"""The share of a script from which it counts."""


def printable(text: str) -> str:
    """Control characters as their pictures, lone surrogates and the rest as `<U+D800>`: what a judge copies as seen.

    An escape such as `\\u001b` would be read as the character itself where it stands in the JSON of an answer.
    """
    return _UNPRINTABLE.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def as_latin(text: str) -> str:
    """With Latin letters for those that pass for them, character by character. For finding only: nobody is shown it."""
    return text if text.isascii() else text.translate(_ALIKE)


def as_json(value: Any) -> str:
    """The value as JSON in readable Unicode; in words where it is nested past any use."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError, TypeError):
        return "(a value that cannot be written as JSON)"


def in_a_heading(name: str | None) -> str:
    """A name that may stand in a line of ours; empty for one that is no plain name."""
    return name if name and _PLAIN_NAME.fullmatch(name) else ""


def language_of(texts: list[str]) -> str:
    """`en` (Latin script), `zh` (CJK), `other` or `mixed`; empty without letters."""
    text = "\n".join(texts)
    cjk, letters = len(_CJK.findall(text)), len(_LETTER.findall(text))
    latin = len(_LATIN.findall(text))
    # A word of Latin script says about as much as one character of CJK.
    rest = letters - cjk - sum(map(len, _LATIN.findall(text)))
    counts = {"en": latin, "zh": cjk, "other": rest // 5}
    whole = sum(counts.values())
    used = [name for name, count in counts.items() if whole and count / whole >= _SOME]
    return "" if not used else used[0] if len(used) == 1 else "mixed"
