"""The way to one real service: its address, what it is trusted by, over which proxy, as whom, and for how long.

Files and variables are read when a session opens that asks the service; a replay needs none of them.
"""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp

from proctor.errors import ConfigError
from proctor.interaction import Headers
from proctor.proxy.trust import Trust
from proctor.service_config import ServiceConfig
from proctor.upstream_config import ENV_PREFIX, ProxyAddress, from_environment, proxy_address

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 600.0
"""As long as the LLM SDKs wait themselves."""


@dataclass(frozen=True)
class Credential:
    """What Proctor puts on in the agent's place. It is secret: never shown, and a placeholder on the tape."""

    header: str
    value: str = field(repr=False)

    def put_on(self, headers: Headers) -> Headers:
        """The headers as the service gets them: with this credential, and no other in its header."""
        given = self.in_place(headers)
        return given if given is not headers else (*headers, (self.header, self.value))

    def in_place(self, headers: Headers) -> Headers:
        """The headers with this credential where the agent sent one; the very same ones where it sent none.

        So a tape is as if the agent had held the credential itself.
        """
        low = self.header.lower()
        first = next((at for at, (name, _) in enumerate(headers) if name.lower() == low), None)
        if first is None:
            return headers
        rest = tuple(pair for pair in headers[first + 1 :] if pair[0].lower() != low)
        return (*headers[:first], (headers[first][0], self.value), *rest)


@dataclass(frozen=True)
class Way:
    """How one service is reached in one session."""

    name: str
    url: str
    """Its resolved address, without a trailing slash."""
    tls: ssl.SSLContext | bool = True
    proxy: ProxyAddress | None = None
    credential: Credential | None = None
    connect_seconds: float = _CONNECT_SECONDS
    read_seconds: float = _READ_SECONDS
    """How long no byte may come."""

    @property
    def tunnelled(self) -> bool:
        """Whether a proxy passes bytes on without reading them."""
        return self.proxy is not None and self.url.startswith("https:")

    def sent(self, headers: Headers) -> Headers:
        """Request headers as they leave this machine."""
        headers = self.credential.put_on(headers) if self.credential else headers
        if self.proxy and self.proxy.userinfo and not self.tunnelled:
            headers = (*headers, ("Proxy-Authorization", _basic(self.proxy)))
        return headers

    def kept(self, headers: Headers) -> Headers:
        """Request headers as the tape has them; see `Credential.in_place`."""
        return self.credential.in_place(headers) if self.credential else headers

    def options(self) -> dict[str, Any]:
        """What the client session is told for each request."""
        connect, read = self.connect_seconds, self.read_seconds
        timeout = aiohttp.ClientTimeout(total=None, connect=connect, sock_connect=connect, sock_read=read)
        told: dict[str, Any] = {"ssl": self.tls, "timeout": timeout}
        if self.proxy:
            told["proxy"] = self.proxy.url
            if self.proxy.userinfo and self.tunnelled:
                told["proxy_headers"] = {"Proxy-Authorization": _basic(self.proxy)}
        return told


def way_to(name: str, service: ServiceConfig, url: str, trust: Trust, environ: Mapping[str, str]) -> Way:
    """The way to a service whose address is `url`. Raises ConfigError for a file or a variable that is not right."""
    way = Way(
        name=name,
        url=url,
        tls=trust.of(name, service),
        proxy=_proxy(name, service, environ),
        credential=_credential(name, service, environ),
    )
    if service.timeout is None:
        return way
    return replace(way, connect_seconds=service.timeout, read_seconds=service.timeout)


def _basic(proxy: ProxyAddress) -> str:
    return f"Basic {b64encode(proxy.userinfo.encode()).decode('ascii')}"


def _credential(name: str, service: ServiceConfig, environ: Mapping[str, str]) -> Credential | None:
    if service.credential is None:
        return None
    value = from_environment(name, "credential", service.credential.value, environ)
    if value != value.strip() or not value.isprintable():
        told = (
            f'service "{name}": {service.credential.variable} holds a line end or other signs that no header can have'
        )
        raise ConfigError("service_credential_bad", told, "take them out; a file read with its last line end is common")
    return Credential(service.credential_header, service.credential_prefix + value)


def _proxy(name: str, service: ServiceConfig, environ: Mapping[str, str]) -> ProxyAddress | None:
    if not service.proxy:
        return None
    try:
        return proxy_address(from_environment(name, "proxy", service.proxy, environ))
    except ValueError as error:
        told = f'service "{name}": {service.proxy.removeprefix(ENV_PREFIX)}: {error}'
        raise ConfigError("service_proxy_bad", told) from None
