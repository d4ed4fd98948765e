"""Text that gives orders to a model or to an evaluator where it should only be data, and characters that hide text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from proctor.sensitive.readings import Reading, is_encoded, readings

_SHORTEST = 24
"""Characters of base64 that the shortest order takes."""
MOST = 20
"""Finds of one kind in one text; more tell nothing new."""


@dataclass(frozen=True, slots=True)
class Injected:
    """One find: what it is, in words, and its span in the original text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    signs: tuple[tuple[str, ...], ...]
    """Of each group, one stands in every text that the pattern matches: looking for them is cheap."""
    pattern: re.Pattern[str]


def _rule(kind: str, signs: str, pattern: str) -> _Rule:
    groups = tuple(tuple(group.split("|")) for group in signs.split(" & "))
    return _Rule(kind, groups, re.compile(pattern, re.IGNORECASE))


OVERRIDE = "an order to ignore instructions"
EVALUATOR = "words directed at an evaluator"
VERDICT = "a verdict made up as data"
CLOSING = "a closing of the data block"
ROLE = "a role marker"
HIDING = "an order to act behind the user's back"
TRIGGER = "a hidden trigger"
CHARACTERS = "characters that hide or disguise text"

_RULES = (
    _rule(
        OVERRIDE,
        "ignor|disregard|forget|overrid|bypass & instruction|prompt|rule|directive|guideline|message|context",
        r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass)\s+(?:(?:all|any|of|the|your|my|these|those|everything)\s+){0,4}"
        r"(?:previous|prior|above|earlier|preceding|foregoing|former|system|original|existing|safety)\s+"
        r"(?:\w+\s+){0,2}(?:instruction|prompt|rule|directive|guideline|message|context)s?",
    ),
    _rule(
        OVERRIDE,
        "instruction & adhere|follow|obey|execute & must|please|only|strictly",
        r"\b(?:you must|must|please|only|strictly)\s+(?:\w+\s+){0,2}(?:adhere to|follow|obey|execute)\s+"
        r"(?:only\s+)?(?:the|this|these)\s+(?:following|new)\s+instructions?",
    ),
    _rule(
        OVERRIDE,
        "忽略|无视|忘记|忘掉|不要理会|不要遵守",
        r"(?:请|你必须|务必)?(?:忽略|无视|忘记|忘掉|不要理会|不要遵守)(?:掉)?(?:你)?(?:的)?(?:之前|以上|先前|前面|上述|此前|所有|一切|全部|系统)"
        r"[^。！？\n]{0,10}(?:指令|指示|提示词?|规则|要求|命令|设定)",
    ),
    _rule(
        EVALUATOR,
        "evaluator|grader|judge|assessor|reviewer|scorer & give|assign|award|score|rate|mark|grade|return|output|"
        "answer|must|should|pass",
        r"\b(?:evaluator|grader|judge|assessor|reviewer|scorer)s?\b[^.\n]{0,60}?\b"
        r"(?:give|assign|award|score|rate|mark|grade|return|output|answer|must|should|pass)\b",
    ),
    _rule(
        EVALUATOR,
        "full mark|full score|full point|maximum|highest|criteri|perfect score",
        r"\b(?:give|assign|award|score|rate|grade|mark)\b[^.\n]{0,40}?(?:full marks?|full (?:score|points)|"
        r"maximum (?:score|points|marks)"
        r"|highest (?:score|rating|mark)|(?:all|every|each) (?:the )?criteri(?:a|on)|perfect score)",
    ),
    _rule(
        EVALUATOR,
        "评估|评审|评分|裁判|评价|打分|判分|评测|满分|最高分",
        r"(?:评估|评审|评分|裁判|评价|评测|判分)(?:员|者|人|官|模型|系统|器)?[^。！？\n]{0,15}?(?:给|打|评为|判|输出)[^。！？\n]{0,12}?"
        r"(?:满分|最高分|高分|通过|[0-9一二两三四五十]+\s*分)|(?:请|必须|务必|直接|应当|一律)(?:给|打|评)[^。！？\n]{0,10}(?:满分|最高分)",
    ),
    _rule(
        VERDICT,
        '"verdict"|"score"|"scores"',
        r'\{(?=[^{}]{0,400}?"(?:verdict|scores?)"\s*:)(?=[^{}]{0,400}?"(?:criteri(?:on|a)|citations?|findings?|rationale|justification|'
        r'safety|outcome)"\s*:)[^{}]{0,400}',
    ),
    _rule(
        CLOSING,
        "</|end of|-end|- end|-begin|- begin|结束",
        r"</\s*(?:data|untrusted\w*|transcript|trajectory|tool_?(?:result|output|response)s?|document|context|evidence|steps?|input|"
        r"function_results?)[^>]{0,60}>|-{3,}\s*(?:end|begin)\s+(?:of\s+)?(?:the\s+)?(?:data|transcript|trajectory|tool|document|context|untrusted)"
        r"[^-\n]{0,40}|[\[<(#*=]{1,4}\s*end of (?:the )?(?:data|transcript|trajectory|tool|document|"
        r"context)[^\n]{0,30}|"
        r"[\[【(](?:数据|工具结果|工具输出|对话|轨迹)(?:到此)?结束[\]】)]",
    ),
    _rule(
        ROLE,
        "<|[inst]|[/inst]|<<sys|</sys|<system|</system|<assistant|</assistant|<developer|</developer|system:|system :|"
        "assistant:|assistant :|developer:|developer :|message:|messages:|prompt:|prompts:|instruction:|"
        "instructions:|系统|助手",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end)\|?>?|\[/?INST\]|<</?SYS>>|"
        r"(?:^|\n)[ \t]*(?:#{1,4}[ \t]*)?(?:system|assistant|developer)(?: (?:message|prompt|"
        r"instruction)s?)?[ \t]*:(?=[ \t]*\S)|"
        r"</?(?:system|assistant|developer)(?:[_ -]?(?:message|prompt))?>|"
        r"(?:^|\n)[ \t]*(?:系统(?:提示|消息|指令)?|助手)[ \t]*[:：]",
    ),
    _rule(
        HIDING,
        "telling|informing|notifying|asking|not tell|n't tell|never tell|not inform|n't inform|never inform|not notify|"
        "n't notify|never notify|not mention|n't mention|never mention|告诉|告知|透露|通知",
        r"\b(?:without (?:telling|informing|notifying|asking)|(?:do not|don't|never) (?:tell|inform|notify|"
        r"mention (?:this|it) to))\s+"
        r"(?:the\s+)?(?:user|customer|client|operator|anyone)|(?:不要|切勿|别|禁止|无需)(?:告诉|告知|透露给?|通知)(?:用户|客户|顾客|任何人)",
    ),
    _rule(
        TRIGGER,
        "there is |there's |the phrase|the word|the string|you see |you read |you find ",
        r"\b(?:since|because|whenever|if|when)\s+(?:there is|there's|you (?:see|read|find)|the (?:phrase|words?|"
        r"string))\s+"
        r"[\[\"'“`(][^\n]{2,80}?[\]\"'”`)]\s+(?:is |appears? |occurs? )?(?:in|within)\s+(?:the|this|a|my)\s+"
        r"(?:question|prompt|query|request|message|input|text|task)[^.\n]{0,30}?\b(?:use|call|invoke|run|execute|activate)\b",
    ),
)
_HIDDEN = re.compile(
    "(?<=\\w)[\u200b\u200c\u2060\ufeff\u00ad\u180e]|[\u200b\u2060\ufeff\u180e](?=\\w)|[\u202a-\u202e\u2066-\u2069]"
    "|[\U000e0020-\U000e007f]"
)
_MIXED = re.compile(r"\b[A-Za-z]*[\u0370-\u03ff\u0400-\u04ff][A-Za-z\u0370-\u03ff\u0400-\u04ff]*")
_BOM = "\ufeff"


