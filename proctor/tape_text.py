"""A tape as text for people: JSON laid out, no digests, no times; two such texts differ where the tapes do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff

from proctor.cassette import Cassette
from proctor.interaction import Headers, Interaction, readable
from proctor.redaction.redactor import Redactor
from proctor.summary import label
from proctor.trace import body_value

_WITHOUT = frozenset({"digest", "sums", "times"})


def tape_lines(cassette: Cassette) -> list[str]:
    """The whole tape."""
    return list(_tape_lines(cassette))


def shown_interactions(cassette: Cassette) -> tuple[Interaction, ...]:
    """The interactions as people may see them: the credentials on a tape that vcrpy recorded stand in clear there."""
    if cassette.by == "proctor":
        return cassette.interactions
    redactor = Redactor.over(cassette.interactions)
    return tuple(redactor.interaction(interaction) for interaction in cassette.interactions)


def interaction_lines(interaction: Interaction) -> Iterator[str]:
    """One interaction as it went over the wire, bodies laid out."""
    request, response = interaction.request, interaction.response
    yield f"{request.service} {label(interaction)}: {interaction.effect} ({interaction.effect_why})"
    yield from _message(">", f"{request.method} {interaction.url}", request.headers, request.body)
    cut = "" if response.complete else "  (broke off)"
    yield from _message("<", f"{response.status} {response.reason}{cut}", response.headers, response.body)


def tape_diff(old: Cassette, new: Cassette, names: tuple[str, str] = ("before", "now")) -> list[str]:
    """A unified diff of two tapes' texts; empty where they read the same."""
    return list(unified_diff(tape_lines(old), tape_lines(new), *names, lineterm=""))


def _tape_lines(cassette: Cassette) -> Iterator[str]:
    for key, value in cassette.stamp.items():
        if isinstance(value, dict):
            yield from (f"{key}: {name} {_plain(each)}" for name, each in value.items())
        elif key not in _WITHOUT:
            yield f"{key}: {_plain(value)}"
    for interaction in shown_interactions(cassette):
        yield ""
        yield from interaction_lines(interaction)


def _message(mark: str, first: str, headers: Headers, body: bytes) -> Iterator[str]:
    yield f"{mark} {readable(first)}"
    yield from (f"{mark} {name}: {readable(value)}" for name, value in headers)
    if body:
        value = body_value(headers, body)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        yield f"{mark} ({len(body)} bytes)"
        yield from (f"{mark}   {readable(line)}" for line in text.splitlines())


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
