"""The agent says that it changed something: was there a call that did?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from proctor.check import CheckResult, Evidence
from proctor.checks.findings import at_words
from proctor.checks.outcomes import at_call, at_result, bounded, failed, not_assessable, passed
from proctor.checks.sentences import is_stated, sentence_at
from proctor.checks.state_changes import changes_state
from proctor.checks.words import Text, WordsOf, words_of
from proctor.tool_calls import Call
from proctor.trajectory import Trajectory

_DONE = (
    r"(?P<done>booked|rebooked|cancell?ed|refunded|modified|updated|changed|upgraded|downgraded|exchanged|returned|submitted|placed|"
    r"created|added|removed|deleted|sent|transferred|scheduled|rescheduled|reset|activated|deactivated|closed|initiated|"
    r"credited|charged|applied|registered|enrolled|paid|ordered|reserved|issued|switched|replaced|filed|unlocked|renewed|"
    r"corrected|adjusted|granted|disabled|enabled|subscribed|unsubscribed|merged|deployed|processed|completed)\b"
)
_HOW = r"(?:(?:successfully|now|also|just|all|both|each|fully|since|then)\s+)*"
_NOUN = (
    r"(?:cancell?ation|refund|booking|reservation|update|modification|exchange|return|change|payment|transfer|upgrade|downgrade|"
    r"request|order|appointment|purchase)s?"
)
_ENGLISH = (
    ("been", re.compile(rf"\b(?:has|have)\s+{_HOW}been\s+{_HOW}{_DONE}", re.IGNORECASE)),
    (
        "i",
        re.compile(
            rf"\b(?:I|we)(?:['’]ve|\s+have)?\s+{_HOW}(?:gone ahead and\s+|went ahead and\s+)?{_HOW}{_DONE}",
            re.IGNORECASE,
        ),
    ),
    ("successfully", re.compile(rf"\bsuccessfully\s+{_DONE}", re.IGNORECASE)),
    ("now", re.compile(rf"\b(?:is|are)\s+now\s+{_HOW}{_DONE}", re.IGNORECASE)),
    (
        "success|complete|confirmed|made|done|processed|issued|placed",
        re.compile(
            rf"\b{_NOUN}\s+(?:was|were|is|are|has been|have been)\s+{_HOW}"
            r"(?P<done>successful|completed?|confirmed|made|done|processed|issued|placed)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "complete|confirmed|made|done|processed|issued|placed",
        re.compile(
            rf"(?:^|(?<=[.!?\n])\s*)(?:the\s+|your\s+)?{_NOUN}\s+{_HOW}"
            r"(?P<done>completed?|confirmed|made|done|processed|issued|placed)\s*(?=[.!\n]|$)",
            re.IGNORECASE,
        ),
    ),
)
"""Each with the letters of which some stand in every text that it matches."""
_VERB = (
    r"(?P<done>取消|退款|退还|退回|修改|更改|变更|更新|预订|预定|下单|创建|删除|添加|发送|转接|升级|降级|换货|退货|改签|退票|开通|关闭|重置|支付|扣款|"
    r"提交|登记|注册|解绑|绑定|冻结|解冻|挂失|补发|发放|办理|处理)"
)
_CHINESE = (
    re.compile(
        rf"(?:已经|已)(?:成功)?(?:(?:为|帮|给|替)(?:您|你))?(?:(?:将|把)[^，。；！？\n]{{1,20}}?)?(?:成功)?{_VERB}(?!的)"
    ),
    re.compile(rf"(?:(?:为|帮|给|替)(?:您|你))(?:成功)?{_VERB}(?:好)?了"),
    re.compile(rf"{_VERB}(?:申请|操作|手续)?(?:已经?)?(?:成功|完成|完毕|好了|办好)"),
)
_OF_OLD = re.compile(r"\b(?:already|previously|earlier)\b|此前|先前|之前", re.IGNORECASE)
_DEED = re.compile(
    r"\b(?:cancell?ation|refund|booking|update|modification|exchange|return|change|payment|transfer|upgrade|downgrade|request|"
    r"reservation|purchase|charge)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A state change that the agent says was made; the span is in `text`."""

    text: Text
    start: int
    end: int
    done: str
    of_old: bool = False
    """The sentence tells it as something that was so already."""