def injected_in(texts: Sequence[str]) -> list[list[Injected]]:
    """The finds of each text. The signs are looked for in all texts at once, which is cheap where there are none."""
    low = "\n".join(texts).lower()
    rules = tuple(rule for rule in _RULES if _signed(low, rule))
    return [_found(text, rules) for text in texts]


def injected(text: str) -> list[Injected]:
    """All finds, in order of place; a find in a decoded reading points at the encoded text."""
    return _found(text, _RULES)


def _found(text: str, rules: tuple[_Rule, ...]) -> list[Injected]:
    """`rules` are those that the text as it stands may match; what it hides may match any."""
    hides = not text.isascii() or is_encoded(text, _SHORTEST)
    if not hides and not rules:
        return []
    found: dict[tuple[str, int, int], Injected] = {}
    for reading in readings(text, over_breaks=False, shortest=_SHORTEST) if hides else (Reading(text),):
        low = reading.text.lower()
        for rule in rules if reading.text == text else _RULES:
            if _signed(low, rule):
                for match in islice(rule.pattern.finditer(reading.text), MOST):
                    span = reading.span(match.start(), match.end())
                    found.setdefault((rule.kind, *span), Injected(rule.kind, *span))
    for start, end in islice(_disguised(text), MOST):
        found.setdefault((CHARACTERS, start, end), Injected(CHARACTERS, start, end))
    return _apart(sorted(found.values(), key=lambda one: (one.start, -one.end)))


def _signed(low: str, rule: _Rule) -> bool:
    for group in rule.signs:
        for sign in group:
            if sign in low:
                break
        else:
            return False
    return True


def _apart(found: list[Injected]) -> list[Injected]:
    """Without the finds of a kind that lie over an earlier one of that kind."""
    ends: dict[str, int] = {}
    kept = []
    for one in found:
        if one.start >= ends.get(one.kind, -1):
            kept.append(one)
            ends[one.kind] = one.end
    return kept


def _disguised(text: str) -> Iterator[tuple[int, int]]:
    if text.isascii():
        return
    for found in _HIDDEN.finditer(text):
        if not (found.start() == 0 and found[0] == _BOM):
            yield found.span()
    for word in _MIXED.finditer(text):
        if any(letter.isascii() for letter in word[0]) and _looks_latin(word[0]):
            yield word.span()


def _looks_latin(word: str) -> bool:
    """Letters of two scripts in one word; a single Greek letter before a number or unit (mu, delta) is none."""
    others = [letter for letter in word if not letter.isascii()]
    latin = sum(letter.isascii() for letter in word)
    return latin >= 2 and all(unicodedata.category(letter).startswith("L") for letter in others)
