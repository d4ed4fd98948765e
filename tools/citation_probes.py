"""Quotes cut from transcripts, many of them altered as a careless or hostile judge would, with what each deserves.

What a probe deserves is told by `deserves`, which is written apart from the code under test, and slowly. Seeded.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.rubric import Criterion, EvidenceKind, Level
from tools import citation_changes as changes

_LEVELS = tuple(Level(score=score, anchor=f"anchor {score}") for score in range(3))
EVERYTHING = Criterion(
    id="conduct",
    title="Conduct",
    question="Was every step right?",
    kind="conduct",
    levels=_LEVELS,
    evidence=("user", "agent", "thought", "tool_call", "tool_result"),
    weight=50,
)
OUTCOME = Criterion(
    id="outcome",
    title="Outcome",
    question="Was the goal reached?",
    kind="outcome",
    levels=_LEVELS,
    evidence=("tool_call", "tool_result"),
    weight=50,
)

_CJK_RUN = re.compile(r"[\u4e00-\u9fff]{5,}")


@dataclass(frozen=True)
class Probe:
    """One citation, and what it deserves."""

    kind: str
    transcript: Transcript
    step: int
    quote: str
    pointer: str
    criterion: Criterion
    accept: bool


@dataclass(frozen=True)
class _Cut:
    """A verbatim quote and where it was cut."""

    transcript: Transcript
    step: ShownStep
    passage: Passage
    quote: str


def probes(transcripts: Sequence[Transcript], count: int, seed: int = 8) -> Iterator[Probe]:
    """So many probes, every kind in turn where a transcript has what it takes."""
    rng = random.Random(seed)  # noqa: S311 - examples, no secret
    chinese = [each for each in transcripts if any(_CJK_RUN.search(p.text) for s in each.steps for p in s.passages)]
    kinds = list(_KINDS.items())
    made = tried = 0
    while made < count:
        name, make = kinds[tried % len(kinds)]
        source = rng.choice(chinese if chinese and rng.random() < 0.25 else transcripts)
        tried += 1
        cut = _cut(rng, source)
        probe = make(rng, name, cut, transcripts) if cut else None
        if probe:
            made += 1
            yield probe


def deserves(transcript: Transcript, step: int, quote: str, kinds: tuple[EvidenceKind, ...]) -> bool:
    """Whether the quote, without a pointer, is evidence: character by character, by the definition in DESIGN 7."""
    wanted = _plainly(quote)
    stripped = "".join(each for each in wanted if unicodedata.category(each) != "Cf").strip(" ")
    if len(stripped) < 12 and sum("\u4e00" <= character <= "\u9fff" for character in stripped) < 5:
        return False
    return any(
        wanted in _plainly(passage.text)
        for each in transcript.steps
        if each.index == step and step not in transcript.omitted
        for passage in each.passages
        if passage.kind in kinds
    )


def _plainly(text: str) -> str:
    written: list[str] = []
    for character in text:
        if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
            if written[-1:] != [" "]:
                written.append(" ")
        else:
            written.append(
                {"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"'}.get(
                    character, character
                )
            )
    return "".join(written)


def _cut(rng: random.Random, transcript: Transcript) -> _Cut | None:
    places = [(step, passage) for step in transcript.steps for passage in step.passages if len(passage.text) >= 12]
    if not places:
        return None
    step, passage = rng.choice(places)
    length = rng.choice((12, 13, 20, 40, 80, 200))
    begin = rng.randrange(max(1, len(passage.text) - length + 1))
    cut = passage.text[begin : begin + length]
    if len(_plainly(cut).strip(" ")) < 12:
        return None
    return _Cut(transcript, step, passage, cut)


Make = Callable[[random.Random, str, _Cut, Sequence[Transcript]], Probe | None]


def _probe(
    name: str, cut: _Cut, quote: str, *, step: int | None = None, must: bool | None = None, **more: object
) -> Probe:
    at = cut.step.index if step is None else step
    criterion = more.get("criterion", EVERYTHING)
    assert isinstance(criterion, Criterion)
    accept = deserves(cut.transcript, at, quote, criterion.evidence)
    if must is not None and accept is not must:
        raise AssertionError(f"{name}: {quote!r} should{'' if must else ' not'} be evidence")
    return Probe(name, cut.transcript, at, quote, "", criterion, accept)


def _altered(change: Callable[[random.Random, str], str | None]) -> Make:
    """A quote that was changed: evidence only if it happens to stand there as well."""

    def make(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
        quote = change(rng, cut.quote)
        return None if quote is None or quote == cut.quote else _probe(name, cut, quote)

    return make


def _respelt(change: Callable[[random.Random, str], str | None]) -> Make:
    """A quote that only the fold tells from the text: evidence."""

    def make(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
        quote = change(rng, cut.quote)
        return None if quote is None or quote == cut.quote else _probe(name, cut, quote, must=True)

    return make


def _verbatim(_: random.Random, name: str, cut: _Cut, __: Sequence[Transcript]) -> Probe | None:
    return _probe(name, cut, cut.quote, must=True)


def _whole_passage(_: random.Random, name: str, cut: _Cut, __: Sequence[Transcript]) -> Probe | None:
    return _probe(name, cut, cut.passage.text, must=True)


def _chinese_words(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    runs = list(_CJK_RUN.finditer(cut.passage.text))
    if not runs:
        return None
    run = rng.choice(runs).group()
    begin = rng.randrange(len(run) - 4)
    return _probe(name, cut, run[begin : begin + rng.randint(5, 11)], must=True)


def _chinese_word(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    runs = list(_CJK_RUN.finditer(cut.passage.text))
    return _probe(name, cut, rng.choice(runs).group()[: rng.randint(1, 4)], must=False) if runs else None


def _spliced(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    other = _cut(rng, cut.transcript)
    if not other:
        return None
    joint = rng.choice((" ... ", "...", "…", " […] ", "\n", " "))
    return _probe(name, cut, cut.quote[:30] + joint + other.quote[-30:])


def _other_step(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    return _probe(name, cut, cut.quote, step=rng.choice([step.index for step in cut.transcript.steps]))


def _no_step(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    most = cut.transcript.steps[-1].index
    return _probe(name, cut, cut.quote, step=rng.choice((-1, most + 1, most + 40, 10**12)), must=False)


def _omitted(_: random.Random, name: str, cut: _Cut, __: Sequence[Transcript]) -> Probe | None:
    at = cut.step.index
    rest = tuple(step for step in cut.transcript.steps if step.index != at)
    without = replace(cut.transcript, steps=rest, omitted=frozenset({at}))
    return _probe(name, replace(cut, transcript=without), cut.quote, must=False)


def _other_run(rng: random.Random, name: str, cut: _Cut, transcripts: Sequence[Transcript]) -> Probe | None:
    other = _cut(rng, rng.choice(transcripts))
    return _probe(name, cut, other.quote) if other else None


def _other_role(_: random.Random, name: str, cut: _Cut, __: Sequence[Transcript]) -> Probe | None:
    return _probe(name, cut, cut.quote, criterion=OUTCOME)


def _from_policy(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    policy = cut.transcript.policy
    if len(policy) < 40:
        return None
    begin = rng.randrange(len(policy) - 39)
    return _probe(name, cut, policy[begin : begin + 40])


def _short(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    quote = cut.quote[: rng.randint(1, 11)]
    if len(_CJK_RUN.findall(quote)) or _is_whole(cut, quote):
        return None
    return _probe(name, cut, quote)


def _placeholder(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    quote = rng.choice(
        ("", " ", "\n", '""', "''", "...", "…", "N/A", "n/a", "OK", "none", "None", "-", "null", "无", "   " * 9)
    )
    return None if _is_whole(cut, quote) else _probe(name, cut, quote, must=False)


def _is_whole(cut: _Cut, quote: str) -> bool:
    """Whether it may be a whole leaf without a pointer, which these probes are not about."""
    return any(passage.text.strip() == quote.strip() for passage in cut.step.passages)


def _leaf(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    leaves = _leaves_of(cut.passage)
    if not leaves:
        return None
    pointer, written = rng.choice(leaves)
    return Probe(name, cut.transcript, cut.step.index, written, pointer, EVERYTHING, True)


def _wrong_leaf(rng: random.Random, name: str, cut: _Cut, _: Sequence[Transcript]) -> Probe | None:
    """The text of one leaf at another's pointer, or a leaf cut short: evidence only where it is long enough."""
    leaves = _leaves_of(cut.passage)
    if len(leaves) < 2:
        return None
    (pointer, one), (_at, other) = rng.sample(leaves, 2)
    quote = rng.choice((other, one[:-1], one + "0"))
    if quote.strip('"') == one.strip('"') or not quote.strip():
        return None
    if any(pointer == at and text == quote for p in cut.step.passages for at, text in _leaves_of(p)):
        return None
    accept = deserves(cut.transcript, cut.step.index, quote, EVERYTHING.evidence)
    return Probe(name, cut.transcript, cut.step.index, quote, pointer, EVERYTHING, accept)


