"""Finding a world's class in the project: `package.module:Class`."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from proctor.errors import WorldError, nearest
from proctor.world.kind import WorldKind
from proctor.world.world import World

_ONE_AT_A_TIME = Lock()
"""Sessions are opened in threads, and what is being imported is looked for in tables of the whole process."""


@lru_cache(maxsize=32)
def load_world(reference: str, root: Path) -> WorldKind:
    """The world that `reference` names, from a file below `root`. Raises WorldError, which says what is wrong where."""
    module_name, _, name = reference.partition(":")
    path = world_file(reference, root)
    with _ONE_AT_A_TIME, _imported_afresh(module_name, path, root):
        module = _imported(reference, module_name)
    found = getattr(module, name, None)
    if found is None:
        worlds = [key for key, value in vars(module).items() if is_world(value)]
        told = f'world = "{reference}": {path.name} has no {name}'
        raise WorldError("world_unknown", told, nearest(name, worlds))
    if not is_world(found):
        told = f'world = "{reference}": {name} is no world'
        raise WorldError("world_class", told, f"class {name}(World[...]), from proctor.world")
    return WorldKind(found, name)


def is_world(value: Any) -> bool:
    """Whether it is a class that derives from `World`."""
    return isinstance(value, type) and issubclass(value, World) and value is not World


def world_file(reference: str, root: Path) -> Path:
    """The file that a world's module is in. Raises WorldError where there is none.

    It must lie below the project's folder: nothing else is run on a data file's word.
    """
    module_name = reference.partition(":")[0]
    base = root.joinpath(*module_name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            if not path.resolve().is_relative_to(root.resolve()):
                told = f'world = "{reference}": {path} leads out of the project'
                raise WorldError("world_outside", told, "keep the world in the project's folder")
            return path
    known = sorted(file.stem for file in base.parent.glob("*.py")) if base.parent.is_dir() else []
    told = f'world = "{reference}": there is no {base.relative_to(root)}.py in {root}'
    raise WorldError("world_missing", told, nearest(base.name, known))


def _imported(reference: str, module_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        told = f'world = "{reference}" cannot be imported: {type(error).__name__}: {error}{where}'
        raise WorldError("world_unimportable", told) from error


@contextmanager
def _imported_afresh(module_name: str, path: Path, root: Path) -> Iterator[None]:
    """Import from the project alone: a module of that name that belongs to somebody else stays theirs."""
    top = module_name.partition(".")[0]
    known = sys.modules.get(module_name)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == path.resolve():
        yield
        return
    theirs = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == top}
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(root))
        if theirs:
            for name in [name for name in sys.modules if name.partition(".")[0] == top]:
                del sys.modules[name]
            sys.modules.update(theirs)
