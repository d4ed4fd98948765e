"""Names of models and vendors out of a text, in every way in which a judge could read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proctor.judge.name_table import NAMES, Kind, Name
from proctor.judge.showing import as_latin
from proctor.sensitive.readings import Reading, is_encoded, readings

ASSISTANT = "[the assistant]"
"""Stands for a bare product name: what the agent calls itself. Others are `[model 1]`, `[vendor 1]`, by first use."""
_STANDS_FOR: dict[Kind, str] = {"assistant": "", "model": "model", "vendor": "vendor"}
_BESIDE = 80
"""Characters around a name in which words are looked for that make it an ordinary one."""
_ENCODED = 16
_ROUNDS = 6
_VERSIONED = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Found:
    """A name and its span in the text as it is written."""

    start: int
    end: int
    kind: Kind
    name: str


class Names:
    """What stands for each name in one run: the same everywhere in it."""

    def __init__(self, texts: Iterable[str]) -> None:
        """`texts` are all of the run: what no rule could match in any of them is not looked for again."""
        self.given: dict[str, str] = {}
        self.clean: set[str] = set()
        """Texts that were looked through whole, and hold none."""
        self._rules = rules_for(texts)

    def blinded(self, text: str) -> str:
        """The text without names. A text that this gave stays as it is."""
        for _ in range(_ROUNDS):
            found = list(names_in(text, self._rules))
            if not found:
                self.clean.add(text)
                break
            parts, at = [], 0
            for one in found:
                parts += [text[at : one.start], self._stand_in(one)]
                at = one.end
            text = "".join([*parts, text[at:]])
        return text

    def _stand_in(self, found: Found) -> str:
        name = re.sub(r"[\s_-]+", "-", found.name.casefold()).strip("-")
        if name not in self.given:
            word = _STANDS_FOR[found.kind] or ("model" if _VERSIONED.search(name) else "")
            number = 1 + sum(each.startswith(f"[{word} ") for each in self.given.values())
            self.given[name] = f"[{word} {number}]" if word else ASSISTANT
        return self.given[name]


def rules_for(texts: Iterable[str]) -> list[Name]:
    """The rules that could match in one of the texts as it stands: one quick look at all of them together."""
    return _signed(as_latin("\n".join(texts)), NAMES)


def names_in(text: str, rules: Sequence[Name]) -> Iterator[Found]:
    """The names in order of place, none over another. `rules` are for the text as it stands; what it hides gets all."""
    hides = not text.isascii() or is_encoded(text, _ENCODED)
    if not hides and not rules:
        return
    every = list(readings(text, over_breaks=False, shortest=_ENCODED)) if hides else [Reading(text)]
    hidden = _signed("\n".join(as_latin(each.text) for each in every if each.text != text), NAMES)
    found: list[Found] = []
    for reading in every:
        plain = as_latin(reading.text)
        for rule in _signed(plain, rules if reading.text == text else hidden):
            found += (
                Found(*reading.span(start, end), rule.kind, plain[start:end]) for start, end in _matches(rule, plain)
            )
    yield from _apart(found)


def _signed(text: str, rules: Sequence[Name]) -> list[Name]:
    if not rules or not text:
        return []
    low = text.lower()
    return [rule for rule in rules if any(sign in low for sign in rule.signs)]


def _matches(rule: Name, text: str) -> Iterator[tuple[int, int]]:
    group = "name" if "name" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        start, end = match.span(group)
        end = start + len(text[start:end].rstrip(" .:-_/@"))
        if start < end and not (rule.unless and rule.unless.search(text, max(0, start - _BESIDE), end + _BESIDE)):
            yield start, end


def _apart(found: list[Found]) -> Iterator[Found]:
    """Of finds that overlap the widest, and the first of equal ones."""
    last: Found | None = None
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if last is not None and one.start < last.end:
            last = Found(last.start, max(last.end, one.end), last.kind, last.name)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last
