"""The names of models and of those who make them, and the words that have to stand beside an ambiguous one.

A leak costs the run and a wrong replacement a little evidence, so:

- a name that is nothing else (`chatgpt`, `claude`, `qwen`) is always replaced;
- one that is mostly a model's today (`Gemini`, `Llama`, `Mistral`) is replaced unless the words around it speak of
  stars, animals or weather, and even then where it is used as a model's;
- one that is mostly a word or a company (`opus`, `phi`, `meta`, `Google`) only where it is used as a model's: with a
  version, with words such as `model`, or said of oneself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["assistant", "model", "vendor"]

_EDGE = r"(?:(?<![A-Za-z])|(?<=\\[nrt])|(?-i:(?<=[a-z])(?=[A-Z])))"
"""Where a name may begin: at no letter, after an escaped line break, at a capital inside a word."""
_END = r"(?:(?![A-Za-z])|(?-i:(?<=[A-Za-z])(?=[A-Z])))"
_VARIANT = (
    "opus|sonnet|haiku|instant|code|desktop|turbo|mini|nano|micro|pro|flash|ultra|lite|large|medium|small|next|"
    "instruct|chat|preview|latest|base|vision|exp|thinking|coder|max|plus|vl|omni|online|reasoner|advanced|guard|"
    "scout|maverick|sonar|tiny|audio|realtime|search|embedding|it|distill|qwen|llama|all"
)
_MORE = rf"(?:[-_ .:/@]?(?:v?\d[\w.]*|(?:{_VARIANT})(?![A-Za-z]))){{0,8}}"
"""A version and the names of variants, as far as they go."""


@dataclass(frozen=True, slots=True)
class Name:
    """One rule. Of `signs`, one stands in every text (in lower case, without accents) that the pattern matches."""

    kind: Kind
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    """What around the name makes it an ordinary word."""


def _name(kind: Kind, signs: str, pattern: str, unless: str = "") -> Name:
    around = re.compile(unless, re.IGNORECASE) if unless else None
    return Name(kind, tuple(signs.split("|")), re.compile(pattern, re.IGNORECASE), around)


def _spaced(word: str) -> str:
    """The word letter by letter, with the same mark between any two."""
    return rf"(?<![a-z0-9]){word[0]}([ .\-_*/]){word[1]}" + "".join(rf"\1{each}" for each in word[2:]) + "(?![a-z0-9])"


_SPACED = ("claude", "openai", "anthropic", "chatgpt", "gemini", "deepseek", "mistral")
_ANYWHERE = (
    "deepseek|mixtral|codestral|pixtral|magistral|devstral|chatglm|internlm|wizardlm|starcoder|stablelm|nemotron|"
    "doubao|hunyuan|palmyra|openhermes|smollm|exaone|skywork|qwen|qwq|codellama|ollama|gpt4all|wenxin|tongyi"
)
_BY_VERSION = {
    "phi": r"phi[-_ ]?[1-5](?:\.\d)?(?!\d)",
    "gemma": r"gemma[-_ ]?\d",
    "opus": r"opus[-_ ]?[345](?:\.\d)?(?!\d)",
    "sonnet": r"sonnet[-_ ]?[345](?:\.\d)?(?!\d)",
    "haiku": r"haiku[-_ ]?[345](?:\.\d)?(?!\d)",
    "falcon": r"falcon[-_ ]?\d+b",
    "mpt-": r"mpt-\d+b",
    "yi-|yi_|yi ": r"yi[-_ ]\d+b|yi-(?:large|lightning)",
    "glm": r"glm[-_ ]?\d",
    "ernie": r"ernie[-_ ](?:bot|\d)",
    "kimi": r"kimi[-_ ]?(?:k\d|latest|chat|ai)",
    "moonshot": r"moonshot[-_ ](?:v\d|ai)",
    "minimax|abab": r"minimax[-_](?:text|m\d)|abab\d",
    "granite": r"granite[-_ ]\d",
    "zephyr-|orca-|hermes-": r"(?:zephyr|orca|hermes)-\d",
    "aya-|jurassic-|inflection-": r"(?:aya|jurassic|inflection)-\d",
    "solar-|dolly-": r"solar-(?:\d|pro|mini)|dolly-v\d",
    "flan-|bloom": r"flan-t5|bloomz?-\d",
    "tulu|reka": r"tulu[-_ ]?\d|reka[-_ ](?:core|flash|edge)",
    "palm-2|palm 2|palm_2|bison": r"palm[-_ ]2|(?:chat|text|code)-bison",
    "titan": r"titan[-_ ](?:text|embed\w*)",
    "nova-|nova_|nova ": r"nova[-_ ](?:pro|lite|micro|premier|sonic)",
    "jamba|dbrx|olmo|baichuan": r"jamba|dbrx|olmo|baichuan",
    "command-|c4ai": r"command-[ar](?![a-z])|c4ai",
    "grok": r"grok[-_ ]?\d",
    "vicuna|alpaca": r"(?:vicuna|alpaca)[-_ ]\d",
    "llama": r"llama[-_ ]?\d|llama\.cpp|meta[-_ ]llama",
    "o1-|o3-|o4-": r"o[134]-(?:mini|pro|preview|deep)",
    "davinci|curie|babbage|-ada": r"(?:text|code)-(?:davinci|curie|babbage|ada)|text-embedding-ada",
    "text-embedding-3": r"text-embedding-3",
    "dall": r"dall[-_ ]?e(?:[-_ ]?\d)?(?![a-z])",
    "bard ai": r"bard ai",
}
_WORDS = (
    r"gemini|llama|mistral|grok|copilot|bard|opus|sonnet|haiku|(?-i:Phi)|nova|titan|falcon|gemma|kimi|ernie|alpaca|"
    r"vicuna|orca|hermes|zephyr|granite|olmo|o[134]"
)
_SIGNS_OF_WORDS = (
    "gemini|llama|mistral|grok|copilot|bard|opus|sonnet|haiku|phi|nova|titan|falcon|gemma|kimi|ernie|alpaca|vicuna|"
    "orca|hermes|zephyr|granite|olmo|o1|o3|o4"
)
_COMPANIES = (
    "google|microsoft|amazon|apple|meta|nvidia|ibm|cohere|perplexity|alibaba|baidu|tencent|bytedance|huawei|moonshot|"
    "inflection|stability|databricks|facebook"
)
_SELF = (
    r"(?:(?<=\bas )(?<!such as )(?<!well as )(?<!known as )(?<!same as )|(?<=\bi am )|(?<=\bi['’]m )|(?<=\bthis is )|"
    r"(?<=\bname is )|(?<=\byou are )|(?<=\byou['’]re )|(?<=\bbeing )|(?<=\bhere is )|(?<=\bcalled )|(?<=\bnamed )|"
    r"(?<=我是)|(?<=作为)|(?<=我叫)|(?<=身为)|(?<=你是))"
)
_OF_A_MODEL = (
    r"(?=(?:['’]s)?[-_ ]+(?:(?:large|small|base|foundation|based|powered)[- ])?(?:language[- ]|ai[- ])?"
    r"(?:models?|llms?|chatbot|ai)\b)"
)
_OF_A_COMPANYS_MODEL = r"(?=(?:['’]s)?[-_ ]+(?:large |small )?(?:language[- ]models?|ai[- ]models?|llms?|chatbot)\b)"
_MODEL_IS = (
    r"(?:(?<=model: )|(?<=model:)|(?<=model=)|(?<=model = )|(?<=model is )|(?<=\"model\": \")|(?<=\"model\":\")|"
    r"(?<='model': ')|(?<=engine: )|(?<=llm: )|(?<=llm is )|(?<=llm=)|(?<=powered by )|(?<=running on )|"
    r"(?<=based on )|(?<=assistant: )|(?<=agent: )|(?<=\bthe model ))"
)
_MADE = (
    r"(?:\b(?:i|you|we)(?:['’](?:m|re|ve)| am| are| was| were| have)\b|"
    r"\b(?:model|assistant|ai|chatbot|bot|llm|agent)\b)"
    r"[^.\n]{0,40}?\b(?:made|built|created|developed|trained|designed|provided|powered|released|hosted|offered|served)"
    r"(?: and \w+)? (?:by|at|on) (?:the (?:team|people) at )?"
)
_STARS = (
    r"zodiac|horoscope|astrolog|constellation|star sign|birth sign|sun sign|\bsign\b|nasa\b|spacecraft|\bscorpio|"
    r"\btaurus|\baries\b|\bvirgo\b|\blibra\b|sagittarius|capricorn|aquarius|\bpisces|双子|"
    r"\ba gemini\b(?![- ]*(?:model|llm|ai\b|based|powered))|gemini (?:season|man|woman|moon|rising|twins|observatory)"
)
_ANIMALS = (
    r"\bllamas\b|alpaca|\bwool|\bfarm|\banimal|\bherd|\bzoo\b|\bpet(?:s|ting)?\b|\btrek|andes|peru|\btoy|plush|pajama|"
    r"\bprint\b|\bfur\b|\bfeed|\ba llama\b(?! ?(?:model|llm))|\bthe llama (?:is|was|ate|spat|ran|farm)"
)
_WEATHER = (
    r"\bwinds?\b|\bgust|\bblow|\bblew\b|provence|rh[oô]ne|marseille|\bsail|weather|forecast|\bcold\b|\bkm/h|\bknots"
)

_CHINESE = (
    "克劳德|通义千问|通义|千问|文心一言|文心大模型|讯飞星火|星火大模型|盘古大模型|豆包(?=大模型|AI|助手|模型)|"
    "(?<=我是)豆包|(?<=作为)豆包"
)
_CHINESE_VENDORS = "智谱(?:清言|AI)?|月之暗面|深度求索|百川(?:智能|大模型)|阶跃星辰|零一万物|混元(?:大模型)?"
_VENDORS = (
    rf"deepmind|{_EDGE}x\.ai(?![a-z])|(?-i:\bxAI\b)|mistral[-_ .]?ai(?![a-z])|zhipu\w*|{_EDGE}ai21(?:[-_ ]?labs?)?|"
    r"openrouter|(?:amazon[-_ ]|aws[-_ ])bedrock|bedrock-runtime[\w.-]*|vertex[-_ ]?ai|hugging ?face|azure[-_ ]?openai|"
    rf"(?:generativelanguage|aiplatform)\.googleapis|{_EDGE}groq{_END}"
)
_GEMINI = r"(?:[-_ ]?\d[\w.]*|[-_ ](?:pro|flash|ultra|nano|advanced|live|exp)(?![a-z]))"
_MISTRAL = r"[-_ ]?(?:v?\d[\w.]*|tiny|small|medium|large|next|nemo|instruct|saba)"
_PRODUCTS = r"(?:ai|bard|nova|titan|palm|llama|gemma|phi|watsonx?|granite)(?![a-z])"
_MAKERS = "google|meta|microsoft|amazon|apple|nvidia|baidu|alibaba|tencent|ibm"

NAMES = (
    _name("assistant", "chatgpt|chat gpt|chat-gpt", rf"chat[- ]?gpts?{_MORE}"),
    _name("assistant", "claude", rf"{_EDGE}(?<!jean-)(?<!jean )claude{_END}{_MORE}"),
    _name("assistant", "克劳德|通义|千问|文心|豆包|讯飞星火|星火大模型|盘古大模型", _CHINESE),
    _name("vendor", "openai|open ai|open-ai|open_ai", r"openai|(?<![a-z])open[-_ ](?-i:AI)(?![A-Za-z])"),
    _name("vendor", "anthropic", rf"{_EDGE}anthropic(?! (?:principle|reasoning|selection|bias|argument))"),
    _name("vendor", "deepmind|x.ai|xai|mistral|zhipu|ai21|openrouter|bedrock|vertex|hugging|groq|googleapis", _VENDORS),
    _name("vendor", "智谱|月之暗面|深度求索|百川|阶跃星辰|零一万物|混元", _CHINESE_VENDORS),
    _name(
        "model",
        "gpt",
        rf"(?:{_EDGE}|(?<=auto)|(?<=baby)|(?<=insta)|(?<=meta))gpt(?:j|s)?{_END}{_MORE}",
        r"partition|\bdisk\b",
    ),
    _name("model", _ANYWHERE, rf"(?:{_ANYWHERE}){_MORE}"),
    *(_name("model", signs, rf"{_EDGE}(?:{pattern}){_MORE}") for signs, pattern in _BY_VERSION.items()),
    _name("model", "opus|sonnet|haiku", r"(?<![\d.])\d\.\d (?:opus|sonnet|haiku)(?![a-z])"),
    _name("model", "command r", rf"(?-i:\bCommand R)(?:\+|(?![A-Za-z0-9])){_MORE}"),
    _name("assistant", "gemini", rf"{_EDGE}(?:google )?gemini{_GEMINI}{_MORE}"),
    _name("assistant", "gemini", rf"{_EDGE}(?:google )?gemini{_END}", _STARS),
    _name("model", "mistral", rf"{_EDGE}(?:le )?mistral{_MISTRAL}{_MORE}"),
    _name("model", "mistral", rf"{_EDGE}mistral{_END}", _WEATHER),
    _name("model", "llama", rf"{_EDGE}(?-i:(?!llama))llama(?!s?[a-z]){_MORE}", _ANIMALS),
    _name("assistant", "grok", rf"{_EDGE}(?-i:Grok)(?![A-Za-z]){_MORE}"),
    _name("assistant", "copilot", rf"(?:github|microsoft|ms) copilot|{_EDGE}(?-i:Copilot)(?![A-Za-z])"),
    _name("vendor", _MAKERS, rf"{_EDGE}(?:{_MAKERS})[-_ ]+{_PRODUCTS}"),
    _name(
        "assistant",
        _SIGNS_OF_WORDS,
        rf"(?<![A-Za-z])(?={_WORDS}|phi)(?:{_SELF}(?:{_WORDS})|{_MODEL_IS}(?:{_WORDS}|phi))(?![A-Za-z]){_MORE}",
    ),
    _name("assistant", _SIGNS_OF_WORDS, rf"{_EDGE}(?:{_WORDS}){_OF_A_MODEL}"),
    _name("vendor", _COMPANIES, rf"{_EDGE}(?:{_COMPANIES}){_OF_A_COMPANYS_MODEL}"),
    _name("vendor", _COMPANIES, rf"(?<=\bas )(?:{_COMPANIES})(?=, i\b)"),
    _name("vendor", _COMPANIES, rf"{_MADE}(?P<name>{_COMPANIES})(?![A-Za-z])"),
    *(_name("assistant", "|".join(word[0] + mark + word[1] for mark in " .-_*/"), _spaced(word)) for word in _SPACED),
)
"""In this order: a longer form before the shorter one."""
