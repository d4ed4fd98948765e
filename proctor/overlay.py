"""Overlays: what one case changes in the recorded answers, to see what the agent makes of other data."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from proctor.service_config import checked_pointers
from proctor.toml_file import read_toml, toml_error


class Patch(BaseModel):
    """One value that is put into recorded answers (`[[patch]]` of an overlay file)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    tool: str = "*"
    """The tool's name, with `*`; `GET /path` for calls without one."""
    at: str
    """A JSON pointer in the answer; a last key that is not there is added, `-` stands for the end of a list."""
    value: Any
    call: int | None = Field(default=None, ge=1)
    """Only the answer to so manieth call of these (from 1); by default each."""

    @field_validator("at")
    @classmethod
    def _pointer(cls, at: str) -> str:
        if "*" in at.split("/"):
            raise ValueError(f'"{at}": an overlay names one place, not "*"')
        return checked_pointers((at,))[0]

    def meant(self, service: str, name: str) -> bool:
        """Whether calls of this name are among those it is for."""
        return service == self.service and fnmatchcase(name, self.tool)

    @property
    def told(self) -> str:
        """The patch in words."""
        which = f", call {self.call}" if self.call else ""
        return f"{self.service} {self.tool}{which}: {self.at}"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    patch: tuple[Patch, ...] = Field(min_length=1)


def load_overlay(path: Path) -> tuple[Patch, ...]:
    """The patches of a TOML file, in order. Raises ConfigError, naming the place, where it cannot be read."""
    try:
        return _File.model_validate(read_toml(path, "overlay")).patch
    except ValidationError as error:
        raise toml_error(
            path, "overlay", error, lambda where: Patch.model_fields if len(where) > 1 else ("patch",)
        ) from None
