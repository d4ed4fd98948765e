"""Who asks, in replay: a live credential becomes the placeholder of the recorded one, or nobody, never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.credentials import Credential, credentials_of
from proctor.identities import named_identities, recorded_variables
from proctor.interaction import Headers
from proctor.matchkey import Identity
from proctor.placeholders import is_placeholder
from proctor.proxy.live_secrets import Unbound
from proctor.proxy.playback import Tape, identity_of
from proctor.redaction.redactor import Redactor
from proctor.service_config import ServiceConfig


@dataclass
class IdentityBinder:
    """The identities of one session. Every live credential is learnt by `redactor`, so that no trace row shows it."""

    tape: Tape
    environ: Mapping[str, str]
    redactor: Redactor
    fresh: set[str] = field(default_factory=set, init=False)
    """Secrets that a real service has handed out in this session, and that the tape cannot know."""
    _bound: dict[tuple[str, Credential], str] = field(default_factory=dict, init=False)
    _seen: dict[tuple[str, bytes, bytes], Identity] = field(default_factory=dict, init=False)

    def identity(self, service: str, headers: list[tuple[bytes, bytes]]) -> Identity:
        """The identity of a request, from its credential headers (lower-case names). Raises Unbound."""
        if not self.tape.compares_identity:
            self._learn(headers)
            return ()
        headers = self._as_put_on(service, headers)
        if len(headers) == 1:
            name, value = headers[0]
            known = self._seen.get((service, name, value))
            if known is None:
                known = self._seen[service, name, value] = self._resolved(service, headers)
            return known
        return self._resolved(service, headers)

    def _as_put_on(self, service: str, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The headers with the tape's placeholder where Proctor put a credential on: whatever the agent holds there."""
        placeholder = self._put_on(service)
        if not placeholder:
            return headers
        low, value = placeholder
        return [(name, value if name == low else given) for name, given in headers]

    def _put_on(self, service: str) -> tuple[bytes, bytes] | None:
        """The header into which Proctor puts a credential, with the tape's own; None where the tape has none."""
        config = self.tape.config.services.get(service)
        if config is None or config.credential is None:
            return None
        placeholder = recorded_variables(self.tape.cassette).get(config.credential.variable)
        if placeholder is None:
            return None
        return config.credential_header.lower().encode(), (config.credential_prefix + placeholder).encode()

    def _resolved(self, service: str, headers: list[tuple[bytes, bytes]]) -> Identity:
        found = credentials_of(_decoded(headers))
        return identity_of(self._placeholder(service, credential) for credential in found)

    def _learn(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Keep live credentials out of every row, where they need not be bound."""
        for credential in credentials_of(_decoded(headers)):
            if credential.value not in self.redactor.known:
                self.redactor.learn_secret(credential.value)

    def _placeholder(self, service: str, credential: Credential) -> str:
        if is_placeholder(credential.value, self.redactor.placeholders):
            return credential.value
        bound = self._bound.get((service, credential))
        if bound is None:
            bound = self._bind(service, credential)
            self._bound[service, credential] = bound
            self.redactor.learn_value(credential.value, bound)
        return bound

    def _bind(self, service: str, credential: Credential) -> str:
        recorded = self.tape.identities.get(service, {}).get(credential.kind, set())
        try:
            if credential.value in self.fresh:
                raise Unbound("the credential was handed out in this session, not on the tape")
            return self._named(service, credential) or self._only(service, credential, recorded)
        except Unbound:
            self.redactor.learn_secret(credential.value)
            raise

    def _named(self, service: str, credential: Credential) -> str | None:
        """The placeholder of a credential that the configuration names; None where it names none."""
        config = self.tape.config.services.get(service)
        name = _name_of(config, credential.value, self.environ) if config else None
        if name is None:
            return None
        placeholder: str | None = named_identities(self.tape.cassette, service).get(name)
        if placeholder is None:
            raise Unbound(f'the credential is identity "{name}", which the tape does not have for "{service}"')
        return placeholder

    def _only(self, service: str, credential: Credential, recorded: set[str]) -> str:
        taken = {
            placeholder
            for (bound_service, bound), placeholder in self._bound.items()
            if bound_service == service and bound.kind == credential.kind
        }
        kind = "credential" if credential.kind == "token" else credential.kind
        brought = {each for each in recorded if not self.tape.hands_out(each)}
        recorded = brought or recorded
        if not recorded:
            raise Unbound(f'the tape has no {kind} for "{service}": its requests were recorded without one')
        if len(recorded) > 1:
            raise Unbound(
                f'the tape has {len(recorded)} identities for "{service}" and nothing says which one this {kind} is; '
                f'name them: identities = {{ alice = "env:ALICE_TOKEN" }} under [services.{service}], then record again'
            )
        if taken:
            raise Unbound(f'a second {kind} for "{service}", where the tape has one and the first stands for it')
        return next(iter(recorded))


def _decoded(headers: list[tuple[bytes, bytes]]) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("utf-8", "surrogateescape")) for name, value in headers)


def _name_of(config: ServiceConfig, value: str, environ: Mapping[str, str]) -> str | None:
    for name, variable in config.identity_variables.items():
        if environ.get(variable) == value:
            return name
    return None
