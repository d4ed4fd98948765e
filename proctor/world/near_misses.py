"""Tools that a world does not have but might: made of the words of those it has, to see whether an agent tells."""

from __future__ import annotations

from typing import NamedTuple

from proctor.effects import READ_VERBS
from proctor.world.kind import WorldKind


class NearMiss(NamedTuple):
    """A name that is no tool, and the tool whose arguments it seems to take."""

    name: str
    like: str
    description: str


def near_misses(kind: WorldKind) -> list[NearMiss]:
    """Every near miss of a world, in a fixed order: the verb of one tool with the object of another."""
    split = [name.split("_", 1) for name in kind.tools if "_" in name]
    found: dict[str, NearMiss] = {}
    for distance in range(1, len(split)):
        for at, (verb, _) in enumerate(split):
            other, thing = split[(at + distance) % len(split)]
            name = f"{verb}_{thing}"
            same_meaning = {verb, other} <= READ_VERBS  # an agent that takes get_order for query_order is not wrong
            if name not in kind.tools and name not in found and not same_meaning:
                said = f"{verb.capitalize()} the {thing.replace('_', ' ')}."
                found[name] = NearMiss(name, f"{other}_{thing}", said)
    return list(found.values())
