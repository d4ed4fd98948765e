"""Whose model a name is, by exact token through providers, gateways and aliases; a tuned model is its base's too.

A judge of the agent's own vendor thinks too well of it, so both are told apart before any call, and what is not
known is refused, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.vendor_table import BARE, GATEWAYS, LINES, LONGEST, MAKERS, ROUTES, SEVERAL, Line

STAND_IN = "stand-in"
_PARTS = re.compile(r"[/@\s,()]+|(?<=[a-z])\.(?=[a-z])")
"""Between the parts of a name: `bedrock/us.anthropic.claude-v2:1`."""
_TOKENS = re.compile(r"[a-z0-9]+")
_VERSIONED = re.compile(r"([a-z]{2,})v?[0-9]+(?:p[0-9]+)?[a-z]?")
_DISTILLED = re.compile(r"(?<![a-z])distill(?:ed)?(?![a-z])")
_LONGEST_NAME = 400
_SHOWN = 80


@dataclass(frozen=True)
class Families:
    """Who made a model: more than one where it was tuned or distilled, none where nobody can say."""

    name: str
    families: frozenset[str]
    provider: str
    """The gateway that the name begins with, as it stands there; empty where it begins with none."""
    why: str
    """Which word told each family, or why there is none."""


def families(name: str, vendor: str = "") -> Families:
    """The families of a model's name; `vendor` is who is said to make it, where that is known beside the name."""
    low = name.lower()[:_LONGEST_NAME]
    parts = [part for part in _PARTS.split(low) if part]
    provider = parts[0] if len(parts) > 1 and "/" in low and _plain(parts[0]) in GATEWAYS | ROUTES else ""
    read = parts[1:] if provider else parts
    lines = [line for part in read for line in _lines_of(part)]
    found = _first([*_owners(low, read), *((line.maker, word) for word, line in lines)])
    unknown = _base_of(lines, found)
    if len(found) == 1 and _DISTILLED.search(low):
        unknown = "it was distilled, and the name does not say from what into what"
    declared = _maker_of(vendor.lower())
    if declared:
        found.setdefault(declared, "declared")
    shown = name[:_SHOWN].encode("utf-8", "backslashreplace").decode() or "no name"
    if not found:
        unknown = "no word in it names a known line of models"
    if unknown:
        return Families(name, frozenset(), provider, f"{shown}: {unknown}")
    why = ", ".join(f"{family} ({word})" for family, word in sorted(found.items()))
    return Families(name, frozenset(found), provider, f"{shown}: {why}")


def conflict(agent: Families | str, judge: Families | str) -> str:
    """Why that judge may not judge that agent: one vendor's, or one of them is unknown. Empty where it may.

    A stand-in may judge a stand-in: no vendor stands behind either.
    """
    agent, judge = _families(agent), _families(judge)
    for role, each in (("agent", agent), ("judge", judge)):
        if not each.families:
            return f"nobody can say whose model the {role} is ({each.why})"
    shared = sorted((agent.families & judge.families) - {STAND_IN})
    if not shared:
        return ""
    return f"agent and judge are both {' and '.join(shared)} models: the agent is {agent.why}; the judge is {judge.why}"


def _first(said: list[tuple[str, str]]) -> dict[str, str]:
    """Of each maker the first word that named it."""
    return dict(reversed(said))


def _families(name: Families | str) -> Families:
    return families(name) if isinstance(name, str) else name


def _plain(part: str) -> str:
    return "".join(_TOKENS.findall(part))


def _maker_of(text: str) -> str:
    """Of a vendor's name on its own: `Mistral AI`, `openai`."""
    return MAKERS.get(_plain(text)) or BARE.get(_plain(text), "")


def _owners(name: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    """Makers that the whole name, or a whole part of it, names."""
    whole = _maker_of(name)
    if whole:
        yield whole, name.strip()
        return
    for part in parts:
        if maker := MAKERS.get(_plain(part)):
            yield maker, part


def _base_of(lines: list[tuple[str, Line]], found: dict[str, str]) -> str:
    """Adds whose model was tuned to `found` where the name names only the tuner; why not, where nobody can say."""
    tuned = {line.maker: (word, line.base) for word, line in lines if line.base}
    if found.keys() - tuned.keys():
        return ""
    for word, base in tuned.values():
        if base == SEVERAL:
            return f"`{word}` was tuned from several makers' models, and the name does not say from whose"
        found[base] = f"{word} was tuned from it"
    return ""


def _lines_of(part: str) -> Iterator[tuple[str, Line]]:
    """The lines that the tokens of one part name, the longest first, with the words that name them."""
    tokens = _TOKENS.findall(part)
    at, begins = 0, True
    while at < len(tokens):
        length, line = _line_at(tokens, at, begins)
        if line:
            yield "-".join(tokens[at : at + length]), line
        begins = begins and tokens[at] in MAKERS.keys() | GATEWAYS
        at += length


def _line_at(tokens: list[str], at: int, begins: bool) -> tuple[int, Line | None]:
    for length in range(min(LONGEST, len(tokens) - at), 0, -1):
        taken = tuple(tokens[at : at + length])
        line = LINES.get(taken) or LINES.get(tuple(map(_unversioned, taken)))
        if (
            line
            and (begins or not line.anchored)
            and (not line.versioned or _has_version(taken, tokens[at + length :]))
        ):
            return length, line
    return 1, None


def _has_version(taken: tuple[str, ...], after: list[str]) -> bool:
    return taken[-1] != _unversioned(taken[-1]) or not after or after[0][0].isdigit()


def _unversioned(token: str) -> str:
    match = _VERSIONED.fullmatch(token)
    return match.group(1) if match else token
