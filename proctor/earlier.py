"""What a recording keeps of an earlier tape: answers that are taken over, or only the numbers of its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.cassette import Cassette, load_cassette
from proctor.errors import CassetteError
from proctor.paths import Layout
from proctor.placeholders import numbers_of
from proctor.redaction.numbering import AsBefore, places_on
from proctor.redaction.rules import Rules
from proctor.stamp import BEFORE


def facts_of(cassette: Cassette) -> dict[str, Any]:
    """What sealing needs to know of an earlier tape, also after a kill, as plain data."""
    stamp = cassette.stamp
    return {
        "tape": cassette.name,
        "digest": cassette.digest,
        "recorded_at": cassette.recorded_at,
        "placeholders": stamp.get("placeholders", 0),
        "services": stamp.get("services", {}),
        "identities": stamp.get("identities", {}),
        "variables": stamp.get("variables", {}),
    }


def named_secrets(head: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, str]:
    """Today's secrets, by value, that the earlier tape names by variable or identity: their placeholders there."""
    variables = facts.get("variables", {})
    found = {value: variables[name] for value, name in head.get("variables", {}).items() if name in variables}
    for service, values in head.get("identities", {}).items():
        names = facts.get("identities", {}).get(service, {})
        found.update({value: names[name] for name, value in values.items() if name in names})
    return found


def numbers_before(layout: Layout, head: Mapping[str, Any], rules: Rules) -> AsBefore:
    """The numbers that a tape's secrets had before it is recorded again.

    By name only where the tape's file is not any more what it was when the recording began.
    """
    facts = head[BEFORE]
    named = {secret: min(numbers_of(put), default=0) for secret, put in named_secrets(head, facts).items()}
    by_value = {secret: number for secret, number in named.items() if number}
    try:
        old = load_cassette(layout, facts["tape"])
    except CassetteError:
        return AsBefore(by_value)
    if old.digest != facts["digest"]:
        return AsBefore(by_value)
    return AsBefore(by_value, places_on(old.interactions, rules, facts["placeholders"]))
