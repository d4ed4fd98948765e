"""Which identities a tape has: the placeholders of the credentials that its requests carried."""

from __future__ import annotations

from collections import defaultdict

from proctor.cassette import Cassette
from proctor.credentials import credentials_of
from proctor.placeholders import DUMMY_KEY


def recorded_identities(cassette: Cassette) -> dict[str, dict[str, set[str]]]:
    """By service, then kind of credential: every placeholder that a recorded request carried."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for interaction in cassette.interactions:
        for credential in credentials_of(interaction.request.headers):
            found[interaction.request.service][credential.kind].add(credential.value)
    return found


def named_identities(cassette: Cassette, service: str) -> dict[str, str]:
    """Names of the tape's identities for a service, with their placeholders."""
    stamped = cassette.stamp.get("identities", {})
    return dict(stamped.get(service, {})) if isinstance(stamped, dict) else {}


def recorded_variables(cassette: Cassette) -> dict[str, str]:
    """The secret variables that the tape was recorded with, by name: the placeholder of what each held."""
    stamped = cassette.stamp.get("variables", {})
    return {str(name): str(value) for name, value in stamped.items()} if isinstance(stamped, dict) else {}


def dummy_keys(cassette: Cassette) -> dict[str, dict[str, str]]:
    """What a launcher can hand out in replay, by service, then name: named identities, and "" for the only token."""
    if cassette.by == "vcrpy":  # its credentials stand in clear, and none is compared
        return {service: {"": DUMMY_KEY} for service in cassette.services}
    found: dict[str, dict[str, str]] = {}
    for service, kinds in recorded_identities(cassette).items():
        tokens = kinds.get("token", set())
        only = {"": next(iter(tokens))} if len(tokens) == 1 else {}
        found[service] = {**only, **named_identities(cassette, service)}
    return found
