"""What can be told from the words of a rubric alone, in English and Chinese.

Each rule is a closed list or a pattern that leaves ordinary sentences alone: a rule that cries wolf is switched off.
"""

from __future__ import annotations

import re
import unicodedata

_ASIDES = re.compile(r'"[^"]*"|“[^”]*”|「[^」]*」|`[^`]*`|\([^)]*\)|（[^）]*）')
"""Quoted words and remarks in brackets ask nothing."""


def _words(text: str) -> list[str]:
    return text.split()


_QUALITIES = _words(
    "accurate complete correct right clear concise polite safe helpful relevant consistent efficient robust secure "
    "truthful honest friendly professional useful readable fast coherent timely"
)
_NOUNS = _words(
    "accuracy completeness correctness clarity conciseness politeness safety helpfulness relevance consistency "
    "efficiency robustness truthfulness honesty friendliness professionalism usefulness readability speed coherence "
    "timeliness tone"
)
_MANNERS = _words(
    "accurately completely correctly clearly concisely politely safely helpfully consistently efficiently truthfully "
    "honestly professionally quickly promptly coherently fully"
)
_VERBS = _words(
    "tell say ask confirm verify give refuse avoid keep follow explain cite complete finish choose pick fill send "
    "provide include understand remember respect obey handle recover inform apologise apologize respond achieve reach "
    "make take find get do be stay remain stop retry create update delete cancel read write identify detect satisfy "
    "meet ensure maintain produce"
)
"""Those that are hardly ever nouns: after `and` they are a second thing that was done."""
_HELPERS = "did|does|do|is|are|was|were|has|have|had|can|could|will|would|should"
_SUBJECTS = "it|they|he|she|the|its|their|this|that|any|all|every|each|there|no"
_BELOW = "to|who|that|which|when|before|after|if|whether|because|while|until|where|what|how|try|go"
"""Words after which a verb need not be the agent's own deed."""
_ZH_QUALITIES = "准确|完整|正确|清晰|简洁|礼貌|安全|友好|一致|高效|相关|连贯|专业|及时|稳定|真实|有用"


def _pair(words: list[str]) -> str:
    either = "|".join(words)
    return rf"\b(?:{either})(?:\s+and|\s+or|,?\s+but|\s+as\s+well\s+as|\s*,\s*and|\s*&)\s+(?:also\s+)?(?:{either})\b"


_TWO = tuple(
    re.compile(pattern)
    for pattern in (
        r"[?？].*?[?？]",
        r"\band/or\b",
        rf"\b(?:and|or|but),?\s+(?:also\s+|then\s+)?(?:{_HELPERS})\s+(?:{_SUBJECTS})\b",
        r"\band,?\s+if\s+(?:so|not)\b",
        r"\bnot\s+only\b.*?\bbut\b",
        r"\bboth\s+(?!of\b)(?:[\w'-]+\s+){1,4}?and\b",
        _pair(_QUALITIES),
        _pair(_NOUNS),
        _pair(_MANNERS),
        rf"(?:^|,\s*)(?:did|does|do|can|could|will|would|should)\s(?:(?!\b(?:{_BELOW})\b)[^?.,;])*?,?\s"
        rf"and\s+(?:also\s+|then\s+)?(?:\w+ly\s+)?(?:{'|'.join(_VERBS)})\b",
        r"(?:是否|有没有|有无|能否|会否).*?(?:[，,；;、]|并且?|而且|且|同时|以及|和|及|或者?)"
        r"\s*(?:它|其|助手|代理|智能体)?\s*(?:也|还|又|同时)?(?:是否|有没有|有无|能否|会否)",
        r"(?:是否|有没有|能否).*?(?:并且|而且|[，,]?(?<![合一归吞])并(?![行发未不列购入非排联])|(?<![而暂尚姑])且(?!慢)|[，,]同时|同时还|同时也)",
        r"既(?![往定有然]).+?又",
        r"不[仅但光].+?(?:还|也|而且|并且)",
        rf"(?:{_ZH_QUALITIES})性?(?:和|与|及|以及|且|并|、|又|而)(?:{_ZH_QUALITIES})",
    )
)