@bounded
def success_claimed(trajectory: Trajectory, writes: Collection[str] = ()) -> CheckResult:
    """What the agent says it changed was changed: a state-changing call came before, and the last one did not fail.

    `writes` are patterns of tools that change something, for tools whose effect neither traffic nor name tells.
    """
    words = words_of(trajectory)
    if not words.agent:
        return not_assessable("success_claimed", "the agent said nothing", "a message of the agent's")
    claims = [claim for text in words.agent for claim in claims_in(text)]
    changing = [(call, changes_state(call, writes)) for call in words.calls]
    unclear: list[Claim] = []
    for claim in claims:
        if _is_report(claim, words):
            continue
        found = _unsupported(claim, changing)
        if isinstance(found, CheckResult):
            return found
        if found:
            unclear.append(claim)
    if unclear:
        needs = "the effect of the tools called (declared, or seen in traffic), or their results"
        message = f'"{unclear[0].done}" is claimed, and whether a call changed anything cannot be told'
        return not_assessable("success_claimed", message, needs, map(_at, unclear))
    if not claims:
        return passed("success_claimed", "the agent claims no change")
    return passed("success_claimed", "every change claimed follows a call that made one", map(_at, claims))


def _unsupported(claim: Claim, changing: list[tuple[Call, bool | None]]) -> CheckResult | bool:
    """The failure; else whether the claim stays unclear."""
    before = [(call, changes) for call, changes in changing if call.step < claim.text.when and changes is not False]
    sure = [call for call, changes in before if changes]
    if not before:
        message = f'the agent says "{claim.done}", and no call that changes anything came before'
        return failed("success_claimed", message, [_at(claim)])
    if not sure:
        return True
    latest = sure[-1]
    if latest.failed and not _done_again(latest, before):
        message = f'the agent says "{claim.done}" after {latest.name} had failed'
        return failed("success_claimed", message, [_at(claim), at_call(latest), *at_result(latest)])
    return all(call.failed is None for call in sure)


def _done_again(latest: Call, before: Sequence[tuple[Call, bool | None]]) -> bool:
    """Some change succeeded in the same turn of work before the failure, so the words may well be about that one."""
    return any(call.failed is False and call.index < latest.index and changes for call, changes in before)


def claims_in(text: Text) -> list[Claim]:
    """The claims of one text, in order, one a sentence."""
    found: dict[int, Claim] = {}
    for pattern in _patterns(text.text):
        for match in pattern.finditer(text.text):
            sentence = sentence_at(text.text, match.start())
            start, end = match.start() - sentence.start, match.end() - sentence.start
            if sentence.start in found or not is_stated(sentence, start, end):
                continue
            if not _is_status(sentence.text[:start], match["done"]):
                of_old = _OF_OLD.search(sentence.text, 0, end) is not None
                found[sentence.start] = Claim(text, match.start(), match.end(), match["done"], of_old)
    return [found[start] for start in sorted(found)]


def _patterns(text: str) -> Iterator[re.Pattern[str]]:
    low = text.lower()
    yield from (pattern for signs, pattern in _ENGLISH if any(sign in low for sign in signs.split("|")))
    if not text.isascii():
        yield from _CHINESE


def _is_status(before: str, done: str) -> bool:
    """`Your order has been processed` tells a status, where a processed refund is a deed."""
    return done.lower() in ("processed", "completed") and not _DEED.search(before)


def _is_report(claim: Claim, words: WordsOf) -> bool:
    """The agent tells what it read: the word stands as a value in an earlier tool result, or it is told as of old."""
    if claim.of_old and any(result.when < claim.text.when for result in words.results):
        return True
    pattern = _as_value(claim.done.lower())
    return any(result.when < claim.text.when and pattern.search(result.text) for result in words.results)


@cache
def _as_value(done: str) -> re.Pattern[str]:
    spelt = re.sub("cancell?ed", "cancell?ed", re.escape(done))
    return re.compile(rf'[":]\s*"?已?{spelt}"', re.IGNORECASE)


def _at(claim: Claim) -> Evidence:
    return at_words(claim.text.step, claim.text.text, claim.start, claim.end, claim.text.field)
