"""Adding declared effects to `proctor.toml`, with its comments and layout as they are."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from proctor.config import Config
from proctor.effect_table import Confirmation
from proctor.errors import ConfigError, PlatformError
from proctor.replacing import replace_file


def declare(path: Path, confirmed: Mapping[str, Confirmation]) -> None:
    """Add the entries to the services' lists, and replace the file by one rename.

    Raises ConfigError where it cannot be read or written, PlatformError where the edit would change anything else;
    the file is then as it was.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        edited = with_effects(text, confirmed)
        Config.model_validate({**tomllib.loads(edited), "root": path.parent.resolve()})
        replace_file(path.resolve(), edited.encode("utf-8"), stat.S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise ConfigError(
            "config_unwritable", f"{path} cannot be written: {error.strerror}", "it is as it was"
        ) from None
    except ValueError as error:
        fix = "add the lines that `proctor effects` prints by hand, and report this"
        raise PlatformError("config_not_editable", f"{path} is as it was: {error}", fix) from None


def with_effects(text: str, confirmed: Mapping[str, Confirmation]) -> str:
    """The text of a configuration with the entries added. Raises ValueError where that would change anything else."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted: dict[str, Any] = deepcopy(tomllib.loads(text))
    try:
        document = tomlkit.parse(text)
        for name, added in confirmed.items():
            for key, entries in added._asdict().items():
                if entries:
                    wanted["services"][name][key] = [*wanted["services"][name].get(key, ()), *entries]
                    _add(document["services"][name], key, entries)
        edited = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ValueError(str(error)) from None
    if tomllib.loads(edited) != wanted:
        raise ValueError("the edit would change more than the effects")
    return edited


def _add(table: Any, key: str, entries: tuple[str, ...]) -> None:
    """Add to the list, or make it behind the last key: at the end it would part the next table from its comment."""
    from tomlkit.items import AoT, Table

    if key in table:
        for entry in entries:
            table[key].append(entry)
        return
    body = getattr(getattr(table, "value", None), "body", ())
    keys = [known for known, item in body if known is not None and not isinstance(item, Table | AoT)]
    if keys:
        table.value._insert_after(keys[-1], key, list(entries))  # has no public name
    else:  # its parts lie apart in the file
        table[key] = list(entries)
