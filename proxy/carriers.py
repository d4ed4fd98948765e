"""How a request says to which session it belongs: by its path, by a header, by the key that it was handed. No I/O."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from multidict import CIMultiDictProxy

from proctor.credentials import TOKEN_HEADERS, secret_spans
from proctor.errors import SessionError
from proctor.proxy.seams import Carrier, RawHeader, RawHeaders
from proctor.service_config import ServiceConfig
from proctor.wire import CURRENT, KEY_MARK, SESSION_HEADER

_PROXY_CREDENTIALS = b"proxy-authorization"
_KEY_HEADERS = sorted(TOKEN_HEADERS - {"proxy-authorization"})


class Located(NamedTuple):
    """Where an address leads: names from the path, and what is left of it for the service."""

    session: str
    service: str
    target: str


class Claim(NamedTuple):
    """A session that a request names, and by what."""

    session: str
    by: str


class PathCarrier:
    """`/s/SESSION/SERVICE/rest`: the rest goes to the service byte for byte.

    With a path token, which only those know who were given an address, it reads `/p/TOKEN/s/SESSION/SERVICE/rest`.
    """

    told = "the path"

    def __init__(self, path_token: str = "") -> None:
        self._prefix = f"/p/{path_token}" if path_token else ""
        self._start = f"{self._prefix}/s/"

    def address(self, session: str) -> str:
        """The path that every address of a session begins with."""
        return self._start + session

    def admits(self, target: str) -> bool:
        """Whether the sender was given an address of this proxy; else it is a stranger."""
        head = target[: len(self._prefix)]
        return hmac.compare_digest(head.encode("utf-8", "surrogateescape"), self._prefix.encode())

    def without_token(self, target: str) -> str:
        """An admitted target as it may be told: the path token is nobody else's."""
        return target[len(self._prefix) :]

    def locate(self, target: str) -> Located | None:
        """Where an origin-form target leads, or None where it leads nowhere."""
        if self._prefix and not self.admits(target):
            return None
        if not target.startswith(self._start):
            return None
        path, mark, query = target.partition("?")
        session, _, rest = path[len(self._start) :].partition("/")
        service, slash, tail = rest.partition("/")
        if not session or not service:
            return None
        return Located(session, service, slash + tail + mark + query)


class HeaderCarrier:
    """`x-proctor-session: SESSION`."""

    told = f"the header {SESSION_HEADER}"

    def sessions(self, headers: CIMultiDictProxy[str]) -> Iterable[str]:
        """See `Carrier.sessions`."""
        return headers.getall(SESSION_HEADER, ())

    def passed_on(self, header: RawHeader, credential: str) -> RawHeader | None:
        """See `Carrier.passed_on`."""
        return None if header[0].lower() == SESSION_HEADER.encode() else header


class KeyCarrier:
    """The session's key, `proctor-session-SESSION`, where a client sends its API key."""

    told = "the key"

    def sessions(self, headers: CIMultiDictProxy[str]) -> Iterable[str]:
        """See `Carrier.sessions`."""
        for name in _KEY_HEADERS:
            for value in headers.getall(name, ()):
                if KEY_MARK in value:
                    yield from _keyed(name, value)

    def passed_on(self, header: RawHeader, credential: str) -> RawHeader | None:
        """See `Carrier.passed_on`."""
        name, value = header
        if credential and KEY_MARK.encode() in value and name.lower().decode("latin-1") in _KEY_HEADERS:
            text = value.decode("utf-8", "surrogateescape")
            for session in _keyed(name.lower().decode("latin-1"), text):
                text = text.replace(KEY_MARK + session, credential)
            return name, text.encode("utf-8", "surrogateescape")
        return header


KEY = KeyCarrier()
CARRIERS: tuple[Carrier, ...] = (HeaderCarrier(), KEY)
"""Those beside the path, which also names the service."""


def claims_of(located: Located, headers: CIMultiDictProxy[str]) -> list[Claim]:
    """Every session that a request names; none where its path says `_current` and no header says more."""
    found = [] if located.session == CURRENT else [Claim(located.session, PathCarrier.told)]
    for carrier in CARRIERS:
        found += [Claim(session, carrier.told) for session in carrier.sessions(headers)]
    return found


def passed_on(headers: RawHeaders, credential: str) -> RawHeaders:
    """A request's headers without what only names a session; `credential` takes the key's place, unless it is empty."""
    kept = []
    for header in headers:
        passed: RawHeader | None = header
        for carrier in CARRIERS:
            passed = carrier.passed_on(passed, credential) if passed is not None else None
        if passed is not None:
            kept.append(passed)
    return tuple(kept)


def without_proxy_credentials(headers: RawHeaders) -> RawHeaders:
    """A request's headers without `Proxy-Authorization`, which is for this proxy and nobody behind it."""
    return tuple([pair for pair in headers if pair[0].lower() != _PROXY_CREDENTIALS])


def real_credential(name: str, service: ServiceConfig, environ: Mapping[str, str]) -> str:
    """For what a session's key stands at the real service.

    That is the credential which Proctor puts on there anyway, else its one identity, else the key of its preset. Raises
    SessionError where nothing in the proxy's environment says which credential it is.
    """
    if service.credential is not None:
        return environ[service.credential.variable]  # set, or the session would not have opened
    variables = service.key_variables
    if service.identities and not variables:
        told = f'service "{name}" has {len(service.identities)} identities, and a session\'s key is none of them'
        raise SessionError("session_key_ambiguous", told, f"send the credential itself, and {SESSION_HEADER} beside it")
    credential = next((environ[variable] for variable in variables if environ.get(variable)), "")
    if credential:
        return credential
    told = f'a session\'s key came for service "{name}", and the proxy has no credential to send instead'
    if variables:
        raise SessionError("session_key_unbacked", told, f"set {' or '.join(variables)} where the proxy runs")
    fix = f'name its variable: identities = {{ main = "env:NAME" }} under [services.{name}]'
    raise SessionError("session_key_unbacked", told, fix)


def _keyed(name: str, value: str) -> Iterator[str]:
    """The sessions whose keys stand in a credential header (lower-case `name`)."""
    for span in secret_spans(name, value):
        secret = value[span.start : span.end]
        if secret.startswith(KEY_MARK):
            yield secret[len(KEY_MARK) :]
