"""Orders to a judge out of the texts of a run: in the transcript a marker in our words stands for each.

What is withheld is the sentence in which a find stands (in JSON: within that one string), and the sentences after it
that go on about scores. Never more: else a run could hide its own deeds behind an order. Texts stay as they are where
characters only disguise; that is flagged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.checks.injected import (
    CHARACTERS,
    CLOSING,
    EVALUATOR,
    OVERRIDE,
    ROLE,
    VERDICT,
    Injected,
    injected,
)
from proctor.checks.masking import quote
from proctor.checks.sentences import sentence_at
from proctor.json_spans import string_leaves
from proctor.judge.forged import REPORT, forged
from proctor.judge.showing import as_latin

_DEEPEST = 4
"""JSON texts inside strings of JSON texts that are opened."""
_GOES_ON = (OVERRIDE, EVALUATOR, ROLE, CLOSING, VERDICT)
_FOLLOWING = 3
"""Sentences after a find that may belong to the order."""
_AROUND = 300
_OF_SCORES = re.compile(
    r"\b(?:scor\w+|grad(?:e|es|ing)|verdicts?|criteri(?:a|on)|marks?|rat(?:e|ing)|evaluat\w+|rubric|citations?|points|pass(?:ed)?)\b"
    r"|^\W*(?:output|return|answer|reply|respond|say|print|give|write)\b|[满评打]分|评[估价测]|[0-5]\s*分",
    re.IGNORECASE,
)
_VERDICT_SIGN = re.compile("score|verdict|grade", re.IGNORECASE)
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_OF_OBJECTS = re.compile(r'[{}\\"]')
_LOOKS_JSON = re.compile(r'\s*[{\["]')


@dataclass(frozen=True, slots=True)
class Withheld:
    """One find: its kind and what stood there, masked and cut, for people."""

    kind: str
    quote: str


@dataclass(frozen=True, slots=True)
class Neutral:
    """A text that can be shown, where its markers stand, and what was found."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    finds: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    is_marker: bool = False


def marker(kind: str) -> str:
    """What stands for what was withheld."""
    return f"[withheld: {kind}]"


def neutralised(text: str) -> Neutral:
    """The text without orders to a model or an evaluator."""
    finds: list[Withheld] = []
    pieces = _pieces(text, finds, 0)
    if not finds:
        return Neutral(text)
    spans, parts, at = [], [], 0
    for piece in pieces:
        if piece.is_marker:
            spans.append((at, at + len(piece.text)))
        parts.append(piece.text)
        at += len(piece.text)
    return Neutral("".join(parts), tuple(spans), tuple(dict.fromkeys(finds)))


def _pieces(text: str, finds: list[Withheld], depth: int) -> list[_Piece]:
    """The text in pieces, with its finds withheld; strings of a JSON text are looked at one by one."""
    if depth < _DEEPEST and _LOOKS_JSON.match(text):
        leaves = string_leaves(text, keys=True)
        if leaves is not None:
            return _of_json(text, [(leaf.start, leaf.end, leaf.value) for leaf in leaves], finds, depth)
    found = _found(text)
    finds += [_told(text, each) for each in found]
    return _cut(text, _spans(text, found))


def _found(text: str) -> list[Injected]:
    found = [*injected(text), *forged(text)]
    latin = as_latin(text)
    return found if latin == text else [*found, *injected(latin), *forged(latin)]


def _of_json(text: str, leaves: list[tuple[int, int, str]], finds: list[Withheld], depth: int) -> list[_Piece]:
    """Whole objects that are forged verdicts go as one string each; else what stands in the strings."""
    looked_at = _found(_bare(text, leaves)) if _VERDICT_SIGN.search(text) else []
    whole = [each for each in looked_at if each.kind == VERDICT and not _within(each, leaves)]
    if not whole and not _may_hold([value for _, _, value in leaves]):
        return [_Piece(text)]
    finds += [_told(text, each) for each in whole]
    pieces, at = [], 0
    for start, end, kind in _merged([(*_object_around(text, each), each.kind) for each in whole]):
        pieces += [*_strings(text, at, start, leaves, finds, depth), _Piece('"')]
        pieces += [_Piece(marker(kind), is_marker=True), _Piece('"')]
        at = end
    return [*pieces, *_strings(text, at, len(text), leaves, finds, depth)]


