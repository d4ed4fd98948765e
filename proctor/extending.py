"""Appending new episodes to a tape: what stood on it stays as it is, and they come after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from proctor.cassette import Cassette, load_cassette
from proctor.encoding import decoded
from proctor.errors import CassetteTorn
from proctor.interaction import Headers, Interaction, header
from proctor.paths import Layout
from proctor.placeholders import numbers_in
from proctor.stamp import EXTENDS, JUDGE_SALT, tool_schemas


def extended_tape(layout: Layout, head: Mapping[str, Any]) -> Cassette | None:
    """The tape that the session of a journal extends; None where it extends none.

    Raises CassetteError where it cannot be read any more, or is another than when the session began.
    """
    facts = head.get(EXTENDS)
    if facts is None:
        return None
    old = load_cassette(layout, facts["tape"])
    if old.digest != facts["digest"]:
        raise CassetteTorn(
            "cassette_replaced",
            f"tape {old.name} was replaced while it was extended (its digest was {facts['digest']})",
            "restore it, then: proctor cassette recover",
        )
    return old


def extended(
    old: Cassette, episodes: tuple[Interaction, ...], head: Mapping[str, Any], stamp: Mapping[str, Any]
) -> Cassette:
    """The tape with its new episodes. `stamp` is that of a recording of these alone."""
    whole = (*old.interactions, *(_marked(episode) for episode in episodes))
    told = {"at": head["recorded_at"], "episodes": len(episodes)}
    facts = dict(old.stamp)
    if JUDGE_SALT in stamp:
        facts.setdefault(JUDGE_SALT, stamp[JUDGE_SALT])
    for name in ("services", "identities", "variables"):
        merged = {**stamp.get(name, {}), **facts.get(name, {})}
        if merged:
            facts[name] = merged
    schemas = tool_schemas(each for each in whole if each.request.service in head.get("llms", ()))
    if schemas:
        facts["tool_schemas"] = schemas
    placeholders = max(stamp.get("placeholders", 0), facts.get("placeholders", 0))
    if placeholders:
        facts["placeholders"] = placeholders
    return Cassette(old.name, whole, {**facts, "extended": [*facts.get("extended", ()), told]})


def in_places(indexes: Iterable[int], size: int, places: Mapping[int, int]) -> tuple[int, ...]:
    """Places on a tape of `size` interactions that is extended; higher numbers are those of exchanges, from 0 on.

    An exchange that is not kept has no place.
    """
    own = (each if each < size else places.get(each - size) for each in indexes)
    return tuple(sorted(each for each in own if each is not None))


def _marked(episode: Interaction) -> Interaction:
    """The episode, whose agent sends and gets placeholders of the tape, with `redacted` for these too."""
    request, response = episode.request, episode.response
    parts = {
        "request.target": request.target,
        "request.headers": _values(request.headers),
        "request.body": _text(request.headers, request.body),
        "response.headers": _values(response.headers),
        "response.body": _text(response.headers, response.body),
    }
    holding = {name for name, text in parts.items() if name in episode.redacted or numbers_in(text)}
    return replace(episode, redacted=tuple(name for name in parts if name in holding))


def _values(headers: Headers) -> str:
    return "\n".join(value for _, value in headers)


def _text(headers: Headers, body: bytes) -> str:
    plain = decoded(body, header(headers, "content-encoding"))
    return (body if plain is None else plain).decode("latin-1")
