"""Reading a fault plan: a TOML, YAML or JSON file, or the short text itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from proctor.errors import ConfigError
from proctor.fault_plan import Fault, FaultPlanSpec
from proctor.fault_text import plan_of_text
from proctor.toml_file import read_toml, toml_error

_SUFFIXES = frozenset({".toml", ".yaml", ".yml", ".json"})


def read_plan(plan: str) -> FaultPlanSpec:
    """The plan in the file of that name, told by its ending; any other text is a plan itself.

    Raises ConfigError, naming the place, or UsageError for a wrong text.
    """
    path = Path(plan)
    if path.suffix.lower() not in _SUFFIXES or "=" in plan:
        return plan_of_text(plan)
    data = read_toml(path, "faults") if path.suffix.lower() == ".toml" else _read(path)
    try:
        return FaultPlanSpec.model_validate(data)
    except ValidationError as error:
        raise toml_error(path, "faults", error, _known) from None


def _known(where: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(Fault.model_fields if len(where) > 1 else FaultPlanSpec.model_fields)


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise ConfigError("faults_unreadable", f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError("faults_undecodable", f"{path} is not UTF-8 text", "save it as UTF-8") from None
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError("faults_syntax", f"{path} cannot be read: {error}") from None
