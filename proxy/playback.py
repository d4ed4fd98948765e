"""A tape, indexed: which recordings may answer a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from proctor.cassette import Cassette
from proctor.config import Config
from proctor.credentials import credentials_of
from proctor.effects import EffectFound, effect_today, tool_today
from proctor.errors import ConfigError
from proctor.forgiving import forgiveness_of
from proctor.interaction import Headers, Interaction, Request
from proctor.loading import collection_paused
from proctor.matchkey import CanonicalKey, ExactKey, Identity, canonical_key, key_headers_of
from proctor.placeholders import numbers_in
from proctor.proxy.essences import Essences
from proctor.proxy.state import Recorded, Tapestate
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import Rules, rules_of
from proctor.service_config import upstream_url
from proctor.vcrpy_services import adopted


@dataclass
class Tape:
    """A cassette with its index. The canonical keys are made for a path when an exact match first fails on it."""

    cassette: Cassette
    config: Config
    notes: tuple[str, ...] = ()
    """What the summary of a session that plays it must say."""
    effects: list[EffectFound] = field(init=False)
    identities: dict[str, dict[str, set[str]]] = field(init=False)
    """By service, then kind of credential: the placeholders that the recorded requests carried."""
    _secrets: Redactor | None = field(init=False)
    """Of a tape that vcrpy recorded, whose credentials stand in clear."""
    _keys: list[tuple[Headers, Identity]] = field(init=False)
    _exact: dict[ExactKey, list[int]] = field(init=False)
    _by_path: dict[tuple[str, str, str], list[int]] = field(init=False)
    _canonical: dict[tuple[str, str, str], dict[CanonicalKey, list[int]]] = field(init=False, default_factory=dict)
    _twins: dict[int, list[int]] = field(init=False, default_factory=dict)
    _essences: dict[str, Essences] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the tape by exact keys, with the effects that today's configuration declares."""
        self.effects, self._keys = [], []
        with collection_paused():
            self._index()

    def _index(self) -> None:
        shared: dict[Identity, Identity] = {}
        self._exact, self._by_path = defaultdict(list), defaultdict(list)
        self._secrets = None if self.compares_identity else Redactor.over(self.cassette.interactions, self._rules())
        self.identities = {}
        for position, interaction in enumerate(self.cassette.interactions):
            request = interaction.request
            self.effects.append(effect_today(self.config.services, interaction))
            credentials = credentials_of(request.headers) if self.compares_identity else ()
            for credential in credentials:
                kinds = self.identities.setdefault(request.service, {})
                kinds.setdefault(credential.kind, set()).add(credential.value)
            headers = key_headers_of(request.headers, self.declared(request.service))
            identity = identity_of(credential.value for credential in credentials)
            identity = shared.setdefault(identity, identity)
            self._keys.append((headers, identity))
            key = ExactKey(request.service, request.method, request.target, headers, identity, request.body)
            self._exact[key].append(position)
            self._by_path[_place(request)].append(position)

    def _rules(self) -> Rules:
        return rules_of(self.config.redact.model_dump(), self.config.root)

    @property
    def compares_identity(self) -> bool:
        """Whether credentials are part of the match: not on tapes that vcrpy recorded."""
        return self.cassette.by == "proctor"

    def shown(self, position: int) -> Interaction:
        """A recording as traces and reports may show it: with placeholders and today's effect."""
        interaction = self.cassette.interactions[position]
        effect, why = self.effects[position]
        clean = self._secrets.interaction(interaction) if self._secrets else interaction
        return replace(clean, effect=effect, effect_why=why)

    def clean(self, text: str) -> str:
        """A text about a recording, as traces may show it."""
        return self._secrets.text(text) if self._secrets else text

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

    def key_at(self, position: int) -> tuple[Headers, Identity]:
        """The key headers and the identity of a recorded request."""
        return self._keys[position]

    def hands_out(self, placeholder: str) -> bool:
        """Whether the tape's own answers mint this secret, so that none which an agent brings can be it."""
        numbers = numbers_in(placeholder)
        return bool(numbers) and numbers <= self._minted

    @cached_property
    def _minted(self) -> set[int]:
        """The numbers of the placeholders that an answer had before any request did."""
        asked: set[int] = set()
        minted: set[int] = set()
        redactor = Redactor()
        for interaction in self.cassette.interactions:
            if interaction.redacted:
                asked |= redactor.numbers_in_request(interaction.request) - minted
                minted |= redactor.numbers_in_response(interaction.response) - asked
        return minted

    def essences(self, service: str) -> Essences | None:
        """The requests of a service without what its matches forgive; None where that is nothing."""
        rules = forgiveness_of(self.config.services, service)
        if rules is None:
            return None
        if service not in self._essences:
            requests = ((at, self.cassette.interactions[at].request) for at in self.positions_of(service))
            self._essences[service] = Essences(rules, ((at, request, *self._keys[at]) for at, request in requests))
        return self._essences[service]

    @cached_property
    def state(self) -> Tapestate:
        """Which writes precede which recordings, by today's effects and groups."""
        return Tapestate([self._recorded(position) for position in range(len(self.effects))])

    def _recorded(self, position: int) -> Recorded:
        interaction = self.cassette.interactions[position]
        written = self.effects[position].effect == "write"
        after = None if interaction.after is None else frozenset(interaction.after)
        return Recorded(
            self.config.group_of(interaction.request.service), written, frozenset(interaction.beside), after
        )

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


def indexed(cassette: Cassette, config: Config, environ: Mapping[str, str]) -> Tape:
    """The index of a tape, the recordings of vcrpy's given to today's services. Raises CassetteError."""
    if cassette.by == "proctor":
        return Tape(cassette, config)
    urls: dict[str, str] = {}
    for name, service in config.services.items():
        try:
            urls[name] = upstream_url(name, service, environ)
        except ConfigError:  # taken from a variable that is not set: nothing can belong to it
            continue
    owned = adopted(cassette, urls)
    tools = tuple(replace(each, tool=tool_today(config.services, each)) for each in owned.cassette.interactions)
    return Tape(replace(owned.cassette, interactions=tools), config, owned.notes)


def identity_of(placeholders: Iterable[str]) -> Identity:
    """An identity from the placeholders of a request's credentials, whatever their order."""
    return tuple(sorted(set(placeholders)))


def _place(request: Request) -> tuple[str, str, str]:
    return request.service, request.method, request.target.partition("?")[0]