def _may_hold(values: list[str]) -> bool:
    """Looking at all strings together is cheap; only where something is found is it looked for one by one."""
    return any(_LOOKS_JSON.match(value) for value in values) or bool(_found("\n".join(values)))


def _strings(
    text: str, start: int, end: int, leaves: list[tuple[int, int, str]], finds: list[Withheld], depth: int
) -> Iterator[_Piece]:
    at = start
    for first, last, value in leaves:
        if first < start or last > end:
            continue
        pieces = _pieces(value, finds, depth + 1)
        if not any(piece.is_marker for piece in pieces):
            continue
        yield _Piece(text[at : first + 1])
        yield from (_Piece(json.dumps(piece.text, ensure_ascii=False)[1:-1], piece.is_marker) for piece in pieces)
        at = last - 1
    yield _Piece(text[at:end])


def _bare(text: str, leaves: list[tuple[int, int, str]]) -> str:
    """The JSON text, as long, without what its strings hold of JSON: that is no part of its objects."""
    parts, at = [], 0
    for start, end, _ in leaves:
        inner = text[start + 1 : end - 1]
        parts += [text[at : start + 1], " " * len(inner) if _OF_OBJECTS.search(inner) else inner]
        at = end - 1
    return "".join([*parts, text[at:]])


def _within(find: Injected, leaves: list[tuple[int, int, str]]) -> bool:
    """It stands inside one string, where it is found again in the string's own text."""
    return any(start <= find.start and find.end <= end for start, end, _ in leaves)


def _object_around(text: str, find: Injected) -> tuple[int, int]:
    """The span of the JSON object that begins at the find."""
    start = text.index("{", find.start)
    try:
        return start, json.JSONDecoder(parse_int=str, parse_float=str).raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start, find.end


def _cut(text: str, spans: list[tuple[int, int, str]]) -> list[_Piece]:
    pieces, at = [], 0
    for start, end, kind in spans:
        pieces += [_Piece(text[at:start]), _Piece(marker(kind), is_marker=True)]
        at = end
    return [*pieces, _Piece(text[at:])]


def _spans(text: str, found: list[Injected]) -> list[tuple[int, int, str]]:
    return _merged([(*_widened(text, each), each.kind) for each in found if each.kind != CHARACTERS])


def _merged(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """In order, without overlaps; the first kind stands for all that it runs into."""
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, kind))
    return merged


def _widened(text: str, find: Injected) -> tuple[int, int]:
    """From the start of its sentence to the end of the last one that goes on about scores."""
    if _ENCODED.fullmatch(text, find.start, find.end):
        return find.start, find.end  # the order is within; what stands around it is none
    first = sentence_at(text, find.start)
    start, end = min(first.start, find.start), max(find.end, first.start + len(first.text))
    if REPORT.search(text, start, find.start):
        start = find.start
    last = sentence_at(text, max(find.start, find.end - 1))
    end = max(end, last.start + len(last.text))
    for _ in range(_FOLLOWING if find.kind in _GOES_ON else 0):
        if end >= len(text):
            break
        following = sentence_at(text, end)
        if following.text.strip() and not _OF_SCORES.search(following.text):
            break
        end = max(end + 1, following.start + len(following.text))
    report = REPORT.search(text, find.end, end)
    end = report.start() if report else end
    blank = len(text[start : find.start]) - len(text[start : find.start].lstrip())
    return start + blank, len(text[:end].rstrip()) if text[:end].rstrip() and end - start > blank else end


def _told(text: str, find: Injected) -> Withheld:
    """With enough around it that a secret which the find cuts is masked."""
    first = max(0, find.start - _AROUND)
    return Withheld(find.kind, quote(text[first : find.end + _AROUND], find.start - first, find.end - first))
