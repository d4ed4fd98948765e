"""The agent cites a clause: does the policy, or what a tool returned, hold it?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.check import CheckResult, Evidence
from proctor.checks.findings import at_words
from proctor.checks.masking import quote
from proctor.checks.outcomes import bounded, failed, not_assessable, passed
from proctor.checks.sentences import sentences
from proctor.checks.words import Text, WordsOf, words_of
from proctor.trajectory import Trajectory

_LABEL = r"(?:[A-Z]{1,4}[-.]?)?\d{1,4}(?:[.-]\d{1,3}){0,4}(?:\([a-z0-9]{1,4}\))?"
_ENGLISH = re.compile(
    rf"(?:\b(?P<kind>[Ss]ections?|[Aa]rticles?|[Cc]lauses?|[Pp]aragraphs?|[Rr]ules?|[Pp]olic(?:y|ies)|[Rr]egulations?|[Pp]rovisions?"
    rf"|SECTION|ARTICLE|CLAUSE|RULE|POLICY)\s+(?:[Nn]o\.?\s*|[Nn]umber\s+|#\s*)?|§{{1,2}}\s*)(?P<label>{_LABEL})(?![\w%])"
)
_KINDS = ("section", "article", "clause", "paragraph", "rule", "polic", "regulation", "provision", "§")
_CHINESE = re.compile(r"第\s*(?P<label>[0-9]{1,4}|[零一二三四五六七八九十百]{1,7})\s*(?P<kind>条|款|章|节|项)")
_NEVER = 1 << 62
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2}
_PLACES = {"十": 10, "百": 100}


@dataclass(frozen=True, slots=True)
class Citation:
    """A clause that a text names; the span is in the text."""

    start: int
    end: int
    kind: str
    label: str


@bounded
def cited_clause_exists(trajectory: Trajectory) -> CheckResult:
    """Each section, article, rule or clause that the agent cites stands in its policy or in an earlier tool result.

    What the user cites is no knowledge: an agent that repeats it as valid is found too.
    """
    words = words_of(trajectory)
    if not words.agent:
        return not_assessable("cited_clause_exists", "the agent said nothing", "a message of the agent's")
    cited = [(text, one) for text in words.agent for one in citations(text.text) if _is_meant(text, one)]
    if not cited:
        return passed("cited_clause_exists", "the agent cites no clause")
    if not words.given and not words.results:
        return not_assessable(
            "cited_clause_exists",
            "the agent cites a clause, and nothing tells which there are",
            "the policy, or what was looked up",
        )
    known: dict[tuple[str, str], int] = {}
    invented = [(text, one) for text, one in cited if _known_at(one, words, known) >= text.when]
    if not invented:
        return passed("cited_clause_exists", "every clause that is cited exists", (_at(*pair) for pair in cited))
    text, one = invented[0]
    more = f", and {len(invented) - 1} more" if len(invented) > 1 else ""
    message = f"the agent cites {quote(text.text, one.start, one.end)}, which neither policy nor results hold{more}"
    return failed("cited_clause_exists", message, (_at(*pair) for pair in invented))


def citations(text: str) -> Iterator[Citation]:
    """The clauses that a text names."""
    low = text.lower()
    for found in _ENGLISH.finditer(text) if any(word in low for word in _KINDS) else ():
        kind = (found["kind"] or "section").lower()
        yield Citation(*found.span(), {"policies": "policy"}.get(kind, kind.removesuffix("s")), found["label"])
    if not text.isascii():
        for found in _CHINESE.finditer(text):
            yield Citation(*found.span(), found["kind"], str(_number(found["label"])))


def _is_meant(text: Text, one: Citation) -> bool:
    """Said as a fact: `there is no section 9` cites nothing."""
    for sentence in sentences(text.text):
        if sentence.start <= one.start < sentence.start + len(sentence.text):
            before = sentence.text[: one.start - sentence.start]
            return not re.search(r"\b(?:no|not|any|which)\b[^,]{0,12}$|没有[^，]{0,6}$|不存在", before)
    return True


def _known_at(one: Citation, words: WordsOf, known: dict[tuple[str, str], int]) -> int:
    """The first step at which a source holds the clause: -1 for the policy, past the end where none does."""
    key = (one.kind, one.label.lower())
    if key not in known:
        if any(_holds(source, one) for source in words.given):
            known[key] = -1
        else:
            known[key] = next((text.when for text in words.results if _holds(text.text, one)), _NEVER)
    return known[key]


def _holds(source: str, one: Citation) -> bool:
    if any(other.label.lower() == one.label.lower() and _alike(other.kind, one.kind) for other in citations(source)):
        return True
    label = re.escape(one.label)
    if one.kind in ("条", "款", "章", "节", "项") or one.label.isdigit():
        heading = rf"(?:^|\n)[ \t]*(?:#{{1,6}}[ \t]*)?[(（\[]?{label}[.、)）\]:：]"
    else:
        heading = rf"(?<![\w.-]){label}(?![\w-]|\.\d)"
    return re.search(heading, source, re.IGNORECASE) is not None


def _alike(kind: str, other: str) -> bool:
    """`Section 4` and `§ 4` are `clause 4` too; an article of the law is no rule of the house."""
    loose = {"section", "clause", "paragraph", "provision"}
    return kind == other or (kind in loose and other in loose)


def _number(label: str) -> int:
    if label.isascii():
        return int(label)
    total_, digit = 0, 0
    for character in label:
        if character in _PLACES:
            total_ += (digit or 1) * _PLACES[character]
            digit = 0
        else:
            digit = _DIGITS.get(character, 0)
    return total_ + digit


def _at(text: Text, one: Citation) -> Evidence:
    return at_words(text.step, text.text, one.start, one.end, text.field)
