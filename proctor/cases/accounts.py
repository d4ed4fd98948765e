"""The accounts that agents act for in tests: a local file, below `.proctor/`, which is never in git."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from proctor.errors import ConfigError, nearest
from proctor.toml_file import read_toml, toml_error

FILE = "accounts.toml"
"""In `.proctor/`."""
_FROM = "env:"
_OTHERS = 0o077


class Account(BaseModel):
    """One account. `variables` go into the agent's environment, and into nothing that is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    audience: str = ""
    test: bool = False
    """Made for tests alone. Cases that may write are given no other."""
    variables: Mapping[str, SecretStr] = Field(default_factory=dict)
    """By name: the value, or `env:NAME` for what a variable holds."""


class Accounts(BaseModel):
    """What stands in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    production: bool = False
    """The services are the real ones: no case that may write is run."""
    fallback: str = ""
    """For cases that name no account, of an audience that has none."""
    audiences: Mapping[str, str] = Field(default_factory=dict)
    """By audience: its account."""
    accounts: Mapping[str, Account] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Accounts:
        named = {f"audiences.{name}": account for name, account in self.audiences.items()}
        for place, name in {"fallback": self.fallback, **named}.items():
            if name and name not in self.accounts:
                raise ValueError(f'{place} is "{name}", which is none of the accounts; {nearest(name, self.accounts)}')
        return self


def read_accounts(folder: Path) -> Accounts:
    """Those of a project's `.proctor/`; none where there is no file.

    Raises ConfigError for a file that others may read, and for one that does not fit.
    """
    path = folder / FILE
    if not path.exists():
        return Accounts()
    if path.stat().st_mode & _OTHERS:
        raise ConfigError("accounts_open", f"{path} can be read by others", f"chmod 600 {path}")
    data = read_toml(path, "accounts")
    try:
        return Accounts.model_validate(data)
    except ValidationError as error:
        raise toml_error(path, "accounts", error, _known_keys) from None


def variables_of(name: str, account: Account, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of an account with their values. Raises ConfigError for one whose own is not set."""
    found = {}
    for variable, secret in account.variables.items():
        value = secret.get_secret_value()
        if value.startswith(_FROM):
            source = value.removeprefix(_FROM)
            if not environ.get(source):
                told = f"account {name}: {variable} is taken from {source}, which is not set"
                raise ConfigError("account_variable_unset", told, f"export {source}=...")
            value = environ[source]
        found[variable] = value
    return found


def _known_keys(where: tuple[str, ...]) -> list[str]:
    return list(Account.model_fields if len(where) > 2 else Accounts.model_fields)
