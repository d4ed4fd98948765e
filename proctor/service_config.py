"""One service of `proctor.toml`: where the real thing is, and what is known of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from proctor.errors import ConfigError
from proctor.presets import PRESETS, Preset
from proctor.upstream_config import (
    ENV_PREFIX,
    CredentialConfig,
    checked_proxy,
    credential_table,
    from_environment,
    url_parts,
)

_SERVICE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TOOLS_TEMPLATE = re.compile(r"([A-Z]+) (/\S*)")
REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""What stands in the project's own code: `package.module:NAME`."""
WORLD_TOOLS = "POST /tools/{tool}"
_JSON_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)+")


class VolatileConfig(BaseModel):
    """A value inside a text that differs from run to run, such as today's date in a prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: str
    """A JSON pointer (with `*` for any key or index) to a text in request bodies, or a query parameter as `?name`."""
    pattern: str
    """A regular expression; what its groups match is forgiven, and nothing else."""

    @field_validator("at")
    @classmethod
    def _place(cls, at: str) -> str:
        return checked_places((at,))[0]

    @field_validator("pattern")
    @classmethod
    def _with_group(cls, pattern: str) -> str:
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f'"{pattern}" is no regular expression: {error}') from error
        if not groups:
            raise ValueError(f'"{pattern}" has no group: what is forgiven stands in (...)')
        return pattern


class ServiceConfig(BaseModel):
    """One named upstream (`[services.NAME]`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Literal["openai", "anthropic"] | None = None
    """A known LLM API: fills `url`, `env` and the effects."""
    url: str = ""
    """Where the real thing is, or `env:NAME` to read that from the environment when recording."""
    world: str = ""
    """`module:Class` in the project: what answers in mode `world`."""
    env: tuple[str, ...] = ()
    """Variables of the agent that hold this service's base URL; the launcher sets them."""
    tools: str = ""
    """How a request names its tool: `POST /tools/{tool}`, as it is by default for a world."""
    reads: tuple[str, ...] = ()
    """Tool names, paths or `METHOD /path` (with `*`) that only read."""
    writes: tuple[str, ...] = ()
    """Such names that change state; where both have a name, it writes."""
    key_headers: tuple[str, ...] = ()
    """Headers that carry meaning, beside those that always do."""
    expected_status: tuple[Annotated[int, Field(ge=400, le=599)], ...] = ()
    """Error statuses that a clean recording may end with."""
    rewrite: tuple[str, ...] = ()
    """JSON pointers (with `*` for any key or index) to URLs in answers that lead the agent on: they get the proxy's."""
    ignore: tuple[str, ...] = ()
    """What a match forgives: JSON pointers in request bodies, and query parameters as `?name`."""
    volatile: tuple[VolatileConfig, ...] = ()
    """Values inside texts that a match forgives."""
    state_group: str = ""
    """Services of one group share their state: a write to one changes what the others answer."""
    identities: dict[str, str] = Field(default_factory=dict)
    """Named credentials: `{ alice = "env:ALICE_TOKEN" }`."""
    credential: CredentialConfig | None = None
    """Put on by Proctor towards the service, in place of what the agent sends."""
    ca: str = ""
    """A PEM file of certificates: the service's must be signed by one of them, whatever the system trusts."""
    client_cert: str = ""
    """A PEM file with the certificate that Proctor shows the service, its chain after it."""
    client_key: str = ""
    """A PEM file with its key, where that is not in `client_cert`."""
    proxy: str = ""
    """The way out: `http://HOST:PORT`, or `env:NAME`, which may hold user and password too."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """Seconds for a connection, and without a byte of the answer."""

    @field_validator("url")
    @classmethod
    def _whole_url(cls, url: str) -> str:
        if not url or url.startswith(ENV_PREFIX):
            return url
        return checked_url(url)

    @model_validator(mode="before")
    @classmethod
    def _tools_of_world(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("world") and not table.get("tools"):
            return {**table, "tools": WORLD_TOOLS}
        return table

    @field_validator("world")
    @classmethod
    def _is_reference(cls, world: str) -> str:
        if world and not REFERENCE.fullmatch(world):
            raise ValueError(f'"{world}" must read "package.module:Class"')
        return world

    @field_validator("tools")
    @classmethod
    def _template(cls, template: str) -> str:
        match = _TOOLS_TEMPLATE.fullmatch(template) if template else None
        if template and (match is None or template.count("{tool}") != 1):
            raise ValueError('a tools template reads "METHOD /path/{tool}", with {tool} once')
        return template

    @field_validator("rewrite")
    @classmethod
    def _pointers(cls, pointers: tuple[str, ...]) -> tuple[str, ...]:
        return checked_pointers(pointers)

    @field_validator("ignore")
    @classmethod
    def _places(cls, places: tuple[str, ...]) -> tuple[str, ...]:
        return checked_places(places)

    @field_validator("identities")
    @classmethod
    def _by_variable(cls, identities: dict[str, str]) -> dict[str, str]:
        for name, source in identities.items():
            if not source.startswith(ENV_PREFIX) or not source[len(ENV_PREFIX) :]:
                raise ValueError(f'identity "{name}" must name a variable: "env:NAME", never a credential itself')
        return identities

    @field_validator("credential", mode="before")
    @classmethod
    def _credential(cls, credential: Any) -> Any:
        return credential_table(credential)

    @field_validator("proxy")
    @classmethod
    def _proxy(cls, proxy: str) -> str:
        return checked_proxy(proxy)

    @model_validator(mode="after")
    def _one_credential(self) -> ServiceConfig:
        if self.client_key and not self.client_cert:
            raise ValueError('client_key is the key of a certificate: add client_cert = "FILE.pem"')
        header = self.credential_header.lower()
        if header and header in map(str.lower, self.key_headers):
            raise ValueError(f'"{self.credential_header}" holds the credential, so it cannot be one of key_headers')
        return self

    @model_validator(mode="after")
    def _reachable(self) -> ServiceConfig:
        if self.world and self.preset is not None:
            raise ValueError("a preset is a model's API, and a world has tools: make them two services")
        if not self.url and self.preset is None and not self.world:
            raise ValueError('a service needs a url (or a preset, or a world): url = "https://..." or url = "env:NAME"')
        return self

    @model_validator(mode="after")
    def _one_effect(self) -> ServiceConfig:
        for name in self.reads:
            plain = "[" not in name  # with a class of letters it is no text that another pattern could cover
            named = (each for each in self.writes if each == name or (plain and fnmatchcase(name, each)))
            pattern = next(named, None)
            if pattern is not None:
                raise ValueError(
                    f'"{name}" stands in reads, and "{pattern}" in writes names it too: take it out of one of them'
                )
        return self

    @property
    def only_world(self) -> bool:
        """Whether there is no real thing: nothing but a world answers."""
        return bool(self.world) and not self.url

    @property
    def preset_facts(self) -> Preset | None:
        """What is known of the preset's API, or None for a service without one."""
        return PRESETS[self.preset] if self.preset else None

    @property
    def base_url_variables(self) -> tuple[str, ...]:
        """Every variable the launcher points at the proxy for this service."""
        facts = self.preset_facts
        return tuple(dict.fromkeys((*self.env, *(facts.base_url_variables if facts else ()))))

    @property
    def credential_header(self) -> str:
        """The header into which Proctor puts a credential; empty where it puts none."""
        if self.credential is None:
            return ""
        return self.credential.header or (self.preset_facts.key_header if self.preset_facts else "Authorization")

    @property
    def credential_prefix(self) -> str:
        """What stands in that header before the credential."""
        if self.credential is not None and self.credential.prefix is not None:
            return self.credential.prefix
        return "Bearer " if self.credential_header.lower() == "authorization" else ""

    @property
    def identity_variables(self) -> dict[str, str]:
        """Identity name to the variable that holds its credential."""
        return {name: source[len(ENV_PREFIX) :] for name, source in self.identities.items()}

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Variables of which one holds the service's only credential: that of its identity, else those of its preset.

        Empty where it has several identities.
        """
        if self.identities:
            return tuple(self.identity_variables.values()) if len(self.identities) == 1 else ()
        facts = self.preset_facts
        return facts.key_variables if facts else ()


def checked_service_name(name: str) -> str:
    """`name` if it can be a service's; ValueError says why not."""
    if not _SERVICE_NAME.fullmatch(name):
        raise ValueError(f'service name "{name}" may hold letters, digits, "-" and "_" only')
    return name


def checked_pointers(pointers: tuple[str, ...]) -> tuple[str, ...]:
    """`pointers` if each is a JSON pointer; ValueError names the one that is not."""
    for pointer in pointers:
        if not _JSON_POINTER.fullmatch(pointer):
            raise ValueError(f'"{pointer}" is no JSON pointer: it reads "/items/*/href", with ~0 for "~", ~1 for "/"')
    return pointers


def checked_places(places: tuple[str, ...]) -> tuple[str, ...]:
    """`places` if each is a JSON pointer or reads `?name`; ValueError names the one that is not."""
    checked_pointers(tuple(place for place in places if not place.startswith("?")))
    if "?" in places:
        raise ValueError('"?" names no query parameter: it reads "?name"')
    return places


def checked_url(url: str) -> str:
    """`url` without a trailing slash, if it can be a service's address; ValueError says why not."""
    parts = url_parts(url)
    if parts.username or parts.password:
        raise ValueError("a URL must not hold a credential: let the agent send it, or name a variable")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        shown = "it" if "@" in url else f'"{url}"'  # before an @ may stand a password
        raise ValueError(f"{shown} is no http(s) URL with a host")
    if parts.query or parts.fragment:
        raise ValueError(f'"{url}" must end with its path: no query, no fragment')
    return url.rstrip("/")


def upstream_url(name: str, service: ServiceConfig, environ: Mapping[str, str] = os.environ) -> str:
    """The address of the real service, resolved now.

    Raises ConfigError where the variable that should hold it is unset or holds no URL, and for a service without one.
    """
    if service.only_world:
        told = f'service "{name}" has a world, and no url: there is nothing else that could answer'
        raise ConfigError("service_url_missing", told, f'say --mode {name}=world, or give it url = "https://..."')
    facts = service.preset_facts
    url = service.url or (facts.url if facts else "")
    if not url.startswith(ENV_PREFIX):
        return url
    value = from_environment(name, "url", url, environ)
    try:
        return checked_url(value)
    except ValueError as error:
        told = f'service "{name}": {url.removeprefix(ENV_PREFIX)}: {error}'
        raise ConfigError("service_url_bad", told) from None
