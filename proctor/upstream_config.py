"""How a real service is reached, as `[services.NAME]` says it: by which proxy, with which credential."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, field_validator

from proctor.errors import ConfigError

ENV_PREFIX = "env:"
_VARIABLE = re.compile(r"env:\S+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NOT_ITS_OWN = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "expect", "te", "upgrade", "proxy-authorization"}
)
"""Headers that say how a message is sent, not who sends it."""


class CredentialConfig(BaseModel):
    """A credential that Proctor puts on towards the service, so that the agent needs none of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str
    """`env:NAME`: the variable that holds it."""
    header: str = ""
    """Where it goes; by default that of the preset, else `Authorization`."""
    prefix: str | None = None
    """What stands before it; by default `Bearer ` in `Authorization`, and nothing elsewhere."""

    @field_validator("value")
    @classmethod
    def _by_variable(cls, value: str) -> str:
        if not _VARIABLE.fullmatch(value):
            raise ValueError('a credential names a variable: "env:NAME", never the secret itself')
        return value

    @field_validator("header")
    @classmethod
    def _is_header(cls, header: str) -> str:
        if header and (not _HEADER_NAME.fullmatch(header) or header.lower() in _NOT_ITS_OWN):
            raise ValueError(f'"{header}" is no header that can hold a credential')
        return header

    @property
    def variable(self) -> str:
        """The variable that holds the credential."""
        return self.value.removeprefix(ENV_PREFIX)


def credential_table(credential: Any) -> Any:
    """`credential = "env:NAME"` as the table that it stands for."""
    return {"value": credential} if isinstance(credential, str) else credential


class ProxyAddress(NamedTuple):
    """A proxy between Proctor and the service. `url` holds no credential; `userinfo` reads `user:password`, or is
    empty."""

    url: str
    userinfo: str = ""


def checked_proxy(proxy: str) -> str:
    """`proxy` if it can be written in `proctor.toml`; ValueError says why not."""
    if proxy and not proxy.startswith(ENV_PREFIX) and proxy_address(proxy).userinfo:
        raise ValueError('a URL must not hold a credential: name a variable that holds all of it, proxy = "env:NAME"')
    return proxy


def proxy_address(url: str) -> ProxyAddress:
    """A proxy's URL in its parts; ValueError says why it is none, and never shows what it holds."""
    parts = url_parts(url)
    if parts.scheme != "http" or not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError('a proxy\'s address reads "http://HOST:PORT" (over it, https:// services are tunnelled)')
    userinfo, _, host = parts.netloc.rpartition("@")
    return ProxyAddress(f"http://{host}", unquote(userinfo))


def url_parts(url: str) -> SplitResult:
    """An address in its parts. ValueError says why it is none, and shows none of it: that may be a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError(
            "it is no URL: its host or its port (a number up to 65535) cannot be read; "
            "in a user or password, signs such as / ? # [ ] are written as %XX"
        ) from None
    return parts


def from_environment(name: str, key: str, source: str, environ: Mapping[str, str] = os.environ) -> str:
    """A setting of service `name`, read from its variable where it says `env:NAME`. Raises ConfigError."""
    if not source.startswith(ENV_PREFIX):
        return source
    variable = source.removeprefix(ENV_PREFIX)
    value = environ.get(variable, "")
    if not value:
        raise ConfigError(
            f"service_{key}_unset",
            f'service "{name}" takes its {key} from {variable}, which is not set',
            f"set {variable} {_MEANT[key]} (replay does not need it)",
        )
    return value


_MEANT = {
    "url": "to the address of the real service",
    "proxy": "to the proxy's URL, http://USER:PASSWORD@HOST:PORT",
    "credential": "to the credential of the real service",
}