def _leaves_of(passage: Passage) -> list[tuple[str, str]]:
    """Pointers of short leaves that no key stands twice above, with the leaf as it is written, or as it says."""
    text = passage.text.split(" ", 1)[-1] if passage.kind == "tool_call" else passage.text
    twice = False

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal twice
        twice = twice or len({key for key, _ in pairs}) < len(pairs)
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_int=_Raw, parse_float=_Raw, parse_constant=_Raw)
    except ValueError:
        return []
    return [] if twice else list(_walk(value, ""))


class _Raw(str):
    """A number as it is written."""

    __slots__ = ()


def _walk(value: object, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _walk(below, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _walk(below, f"{pointer}/{index}")
    elif isinstance(value, bool) or value is None:
        yield pointer, json.dumps(value)
    elif str(value).strip():
        yield pointer, str(value)


_KINDS: dict[str, Make] = {
    "verbatim": _verbatim,
    "whole passage": _whole_passage,
    "chinese words": _chinese_words,
    "chinese word": _chinese_word,
    "other spaces": _respelt(changes.spaces),
    "other quotation marks": _respelt(changes.quotes),
    "leaf": _leaf,
    "wrong leaf": _wrong_leaf,
    "digit": _altered(changes.digit),
    "negation": _altered(changes.negation),
    "homoglyph": _altered(changes.homoglyph),
    "zero width": _altered(changes.inserted(changes.INVISIBLE)),
    "bidi": _altered(changes.inserted(changes.BIDI)),
    "full width": _altered(changes.full_width),
    "case": _altered(changes.other_case),
    "compatibility form": _altered(changes.other_form),
    "other mark": _altered(changes.other_mark),
    "word gone": _altered(changes.word_gone),
    "space gone": _altered(changes.space_gone),
    "spliced": _spliced,
    "other step": _other_step,
    "no such step": _no_step,
    "omitted": _omitted,
    "other run": _other_run,
    "other role": _other_role,
    "from policy": _from_policy,
    "short": _short,
    "placeholder": _placeholder,
}
KINDS = tuple(_KINDS)
