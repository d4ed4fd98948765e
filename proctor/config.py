"""`proctor.toml`: the services behind the proxy, found upwards from the working directory."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from proctor.errors import ConfigError, nearest
from proctor.presets import PRESETS, Preset
from proctor.toml_file import read_toml, toml_error

CONFIG_NAME = "proctor.toml"
ENV_PREFIX = "env:"
_SERVICE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TOOLS_TEMPLATE = re.compile(r"([A-Z]+) (/\S*)")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
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
    env: tuple[str, ...] = ()
    """Variables of the agent that hold this service's base URL; the launcher sets them."""
    tools: str = ""
    """How a request names its tool: `POST /tools/{tool}`."""
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

    @field_validator("url")
    @classmethod
    def _whole_url(cls, url: str) -> str:
        if not url or url.startswith(ENV_PREFIX):
            return url
        return checked_url(url)

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

    @model_validator(mode="after")
    def _reachable(self) -> ServiceConfig:
        if not self.url and self.preset is None:
            raise ValueError('a service needs a url (or a preset): url = "https://..." or url = "env:NAME"')
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
    def preset_facts(self) -> Preset | None:
        """What is known of the preset's API, or None for a service without one."""
        return PRESETS[self.preset] if self.preset else None

    @property
    def base_url_variables(self) -> tuple[str, ...]:
        """Every variable the launcher points at the proxy for this service."""
        facts = self.preset_facts
        return tuple(dict.fromkeys((*self.env, *(facts.base_url_variables if facts else ()))))

    @property
    def identity_variables(self) -> dict[str, str]:
        """Identity name to the variable that holds its credential."""
        return {name: source[len(ENV_PREFIX) :] for name, source in self.identities.items()}


class CassettesConfig(BaseModel):
    """How tapes are written (`[cassettes]`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    body_files_over: int | None = Field(default=None, ge=1024)
    """Bodies of more bytes go to files beside the tape. vcrpy refuses such tapes, so by default none do."""
    environment: str = ""
    """What the recordings are made against (`staging`), or `env:NAME`; stamped on each tape."""

    def environment_now(self, environ: Mapping[str, str]) -> str:
        """The environment's name, read from its variable where it names one; empty where nothing does."""
        if self.environment.startswith(ENV_PREFIX):
            return environ.get(self.environment[len(ENV_PREFIX) :], "")
        return self.environment


class RedactConfig(BaseModel):
    """What is a secret beside what always is (`[redact]`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: tuple[str, ...] = ()
    """More names of fields, parameters and headers whose values are secret."""
    keep: tuple[str, ...] = ()
    """Names that are no secret here."""
    pointers: tuple[str, ...] = ()
    """JSON pointers (with `*` for any key or index) to secrets in bodies."""
    patterns: tuple[str, ...] = ()
    """Regular expressions; the first group is the secret, where there is one."""
    function: str = ""
    """`module:function` in the project: takes a text, gives the secrets in it."""
    pii: bool = False
    """Phones, e-mail addresses, cards, Chinese ID numbers and the names of `people` are replaced too."""
    people: tuple[str, ...] = ()
    people_file: str = ""
    """A file with more of them, a name a line, for names that must not be in version control themselves."""

    @field_validator("pointers")
    @classmethod
    def _are_pointers(cls, pointers: tuple[str, ...]) -> tuple[str, ...]:
        return checked_pointers(pointers)

    @field_validator("patterns")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                if re.compile(pattern).match(""):
                    raise ValueError(f'the pattern "{pattern}" matches nothing at all: it would be found everywhere')
            except re.error as error:
                raise ValueError(f'"{pattern}" is no regular expression: {error}') from None
        return patterns

    @field_validator("function")
    @classmethod
    def _is_reference(cls, function: str) -> str:
        if function and not _FUNCTION.fullmatch(function):
            raise ValueError(f'"{function}" must read "package.module:function"')
        return function


class RecordConfig(BaseModel):
    """What runs around a recording (`[record]`): command lines, each a list of words or a text; no shell reads it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: tuple[str, ...] = ()
    """Run before each recording that asks tools, to put staging into a known state; it must end with status 0."""
    after: tuple[str, ...] = ()
    """Run after it, whatever came of it."""

    @field_validator("before", "after", mode="before")
    @classmethod
    def _words(cls, command: Any) -> Any:
        if not isinstance(command, str):
            return command
        try:
            return tuple(shlex.split(command))
        except ValueError as error:
            raise ValueError(f"{command!r} is no command line: {error}") from None


