"""Every effect that recorded calls have, and what of the configuration would confirm those that were guessed."""

from __future__ import annotations

import glob
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from proctor.effects import effect_today, tool_today
from proctor.interaction import Effect, Interaction, readable
from proctor.placeholders import numbers_in
from proctor.service_config import ServiceConfig
from proctor.trace import EffectSeen

_ID = re.compile(r"\d+|[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TOKEN = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)
"""Of a pattern: `*`, `?`, a set like `[abc]`, or a character."""


class Confirmation(NamedTuple):
    """What makes the guessed effects of one service declared ones: the entries to add to its lists, sorted."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def effects_seen(services: Mapping[str, ServiceConfig], interactions: Iterable[Interaction]) -> tuple[EffectSeen, ...]:
    """One entry for each call with one effect and one reason, by today's configuration; sorted."""
    counted = Counter(
        (each.request.service, call_name(each, tool_today(services, each)), *effect_today(services, each))
        for each in interactions
    )
    return tuple(
        EffectSeen(service=service, name=name, effect=effect, why=why, count=count)
        for (service, name, effect, why), count in sorted(counted.items())
    )


def call_name(interaction: Interaction, tool: str | None) -> str:
    """The tool, else `METHOD /path`, with `*` for each id within the path, so that one call is listed once.

    The last part stays as it is: the guess is made from it.
    """
    if tool is not None:
        return readable(tool)
    *parents, last = readable(interaction.request.target.partition("?")[0] or "/").split("/")
    kept = [*("*" if _ID.fullmatch(part) or numbers_in(part) else part for part in parents), last]
    return f"{interaction.request.method} {'/'.join(kept)}"


def confirmations(services: Mapping[str, ServiceConfig], seen: Iterable[EffectSeen]) -> dict[str, Confirmation]:
    """By service, the entries that declare what was guessed.

    A guess is left out where its service is not configured, or where the entry might name a call whose effect is
    another one, by what is declared or by its method.
    """
    entries = tuple(seen)
    found: dict[str, tuple[set[str], set[str]]] = {}
    for each in entries:
        service = services.get(each.service)
        if each.why != "guessed" or service is None or numbers_in(each.name):
            continue
        pattern = _pattern(each.name)
        others = [
            *(one.name for one in entries if one.service == each.service and _known_otherwise(one, each.effect)),
            *(service.reads if each.effect == "write" else ()),  # writes go first, so reads can change nothing
        ]
        if not any(_may_both_name(pattern, other) for other in others):
            found.setdefault(each.service, (set(), set()))[each.effect == "write"].add(pattern)
    return {name: Confirmation(tuple(sorted(reads)), tuple(sorted(writes))) for name, (reads, writes) in found.items()}


def toml_lines(services: Mapping[str, ServiceConfig], confirmed: Mapping[str, Confirmation]) -> tuple[str, ...]:
    """The lines of `proctor.toml` that say it, with what the lists hold already."""
    lines = []
    for name, added in confirmed.items():
        held = Confirmation(services[name].reads, services[name].writes)
        lines.append(f"[services.{name}]")
        for key, old, new in zip(Confirmation._fields, held, added, strict=True):
            if new:
                lines.append(f"{key} = [{', '.join(json.dumps(each, ensure_ascii=False) for each in (*old, *new))}]")
    return tuple(lines)


def _pattern(name: str) -> str:
    """The entry that names exactly this: what is special in a pattern is escaped, but for the `*` within a path."""
    return name.replace("[", "[[]") if " /" in name else glob.escape(name)


def _known_otherwise(seen: EffectSeen, effect: Effect) -> bool:
    return seen.why != "guessed" and seen.effect != effect


def _may_both_name(one: str, two: str) -> bool:
    """Whether there can be a call that both patterns name."""
    if (" /" in one) != (" /" in two):  # one of them says no method
        one, two = ((each.partition(" /")[2] if " /" in each else each).strip("/") for each in (one, two))
    return _meet(one, two)


def _meet(one: str, two: str) -> bool:
    """Whether a text can fit both patterns; a set of characters counts as any."""
    left, right = _TOKEN.findall(one), _TOKEN.findall(two)
    todo, seen = [(0, 0)], set()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        a, b = (tokens[place : place + 1] for tokens, place in zip((left, right), at, strict=True))
        if not a and not b:
            return True
        if a == ["*"] or b == ["*"]:
            todo += [(at[0] + 1, at[1])] if a else []
            todo += [(at[0], at[1] + 1)] if b else []
        elif a and b and (a == b or any(each == "?" or len(each) > 1 for each in (*a, *b))):
            todo.append((at[0] + 1, at[1] + 1))
    return False
