"""A tool found nothing, and the agent makes a fact of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from proctor.check import CheckResult
from proctor.checks.findings import at_words, shown
from proctor.checks.masking import quote
from proctor.checks.outcomes import at_result, bounded, failed, not_assessable, passed, times
from proctor.checks.sentences import sentences
from proctor.checks.sources import TOKEN
from proctor.checks.state_changes import INWARD_VERBS, changes_state, words_of_name
from proctor.checks.words import Text, WordsOf, words_of
from proctor.tool_calls import Call
from proctor.trajectory import Trajectory

_DEEPEST = 16
_SAYS_EMPTY = re.compile(
    r"\W*(?:no (?:matching |such )?(?:results?|records?|data|rows?|matches|entries|items?|documents?)(?: (?:were |"
    r"was )?(?:found|returned))?"
    r"|nothing(?: was)? found|none|null|empty|0 (?:results|rows|records)|无|暂无(?:数据|记录)?|没有(?:数据|记录|"
    r"结果)|查无\w{0,4}|未查询?到\w{0,6})\W*",
    re.IGNORECASE,
)
_COUNTS = frozenset({"count", "total", "total_count", "size", "page", "page_size", "limit", "offset", "code", "status"})
_ABSENCE = re.compile(
    r"\bthere (?:is|are|was|were|have been|has been) (?:currently |still |also |absolutely )?(?:no\b|not any\b|none\b)"
    r"|\b(?:does|do|did)(?: not|n['’]t) (?:exist|have any)\b|\b(?:you|he|she|they|it|account|system) (?:has|have) no\b"
    r"|\bno (?:such )?[\w -]{1,40} (?:exists?|(?:is|are|was|were) (?:available|found|on file|registered))\b|"
    r"\bnon-?existent\b"
    r"|没有(?:任何)?(?:相关)?(?:的)?[^，。！？\n]{0,10}(?:记录|订单|航班|信息|数据|预订|结果|账户|商品|余额)|不存在|(?:无|没有)此|查无",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:seems?|appears?|looks? like|could(?: not|n['’]t)|did(?: not|n['’]t) find|unable to find|was(?: not|"
    r"n['’]t) able|"
    r"no results|search (?:returned|found|shows?)|may|might|possibly|according to)\b|似乎|好像|可能|未查|没查|"
    r"没有查|查不到|未找到|没有找到|没找到|未能",
    re.IGNORECASE,
)
_CHECKED = re.compile(
    r"\bhuman\b|\b(?:double|re)-?check|\bverify\b|\btransfer|\b(?:let me|I(?:['’]ll| will)) (?:check|look|try|search)"
    r"|\b(?:could|can|would) you (?:please )?(?:confirm|check|verify|provide|double)|人工|核实|核对|再查|重新查|"
    r"确认一下|转接",
    re.IGNORECASE,
)


@bounded
def empty_asserted(trajectory: Trajectory) -> CheckResult:
    """Where a look-up came back empty, the agent neither says as a fact that nothing exists nor makes something up.

    It may say that it found nothing, look again, ask the user to check, or hand over. Writing calls do not count:
    their empty answer means no more than "done".
    """
    words = words_of(trajectory)
    empty = [call for call in words.calls if is_empty_lookup(call)]
    if not empty:
        if not any(call.result_step is not None for call in words.calls):
            return not_assessable("empty_asserted", "no tool result is known", "the results of the calls")
        return passed("empty_asserted", "no look-up came back empty")
    seen = _look_ups(words)
    for text, calls in _spoken_after(words):
        silent = [call for call in calls if is_empty_lookup(call)]
        if not silent:
            continue
        finding = _absence(text, silent, seen) or (len(silent) == len(calls) and _invented(text, silent, words)) or None
        if finding:
            return finding
    return passed("empty_asserted", f"{times(len(empty), 'look-up')} came back empty, and no fact was made of it")


def is_empty_lookup(call: Call) -> bool:
    """The call looked something up and found nothing."""
    if call.result_step is None or call.failed or changes_state(call):
        return False
    name = words_of_name(call.name)
    return not (name and name[0] in INWARD_VERBS) and _is_empty(call.result)


def _is_empty(value: Any, depth: int = 0) -> bool:
    if value is None or value in ("", [], {}):
        return True
    if isinstance(value, str):
        return bool(_SAYS_EMPTY.fullmatch(value.strip()[:80]))
    if depth > _DEEPEST:
        return False
    if isinstance(value, list):
        return False
    if not isinstance(value, dict):
        return False
    nested = [inner for inner in value.values() if isinstance(inner, dict | list) or inner is None]
    rest = [(key, inner) for key, inner in value.items() if not (isinstance(inner, dict | list) or inner is None)]
    return (
        bool(nested)
        and all(_is_empty(inner, depth + 1) for inner in nested)
        and all(
            inner in (0, "", False) or inner is True or str(key).lower() in _COUNTS or _is_word(key)
            for key, inner in rest
        )
    )


def _is_word(key: object) -> bool:
    return str(key).lower() in ("message", "msg", "ok", "success", "query")


def _spoken_after(words: WordsOf) -> Iterator[tuple[Text, list[Call]]]:
    """Each text of the agent's with the look-ups since its last one."""
    calls = [call for call in words.calls if call.result_step is not None and not changes_state(call)]
    at = 0
    for text in words.agent:
        mine = []
        while at < len(calls) and (calls[at].result_step or 0) < text.when:
            mine.append(calls[at])
            at += 1
        if mine:
            yield text, mine


def _absence(text: Text, silent: list[Call], seen: dict[tuple[str, str], int]) -> CheckResult | None:
    if _CHECKED.search(text.text) or seen[(silent[-1].name, shown(silent[-1].arguments))] < silent[-1].index:
        return None
    for sentence in sentences(text.text):
        found = _ABSENCE.search(sentence.text)
        if found and not sentence.asks and not _HEDGE.search(sentence.text):
            start = sentence.start
            evidence = [
                at_words(text.step, text.text, start, start + len(sentence.text), text.field),
                *at_result(silent[-1]),
            ]
            message = f"{silent[-1].name} came back empty, and the agent says as a fact that there is nothing"
            return failed("empty_asserted", message, evidence)
    return None


def _look_ups(words: WordsOf) -> dict[tuple[str, str], int]:
    """Every look-up that came back empty, by tool and arguments, and the call at which it did first."""
    seen: dict[tuple[str, str], int] = {}
    for call in words.calls:
        if is_empty_lookup(call):
            seen.setdefault((call.name, shown(call.arguments)), call.index)
    return seen


def _invented(text: Text, silent: list[Call], words: WordsOf) -> CheckResult | None:
    """A number of four and more digits, or a word with digits in it, that stands nowhere before."""
    step = text.step if text.step is not None else len(words.trajectory.steps)
    for token in TOKEN.findall(text.text.lower()):
        if len(token) >= 4 and any(letter.isdigit() for letter in token) and not words.sources.holds(token, step):
            start = text.text.lower().find(token)
            evidence = [at_words(text.step, text.text, start, start + len(token), text.field), *at_result(silent[-1])]
            message = (
                f"{silent[-1].name} came back empty, and the agent tells {quote(token)}, which stands nowhere before"
            )
            return failed("empty_asserted", message, evidence)
    return None