class Config(BaseModel):
    """The whole file, with `root`: the folder it lies in, where `cassettes/` and `.proctor/` are too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    services: dict[str, ServiceConfig]
    cassettes: CassettesConfig = CassettesConfig()
    redact: RedactConfig = RedactConfig()
    record: RecordConfig = RecordConfig()
    pass_hosts: tuple[str, ...] = ()
    """Hosts that go direct while recording (never in replay); each is listed in the summary."""
    root: Path = Field(exclude=True)

    @field_validator("services")
    @classmethod
    def _named(cls, services: dict[str, ServiceConfig]) -> dict[str, ServiceConfig]:
        if not services:
            raise ValueError("no service is configured: add a [services.NAME] table")
        for name in services:
            checked_service_name(name)
        owners: dict[str, str] = {}
        for name, service in services.items():
            for variable in service.base_url_variables:
                if owners.setdefault(variable, name) != name:
                    raise ValueError(
                        f'"{owners[variable]}" and "{name}" both claim {variable}: one would hide the other'
                    )
        return services

    @property
    def llm_services(self) -> frozenset[str]:
        """The services that are LLM APIs."""
        return frozenset(name for name, service in self.services.items() if service.preset is not None)

    def group_of(self, name: str) -> str:
        """What a service shares its state with: its `state_group`, else itself alone."""
        service = self.services.get(name)
        return (service.state_group if service else "") or name

    def service(self, name: str) -> ServiceConfig:
        """The named service, or a ConfigError that names the nearest one."""
        try:
            return self.services[name]
        except KeyError:
            raise ConfigError(
                "unknown_service", f'no service "{name}" in {self.root / CONFIG_NAME}', nearest(name, self.services)
            ) from None


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
    parts = urlsplit(url)
    _ = parts.port  # raises ValueError for one that cannot be
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f'"{url}" is no http(s) URL with a host')
    if parts.username or parts.password:
        raise ValueError("a URL must not hold a credential: let the agent send it, or name a variable")
    if parts.query or parts.fragment:
        raise ValueError(f'"{url}" must end with its path: no query, no fragment')
    return url.rstrip("/")


def upstream_url(name: str, service: ServiceConfig, environ: Mapping[str, str] = os.environ) -> str:
    """The address of the real service, resolved now.

    Raises ConfigError where the variable that should hold it is unset or holds no URL.
    """
    facts = service.preset_facts
    url = service.url or (facts.url if facts else "")
    if not url.startswith(ENV_PREFIX):
        return url
    variable = url[len(ENV_PREFIX) :]
    value = environ.get(variable, "")
    if not value:
        raise ConfigError(
            "service_url_unset",
            f'service "{name}" takes its url from {variable}, which is not set',
            f"set {variable} to the address of the real service (replay does not need it)",
        )
    try:
        return checked_url(value)
    except ValueError as error:
        raise ConfigError("service_url_bad", f'service "{name}": {variable}: {error}') from None


def find_config(start: Path) -> Path:
    """The nearest `proctor.toml` at or above `start`; ConfigError where there is none."""
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise ConfigError("config_missing", f"no {CONFIG_NAME} in {start} or above it", "write one with: proctor init")


def load_config(path: Path) -> Config:
    """Read and check one `proctor.toml`. Raises ConfigError, which names the key and the nearest right one."""
    data = read_toml(path, "config")
    if "root" in data:
        raise ConfigError("config_unknown_key", f'{path}: unknown key "root"', nearest("root", _known_keys(())))
    try:
        return Config.model_validate({**data, "root": path.parent.resolve()})
    except ValidationError as error:
        raise toml_error(path, "config", error, _known_keys) from None


def _known_keys(where: tuple[str, ...]) -> list[str]:
    tables: dict[str, Any] = {
        "services": ServiceConfig,
        "cassettes": CassettesConfig,
        "redact": RedactConfig,
        "record": RecordConfig,
    }
    model: Any = tables.get(where[0] if len(where) > 1 else "", Config)
    return [key for key in model.model_fields if key != "root"]
