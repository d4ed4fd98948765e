"""What a model's API leaves in texts and tells whose it is: ids in its shape, and fields that only it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from proctor.json_spans import string_leaves

_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""An id begins at no letter or digit, or after an escaped line break."""
_SHAPED = re.compile(
    rf"{_EDGE}(?:"
    r"call_(?:(?=[A-Za-z]*\d)[A-Za-z0-9]{12,}|(?=(?:[a-z]*[A-Z]){3})[A-Za-z]{20,}|\d{1,3}_[0-9a-f-]{8,})"
    r"|(?:srv)?toolu(?:_bdrk|_vrtx)?_[A-Za-z0-9]{6,}|tooluse_[\w-]{8,}"
    r"|chatcmpl-?[\w-]{6,}|cmpl-[A-Za-z0-9]{8,}|modelcmpl-\w+|functions\.\w+:\d+"
    r"|(?:msg|req|resp|rs|fc|run|thread|asst|step|ws|batch)_(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|fp_[0-9a-f]{8,}|gen-\d{9,}-\w+|ft(?:job)?-(?=[A-Za-z]*\d)[A-Za-z0-9]{16,})(?![A-Za-z0-9])"
)
_CALL = re.compile(r"call_|.*tool|functions\.|fc_", re.IGNORECASE)
_SIGNS = (
    "call_", "toolu", "chatcmpl", "cmpl-", "functions.", "msg_", "req_", "resp_", "rs_", "fc_", "run_", "thread_",
    "asst_", "step_", "ws_", "batch_", "fp_", "gen-", "ft-", "ftjob-",
)  # fmt: skip
_LEAST = 9
"""Characters of a call's id that is looked for in texts; a shorter one may be any word or number."""

_ALWAYS = frozenset({"system_fingerprint", "stop_reason", "finish_reason", "service_tier", "prompt_filter_results"})
_OF_A_MESSAGE = frozenset({"refusal", "annotations", "reasoning_content", "function_call", "audio"})
_OF_A_COMPLETION = frozenset({"model", "usage", "created", "object", "id"})
_COUNTS = frozenset(
    "prompt_tokens completion_tokens input_tokens output_tokens total_tokens cache_read_input_tokens".split()  # noqa: SIM905
)
_BARE = re.compile(
    r"system_fingerprint|chat\.completion(?:\.chunk)?|(?:Chat|Parsed)Completion\w*|(?:prompt|completion)_tokens\w*"
    r"|[\"']?\b(?:refusal|annotations)[\"']?\s*[=:]\s*(?:None|null|\[\])"
)
_BARE_SIGNS = ("system_fingerprint", "chat.completion", "Completion", "_tokens", "refusal", "annotations")
METADATA = "[metadata]"
_COLON = re.compile(r"\s*:\s*")
_COMMA = re.compile(r"\s*,\s*")


class Ids:
    """The ids of one run, each as `call_1`, `call_2`, ... by first use; those of messages and answers as `id_1`."""

    def __init__(self, known: Iterable[str]) -> None:
        """`known` are ids of calls as the run has them, whatever their shape."""
        self._given: dict[str, str] = {}
        long = sorted({each for each in known if _is_an_id(each)}, key=len, reverse=True)
        joined = "|".join(map(re.escape, long))
        self._known = re.compile(rf"{_EDGE}(?:{joined})(?![A-Za-z0-9])") if long else None

    def renumbered(self, text: str) -> str:
        """The text with each id replaced wherever it stands."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._number(found[0], "call"), text)
        if any(sign in text for sign in _SIGNS):
            text = _SHAPED.sub(lambda found: self._number(found[0], "call" if _CALL.match(found[0]) else "id"), text)
        return text

    def _number(self, identity: str, word: str) -> str:
        if identity not in self._given:
            number = 1 + sum(each.startswith(f"{word}_") for each in self._given.values())
            self._given[identity] = f"{word}_{number}"
        return self._given[identity]


def shaped_ids(text: str) -> Iterator[tuple[int, int]]:
    """Where an id in the shape of some API's stands."""
    if any(sign in text for sign in _SIGNS):
        yield from (found.span() for found in _SHAPED.finditer(text))


def bare_metadata(text: str) -> Iterator[tuple[int, int]]:
    """Where words stand that only a model's API writes."""
    if any(sign in text for sign in _BARE_SIGNS):
        yield from (found.span() for found in _BARE.finditer(text))


def without_metadata(text: str) -> str:
    """The text without the fields of a model's API: out of its JSON where it is some, else a word in their place.

    `model` or `usage` stays where the object around it is no answer of a model: a phone has a model, a line has usage.
    """
    if any(sign in text for sign in (*_BARE_SIGNS, "_reason", "service_tier", "prompt_filter", "choices")):
        text = _without_fields(text)
        if any(sign in text for sign in _BARE_SIGNS):
            text = _BARE.sub(METADATA, text)
    return text


def _is_an_id(name: str) -> bool:
    return len(name) >= _LEAST and any(each.isdigit() for each in name) and bool(re.fullmatch(r"[\w.:-]+", name))


def _without_fields(text: str) -> str:
    """Cut from the JSON text itself, so that every other character stays as it is."""
    leaves = string_leaves(text, keys=True)
    if leaves is None or text.lstrip()[:1] not in ("{", "["):
        return text
    doomed = {pointer for pointer, value in _objects(json.loads(text, parse_int=str, parse_float=str), "")
              for pointer in _doomed(pointer, value)}  # fmt: skip
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    kept, at = "", 0
    for leaf in leaves:
        if not leaf.is_key or leaf.pointer not in doomed or leaf.start < at:
            continue
        value = _COLON.match(text, leaf.end)
        _, end = decoder.raw_decode(text, value.end() if value else leaf.end)
        kept += text[at : leaf.start]
        comma = _COMMA.match(text, end)
        at = comma.end() if comma else end
        if comma is None and kept.rstrip().endswith(","):
            kept = kept.rstrip()[:-1]
    return kept + text[at:]


def _objects(value: Any, pointer: str, depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > 60:
        return
    if isinstance(value, dict):
        yield pointer, value
        for key, each in value.items():
            yield from _objects(each, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", depth + 1)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _objects(each, f"{pointer}/{index}", depth + 1)


def _doomed(pointer: str, value: dict[str, Any]) -> Iterator[str]:
    keys = value.keys()
    is_message = "role" in keys and "content" in keys
    usage = value.get("usage")
    is_answer = "choices" in keys or "system_fingerprint" in keys or (is_message and "stop_reason" in keys)
    has_counts = isinstance(usage, dict) and not _COUNTS.isdisjoint(usage)
    rules: tuple[tuple[bool, frozenset[str]], ...] = (
        (True, _ALWAYS if is_answer or is_message or "message" in keys else frozenset({"system_fingerprint"})),
        (is_message or is_answer, _OF_A_MESSAGE),
        (is_answer, _OF_A_COMPLETION),
        (has_counts, frozenset({"usage", "model"})),
    )
    names = {name for holds, names in rules if holds for name in names}
    yield from (f"{pointer}/{name}" for name in sorted(names & keys))
