"""`proctor.toml`: the services behind the proxy, found upwards from the working directory."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from proctor.errors import ConfigError, nearest
from proctor.service_config import REFERENCE, ServiceConfig, VolatileConfig, checked_pointers, checked_service_name
from proctor.toml_file import read_toml, toml_error
from proctor.upstream_config import ENV_PREFIX, CredentialConfig

CONFIG_NAME = "proctor.toml"


def _words(command: Any) -> Any:
    """A command line as its words."""
    if not isinstance(command, str):
        return command
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(f"{command!r} is no command line: {error}") from None


def checked_reference(reference: str) -> str:
    """`package.module:function`, or empty. Raises ValueError."""
    if reference and not REFERENCE.fullmatch(reference):
        raise ValueError(f'"{reference}" must read "package.module:function"')
    return reference


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""A command line: a list of words or a text; no shell reads it."""


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
        return checked_reference(function)


class RecordConfig(BaseModel):
    """What runs around a recording (`[record]`): command lines, each a list of words or a text; no shell reads it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: Words = ()
    """Run before each recording that asks tools, to put staging into a known state; it must end with status 0."""
    after: Words = ()
    """Run after it, whatever came of it."""


class ChatConfig(BaseModel):
    """An agent that is a model, a prompt and the tools of the project's worlds (`[agent.chat]`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = ""
    """The system prompt; `{account}`, `{audience}`, `{user_id}` in it are replaced."""
    prompt_file: str = ""
    """Or a file that holds it, below the project's folder."""
    service: str = ""
    """The LLM service of proctor.toml that is asked; by default the only one."""

    @model_validator(mode="after")
    def _one_prompt(self) -> ChatConfig:
        if bool(self.prompt) == bool(self.prompt_file):
            raise ValueError("a chat has one prompt: `prompt` or `prompt_file`")
        return self


class AgentConfig(BaseModel):
    """The agent under test (`[agent]`): how it is asked (one of `command`, `url`, `python`, `chat`), and what it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Words = ()
    """A program; run in the project's folder."""
    url: str = ""
    """A service that takes each turn by POST."""
    python: str = ""
    """`module:function`, from the project's folder."""
    chat: ChatConfig | None = None
    """No agent of one's own: a model, a prompt and the tools of the project's worlds."""
    vendor: str = ""
    """Whose model it is built on: a vendor's name or a model's. The judge's must be another's."""
    version: str = ""
    """Or `env:NAME` for what a variable holds, such as a commit."""
    sources: tuple[str, ...] = ()
    """Files that the agent is made of, below the project's folder (`*` and `**` as in globs): part of its version."""
    model: str = ""
    """Told to the agent, as the next ones are; of `chat`, the model that is asked, as litellm names it."""
    prompt_version: str = ""
    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0)

    @field_validator("python")
    @classmethod
    def _is_function(cls, python: str) -> str:
        return checked_reference(python)

    @model_validator(mode="after")
    def _one_form(self) -> AgentConfig:
        forms = [name for name in ("command", "url", "python", "chat") if getattr(self, name)]
        if len(forms) > 1:
            raise ValueError(f"an agent is asked in one way, and it has {' and '.join(forms)}")
        if self.chat and not self.model:
            raise ValueError("`chat` asks a model: say which (`model`)")
        return self


class JudgeConfig(BaseModel):
    """Who judges (`[judge]`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = ""
    """As litellm names it, with its provider: `anthropic/...`."""


class Config(BaseModel):
    """The whole file, with `root`: the folder it lies in, where `cassettes/` and `.proctor/` are too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    services: dict[str, ServiceConfig]
    cassettes: CassettesConfig = CassettesConfig()
    redact: RedactConfig = RedactConfig()
    record: RecordConfig = RecordConfig()
    agent: AgentConfig = AgentConfig()
    judge: JudgeConfig = JudgeConfig()
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

    @property
    def credential_variables(self) -> frozenset[str]:
        """The variables that hold what Proctor puts on towards services: secrets, whatever they are called."""
        return frozenset(each.credential.variable for each in self.services.values() if each.credential)

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
        "agent": AgentConfig,
        "judge": JudgeConfig,
    }
    inner: dict[str, Any] = {"credential": CredentialConfig, "volatile": VolatileConfig}
    if where[:2] == ("agent", "chat"):
        return list(ChatConfig.model_fields)
    model: Any = tables.get(where[0] if len(where) > 1 else "", Config)
    if len(where) > 3:  # `services.NAME.KEY.` and what is in it
        model = inner.get(where[2], model)
    return [key for key in model.model_fields if key != "root"]
