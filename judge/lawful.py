"""Which quotes are long enough to be evidence, whatever they say and wherever they stand."""

from __future__ import annotations

import re
from typing import Literal

from proctor.judge.characters import visible

LEAST = 12
"""Characters of a quote that can be seen, after the fold and without spaces at its ends."""
LEAST_CJK = 5
"""Of a quote in CJK script: so many ideographs, kana, bopomofo or hangul; a word is two or three of them."""
LENGTHS = f"a quote is at least {LEAST} characters, or {LEAST_CJK} of CJK script, or a whole JSON leaf with its pointer"

_CJK = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3105-\u312f\u3131-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]"
)
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_WORDS = "ok okay yes no none null nil n/a na nan true false unknown unclear empty missing quote text evidence tbd todo"
_PLACEHOLDERS = frozenset({*_WORDS.split(), "无", "没有", "暂无", "不适用", "好的"})


def unlawful(quote: str) -> Literal["", "too_short", "placeholder"]:
    """Why a folded quote is none, but for the leaf that it may be; empty where it is long enough."""
    said = visible(quote).strip(" ")
    if len(said) >= LEAST or len(_CJK.findall(said)) >= LEAST_CJK:
        return ""
    bare = said.strip(" .\"'!()[]{}<>-_*`。").casefold()
    if not _SAYS_SOMETHING.search(said) or bare in _PLACEHOLDERS:
        return "placeholder"
    return "too_short"
