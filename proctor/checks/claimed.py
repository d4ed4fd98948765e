"""State changes that a text says were made: done-forms in sentences that state them, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.checks.sentences import is_stated, sentence_at
from proctor.checks.words import Text

_DONE = (
    r"(?P<done>booked|rebooked|cancell?ed|refunded|modified|updated|changed|upgraded|downgraded|exchanged|returned|"
    r"submitted|placed|created|added|removed|deleted|sent|transferred|scheduled|rescheduled|reset|activated|"
    r"deactivated|closed|initiated|credited|charged|applied|registered|enrolled|paid|ordered|reserved|issued|"
    r"switched|replaced|filed|unlocked|renewed|corrected|adjusted|granted|disabled|enabled|subscribed|unsubscribed|"
    r"merged|deployed|processed|completed)\b"
)
_HOW = r"(?:(?:successfully|now|also|just|all|both|each|fully|since|then)\s+)*"
_DEED = re.compile(
    r"\b(?:cancell?ation|refund|booking|update|modification|exchange|return|change|payment|transfer|upgrade|downgrade|"
    r"request|reservation|purchase|charge|appointment)s?\b"
)
_CONFIRMED = re.compile(
    r"\b(?:cancell?ation|refund|booking|reservation|exchange|return|change|payment|order|request)s?\b"
)
_BEEN = re.compile(rf"been\s+{_HOW}{_DONE}")
_HAVE = re.compile(rf"\b(?:has|have)\s+{_HOW}\Z")
_FORMS = (
    ("successfully", re.compile(rf"successfully\s+{_DONE}")),
    ("now", re.compile(rf"\b(?:is|are)\s+now\s+{_HOW}{_DONE}")),
    (
        "",
        re.compile(rf"\b(?:i|we)(?:['’]ve|\s+have)?\s+{_HOW}(?:(?:gone|went) ahead and\s+)?{_HOW}{_DONE}"),
    ),
)
"""Each with letters that stand in every text that it matches."""
_ENDED = ("success", "complete", "confirmed", "made", "done", "issued", "placed")
_STATE = re.compile(
    rf"\b(?:was|were|is|are|been)\s+{_HOW}(?P<done>successful|completed?|confirmed|made|done|issued|placed)\b"
)
_LOOK_BACK = 60
_VERB = (
    r"(?P<done>取消|退款|退还|退回|修改|更改|变更|更新|预订|预定|下单|创建|删除|添加|发送|转接|升级|降级|换货|退货|改签|退票|"
    r"开通|关闭|重置|支付|扣款|提交|登记|注册|解绑|绑定|冻结|解冻|挂失|补发|发放|办理|处理)"
)
_FOR_YOU = r"(?:(?:为|帮|给|替)(?:您|你))"
_CHINESE = (
    re.compile(rf"(?:已经|已)(?:成功)?{_FOR_YOU}?(?:(?:将|把)[^，。；！？\n]{{1,20}}?)?(?:成功)?{_VERB}(?!的)"),
    re.compile(rf"{_FOR_YOU}(?:成功)?{_VERB}(?:好)?了"),
    re.compile(rf"{_VERB}(?:申请|操作|手续)?(?:已经?)?(?:成功|完成|完毕|好了|办好)"),
)
_OF_OLD = re.compile(r"\b(?:already|previously|earlier)\b|此前|先前|之前", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A state change that the agent says was made; the span is in `text`."""

    text: Text
    start: int
    end: int
    done: str
    of_old: bool = False
    """The sentence tells it as something that was so already."""


def claims_in(text: Text) -> list[Claim]:
    """The claims of one text, in order, one a sentence."""
    found: dict[int, Claim] = {}
    for start, end, done in _forms(text.text):
        sentence = sentence_at(text.text, start)
        if sentence.start in found or not is_stated(sentence, start - sentence.start, end - sentence.start):
            continue
        if not _is_status(sentence.text[: start - sentence.start], done):
            of_old = _OF_OLD.search(sentence.text, 0, end - sentence.start) is not None
            found[sentence.start] = Claim(text, start, end, done, of_old)
    return [found[start] for start in sorted(found)]


def _forms(text: str) -> Iterator[tuple[int, int, str]]:
    """Every done-form, stated or not."""
    low = text.lower()
    if len(low) != len(text):
        low = text
    yield from _been(low)
    for sign, pattern in _FORMS:
        for found in pattern.finditer(low) if sign in low else ():
            yield *found.span(), found["done"]
    for found in _STATE.finditer(low) if any(sign in low for sign in _ENDED) else ():
        if _CONFIRMED.search(low, max(0, found.start() - _LOOK_BACK), found.start()):
            yield *found.span(), found["done"]
    for pattern in () if text.isascii() else _CHINESE:
        for found in pattern.finditer(text):
            yield *found.span(), found["done"]


def _been(low: str) -> Iterator[tuple[int, int, str]]:
    at = low.find("been")
    while at >= 0:
        found = _BEEN.match(low, at)
        before = _HAVE.search(low, max(0, at - _LOOK_BACK), at) if found else None
        if found and before:
            yield before.start(), found.end(), found["done"]
        at = low.find("been", at + 4)


def _is_status(before: str, done: str) -> bool:
    """`Your order has been processed` tells a status, where a processed refund is a deed."""
    return done in ("processed", "completed") and not _DEED.search(before.lower())
