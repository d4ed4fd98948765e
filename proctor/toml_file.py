"""Reading TOML files that people write, with errors that name the key and the nearest right one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.errors import ConfigError, nearest


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """A TOML file as plain data. Raises ConfigError with the code `what`_unreadable, _undecodable or _syntax."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{what}_unreadable", f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{what}_undecodable", f"{path} is not UTF-8 text", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{what}_syntax", f"{path} is not TOML: {error}") from None


def toml_error(
    path: Path, what: str, error: ValidationError, known_keys: Callable[[tuple[str, ...]], Iterable[str]]
) -> ConfigError:
    """The first thing wrong, as a person would say it; `known_keys` gives the right ones at a place of the file."""
    first = error.errors(include_url=False)[0]
    where = tuple(str(part) for part in first["loc"])
    dotted = ".".join(where)
    if first["type"] == "extra_forbidden":
        return ConfigError(
            f"{what}_unknown_key", f'{path}: unknown key "{dotted}"', nearest(where[-1], known_keys(where))
        )
    message = first["msg"].removeprefix("Value error, ")
    return ConfigError(f"{what}_bad_value", f"{path}: {dotted or 'file'}: {message}")
