"""How many tokens a text is, and how many a model takes: from files on this disk, never from the network.

litellm ships two of tiktoken's encodings and a table of models; both are read as files, since importing litellm takes
seconds. Only OpenAI publishes its models' encodings: for any other model a count is an estimate by `cl100k_base`,
which gives more tokens than newer encodings do, so that what fits by it rather fits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from proctor.errors import UsageError

if TYPE_CHECKING:
    from tiktoken import Encoding

Value = TypeVar("Value")

INSTALL = "pip install 'proctor[llm]'"
_OTHERWISE = "cl100k_base"
_BUNDLED = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""Of each encoding, the file's name (tiktoken's own cache wants it so) and its SHA-256."""
_SLICE = 20_000
"""Characters counted at once: tiktoken's stack overflows on a million spaces, which is a panic that ends a program."""


def count(text: str, model: str = "") -> int:
    """Tokens of `text` for `model`; at most a few too many. Raises UsageError where it cannot be counted."""
    encoding = _encoding(_encoding_name(model))
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return sum(len(encoding.encode_ordinary(part)) for part in slices)


def window_of(model: str) -> int | None:
    """Tokens that a prompt of `model` may have, by litellm's table; None where that does not say."""
    return found_in(_windows(), model)


def found_in(table: Mapping[str, Value], model: str) -> Value | None:
    """What a table by litellm's names holds for a model, also behind a gateway: of `a/b/c` for `b/c`, then for `c`."""
    names = [model, *(model.split("/", skipped)[-1] for skipped in range(1, model.count("/") + 1))]
    return next((table[name] for name in names if name in table), None)


def model_table() -> dict[str, dict[str, Any]]:
    """litellm's table of models and prices, 3.5 MB, read anew; empty where litellm is not installed."""
    folder = _litellm()
    try:
        table = orjson.loads((folder / "model_prices_and_context_window_backup.json").read_bytes()) if folder else {}
    except (OSError, ValueError):
        return {}
    return {name: entry for name, entry in table.items() if isinstance(entry, dict)} if isinstance(table, dict) else {}


@lru_cache(maxsize=1)
def _windows() -> dict[str, int]:
    told = {name: entry.get("max_input_tokens") for name, entry in model_table().items()}
    return {name: tokens for name, tokens in told.items() if isinstance(tokens, int) and tokens > 0}


def _litellm() -> Path | None:
    found = find_spec("litellm")  # finds without importing
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


def _encoding_name(model: str) -> str:
    try:
        from tiktoken import encoding_name_for_model
    except ImportError:
        raise _not_available("tiktoken is not installed") from None
    try:
        name = encoding_name_for_model(model.rpartition("/")[2])
    except KeyError:
        return _OTHERWISE
    return name if name in _BUNDLED else _OTHERWISE


@lru_cache(maxsize=len(_BUNDLED))
def _encoding(name: str) -> Encoding:
    """The encoding. tiktoken deletes a file of another digest and asks the network, so that is looked at first."""
    from tiktoken import get_encoding

    folder = _litellm()
    if folder is None:
        raise _not_available("litellm, which ships the encodings, is not installed")
    folder = folder / "litellm_core_utils" / "tokenizers"
    file, digest = _BUNDLED[name]
    try:
        held = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    except OSError:
        held = ""
    if held != digest:
        raise _not_available(f"the installed litellm does not hold the encoding {name} as it should")
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return get_encoding(name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _not_available(why: str) -> UsageError:
    return UsageError("token_counts_not_available", f"tokens cannot be counted: {why}", f"Install it with: {INSTALL}")