_JUDGING = frozenset(
    _QUALITIES
    + _MANNERS
    + _words(
        "good bad great excellent poor fine ok okay acceptable adequate satisfactory sufficient perfect ideal "
        "appropriate suitable proper reasonable high low strong weak nice decent average mediocre medium moderate "
        "terrible awful outstanding superb exceptional wrong unacceptable inadequate insufficient inappropriate "
        "incorrect inaccurate incomplete unclear unsafe inefficient unhelpful irrelevant inconsistent better best "
        "worse worst well badly poorly perfectly properly appropriately incorrectly satisfying unsatisfactory"
    )
)
_FILLING = frozenset(
    _words(
        "the a an is are was were be been very quite really fairly mostly somewhat rather entirely totally partially "
        "partly almost nearly basically generally highly extremely not no of in at to for all overall and or but with "
        "some any it its this that more less than most least as so just only level score answer answers response "
        "responses reply replies result results performance quality work job agent assistant output behaviour behavior "
        "execution handling way manner standard"
    )
)
_ZH_JUDGING = (
    "优秀|良好|不合格|合格|不及格|及格|一般|错误|合理|满意|出色|糟糕|中等|合适|恰当|理想|完美|尚可|可以|优|良|好|差|高|低|中|"
    + _ZH_QUALITIES
)
_ZH_FILLING = (
    "回答|回复|答案|结果|表现|质量|执行|整体|总体|非常|比较|基本|完全|部分|大致|不太|有点|十分|水平|程度|任务|内容|输出|智能体|助手|代理|"
    "它|很|较|极|都|是|的|了|地|得|不|且|和|与|性|并|及"
)
_ZH_BARE = re.compile(rf"(?:{_ZH_JUDGING}|{_ZH_FILLING})+")
_PLACEHOLDERS = frozenset({"todo", "tbd", "tba", "fixme", "xxx", "待定", "待补充", "略"})

_CONSEQUENCES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bveto(?:s|es|ed|ing)?\b",
        r"\bweight(?:s|ed|ing)?\b[^.;]{0,20}(?:%|\bpercent\b)",
        r"(?:%|\bpercent)\s+of\s+(?:the\s+)?(?:total|score|mark|grade|weight)\b",
        r"\b(?:criterion|dimension|score|question)(?:'s)?\s+(?:is\s+|are\s+)?weigh(?:s|t|ts|ted|ting)?\b",
        r"\bweigh(?:t|ts|ted|ting|s)\s+(?:\w+\s+){0,2}?(?:the|this)\s+(?:total|score|criterion|dimension|rubric)\b",
        r"\bcounts?\s+(?:for\s+)?(?:half|double|twice|\d+\s*(?:%|percent))",
        r"(?<!credit )\b(?:score|scores|passing|quality)\b[^.;]{0,30}\bthreshold\b",
        r"\bthreshold\s+(?:of|for)\s+(?:the\s+)?(?:score|total|passing|release|gate)\b",
        r"\b(?:quality|release|merge|deployment|ci|score)\s+gates?\b",
        r"\b(?:blocks?|stops?|holds?\s+back)\s+the\s+(?:release|merge|deployment|build)\b",
        r"\b(?:total|overall|final)\s+(?:score|mark|grade)\b",
        r"\bmakes?\s+(?:the\s+|a\s+)?total\s+(?:0|zero)\b",
        r"\b(?:sets?|brings?|drops?)\s+the\s+total\s+to\s+(?:0|zero)\b",
        r"\bfails?\s+the\s+(?:whole\s+|entire\s+)?(?:case|run|suite|evaluation|trial|gate)\b",
        r"\bwhole\s+(?:case|run|trial)\s+(?:is|gets|scores|becomes)\s+(?:0|zero)\b",
        r"一票否决|(?:质量|发布|上线|合并)门禁",
        r"(?:本项|该项|此项|维度|评分|得分)[^。;]{0,6}权重|权重[^。;]{0,6}(?:\d|分)",
        r"(?:计入|影响|决定|拉低|占)总分|总分(?:记为|变为|归|为|清|记)\s*(?:0|零)",
        r"(?:分数|得分|评分)[^。;]{0,8}(?:阈值|门槛)|整[个体](?:用例|案例)[^。;]{0,4}(?:0|零)分",
    )
)

_UNTOLD = frozenset(_words("the a an did does do was were is are has have agent assistant it its"))


def two_questions(question: str) -> str:
    """The words that ask a second thing, or an empty string. One score cannot answer two questions."""
    plain = _ASIDES.sub(" ", _folded(question))
    return next((found[0].strip() for pattern in _TWO if (found := pattern.search(plain))), "")


def is_bare_praise(anchor: str) -> bool:
    """Whether an anchor only judges (`Good.`, `回答优秀`), so that nothing in a transcript could show it."""
    plain = _folded(anchor)
    words = re.findall(r"[a-z]+", plain)
    chinese = "".join(re.findall(r"[\u3400-\u9fff]+", plain))
    if any(word not in _JUDGING and word not in _FILLING for word in words):
        return False
    if chinese and not _ZH_BARE.fullmatch(chinese):
        return False
    return any(word in _JUDGING for word in words) or bool(re.search(_ZH_JUDGING, chinese))


def says_nothing(text: str) -> bool:
    """Whether a text is empty, punctuation only, or a placeholder such as `TODO`."""
    words = normalised(text)
    return not words or " ".join(words) in _PLACEHOLDERS or "".join(words) in _PLACEHOLDERS


def consequence_told(text: str) -> str:
    """The words that tell a judge what its score does, or an empty string."""
    plain = _folded(text)
    return next((found[0].strip() for pattern in _CONSEQUENCES if (found := pattern.search(plain))), "")


def normalised(text: str) -> tuple[str, ...]:
    """The words of a text without case, width, punctuation and form words; a Chinese character is a word."""
    words = re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", _folded(text))
    return tuple(word for word in words if word not in _UNTOLD) or tuple(words)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
