"""A function of the project's own that finds secrets, named in proctor.toml (never in a data file)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from proctor.errors import ConfigError

OwnFunction = Callable[[str], Iterable[str]]
"""Takes a text, gives the secrets that stand in it."""


def own_function(reference: str, root: Path) -> OwnFunction:
    """The function of `package.module:function`, looked for in the project's folder first. Raises ConfigError."""
    module_name, _, name = reference.partition(":")
    path = str(root)
    sys.path.insert(0, path)
    try:
        found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            "redact_function", f'[redact] function = "{reference}" cannot be loaded: {error}', "package.module:function"
        ) from None
    finally:
        sys.path.remove(path)
    if not callable(found):
        raise ConfigError("redact_function", f'[redact] function = "{reference}" is no function')
    return found  # type: ignore[no-any-return]
