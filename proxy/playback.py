"""A tape, indexed: which recordings may answer a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from proctor.cassette import Cassette
from proctor.config import Config
from proctor.credentials import credentials_of
from proctor.effects import EffectFound, effect_of, tool_of
from proctor.identities import recorded_identities
from proctor.interaction import Headers, Request
from proctor.matchkey import CanonicalKey, ExactKey, Identity, canonical_key, key_headers_of


@dataclass
class Tape:
    """A cassette with its index. The canonical keys are made for a path when an exact match first fails on it."""

    cassette: Cassette
    config: Config
    effects: list[EffectFound] = field(init=False)
    identities: dict[str, dict[str, set[str]]] = field(init=False)
    """By service, then kind of credential: the placeholders that the recorded requests carried."""
    _keys: list[tuple[Headers, Identity]] = field(init=False)
    _exact: dict[ExactKey, list[int]] = field(init=False)
    _by_path: dict[tuple[str, str, str], list[int]] = field(init=False)
    _canonical: dict[tuple[str, str, str], dict[CanonicalKey, list[int]]] = field(init=False, default_factory=dict)
    _twins: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the tape by exact keys, with the effects that today's configuration declares."""
        self.effects, self._keys = [], []
        self._exact, self._by_path = defaultdict(list), defaultdict(list)
        self.identities = recorded_identities(self.cassette)
        for position, interaction in enumerate(self.cassette.interactions):
            request = interaction.request
            self.effects.append(self._effect(position))
            credentials = credentials_of(request.headers)
            headers = key_headers_of(request.headers, self.declared(request.service))
            identity = identity_of(credential.value for credential in credentials)
            self._keys.append((headers, identity))
            key = ExactKey(request.service, request.method, request.target, headers, identity, request.body)
            self._exact[key].append(position)
            self._by_path[_place(request)].append(position)

    def exact(self, key: ExactKey) -> list[int] | None:
        """Positions recorded with exactly these bytes."""
        return self._exact.get(key)

    def canonical(self, request: Request, key_headers: Headers, identity: Identity) -> list[int] | None:
        """Positions whose request means the same."""
        return self._index_of(_place(request)).get(canonical_key(request, key_headers, identity))

    def twins(self, position: int) -> list[int]:
        """Every position whose request means the same as this one's, itself included."""
        found = self._twins.get(position)
        if found is None:
            request = self.cassette.interactions[position].request
            key = canonical_key(request, *self._keys[position])
            found = self._twins[position] = self._index_of(_place(request))[key]
        return found

    def _index_of(self, place: tuple[str, str, str]) -> dict[CanonicalKey, list[int]]:
        """The canonical keys of one method and path, made when they are first needed."""
        index = self._canonical.get(place)
        if index is None:
            index = self._canonical[place] = defaultdict(list)
            for position in self._by_path.get(place, ()):
                recorded = self.cassette.interactions[position].request
                index[canonical_key(recorded, *self._keys[position])].append(position)
        return index

    def identity_at(self, position: int) -> Identity:
        """The identity of a recorded request."""
        return self._keys[position][1]

    def positions_of(self, service: str) -> list[int]:
        """Every position of a service, in recorded order."""
        return [p for p, interaction in enumerate(self.cassette.interactions) if interaction.request.service == service]

    def declared(self, service: str) -> tuple[str, ...]:
        """The declared key headers of a service, in lower case."""
        known = self.config.services.get(service)
        return tuple(name.lower() for name in known.key_headers) if known else ()

    def _effect(self, position: int) -> EffectFound:
        """Today's effect of a recorded call; as recorded for a service that is no longer configured."""
        interaction = self.cassette.interactions[position]
        request = interaction.request
        service = self.config.services.get(request.service)
        if service is None:
            return EffectFound(interaction.effect, interaction.effect_why)
        path = request.target.partition("?")[0]
        return effect_of(service, request.method, path, tool_of(service, request.method, path, request.headers))


def identity_of(placeholders: Iterable[str]) -> Identity:
    """An identity from the placeholders of a request's credentials, whatever their order."""
    return tuple(sorted(set(placeholders)))


def _place(request: Request) -> tuple[str, str, str]:
    return request.service, request.method, request.target.partition("?")[0]
