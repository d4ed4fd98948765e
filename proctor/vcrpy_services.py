"""Serving a tape that vcrpy recorded: which service each of its recordings belongs to, and what must be said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from proctor.cassette import Cassette
from proctor.errors import CassetteError
from proctor.interaction import Interaction

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Adopted:
    """A tape of vcrpy's whose recordings belong to services, with what the summary must say of it."""

    cassette: Cassette
    notes: tuple[str, ...]


def adopted(cassette: Cassette, urls: Mapping[str, str]) -> Adopted:
    """Give each recording to the service whose URL it lies below, the longest one first.

    `urls` are the services' addresses by name. A recording of no service keeps its origin as service: it is never
    served, and a note says so. Raises CassetteError where no recording belongs to any.
    """
    bases = sorted(((name, urlsplit(url)) for name, url in urls.items()), key=lambda base: -len(base[1].path))
    found = tuple(_owned(interaction, bases) for interaction in cassette.interactions)
    strangers = Counter(each.request.service for each in found if each.request.service not in urls)
    if sum(strangers.values()) == len(found):
        raise CassetteError(
            "cassette_no_service",
            f"tape {cassette.name}, recorded by vcrpy, holds {_told(strangers)}, and no service has such a url",
            f'name one in proctor.toml: [services.NAME] url = "{next(iter(strangers))}"',
        )
    notes = [
        "recorded by vcrpy: services are found by host, answers come in recorded order, effects are guessed unless "
        "declared, credentials are not compared; it has no seal, so a shortened or edited tape cannot be told"
    ]
    if strangers:
        notes.append(f"never served, since no service has such a url: {_told(strangers)}")
    return Adopted(replace(cassette, interactions=found), tuple(notes))


def _owned(interaction: Interaction, bases: list[tuple[str, SplitResult]]) -> Interaction:
    asked = urlsplit(interaction.url)
    for name, base in bases:
        rest = interaction.request.target[len(base.path) :]
        below = interaction.request.target.startswith(base.path) and (not rest or rest[0] in "/?")
        if _host(asked) == _host(base) and below:
            return replace(interaction, request=replace(interaction.request, service=name, target=rest))
    return interaction


def _host(url: SplitResult) -> tuple[str | None, int | None]:
    return url.hostname, url.port or _PORTS.get(url.scheme)


def _told(strangers: Counter[str]) -> str:
    return ", ".join(f"{count} of {origin}" for origin, count in strangers.items())
