"""JSONPath (RFC 9535) over a state. The one place that imports the library.

Its functions `match` and `search` are refused: their patterns have no bound. A matcher's `regex` has one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator

if TYPE_CHECKING:
    from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathQuery


def nodes(path: str, document: Any) -> list[tuple[str, Any]]:
    """Each value that the path finds, with its JSON pointer (without the first slash).

    Raises ValueError for a path that is none, RecursionError for a document nested too deeply for it.
    """
    from jsonpath_rfc9535 import JSONPathRecursionError

    try:
        found = _compiled(path).find(document)
    except JSONPathRecursionError as error:
        raise RecursionError(str(error)) from None
    return [("/".join(_escaped(part) for part in node.location), node.value) for node in found]


@lru_cache(maxsize=512)
def _compiled(path: str) -> JSONPathQuery:
    from jsonpath_rfc9535 import JSONPathError

    try:
        return _environment().compile(path)
    except JSONPathError as error:
        raise ValueError(f"{path} is no JSONPath: {error}") from None


@lru_cache(maxsize=1)
def _environment() -> JSONPathEnvironment:
    from jsonpath_rfc9535 import JSONPathEnvironment

    environment = JSONPathEnvironment()
    for unbounded in ("match", "search"):
        del environment.function_extensions[unbounded]
    return environment


def _escaped(part: int | str) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _is_path(path: str) -> str:
    _compiled(path)
    return path


PathField = Annotated[str, AfterValidator(_is_path)]
"""A field of a pydantic model that holds a JSONPath."""
