"""The seal of a tape: what it says of the recording, and the digests that show any change, and where.

The canonical form of a tape is a line of JSON for what the seal says, then one for each interaction. Its digest is what
is sealed; layout, comments and line ends of the file do not count. A short sum of each interaction's line names the
one that was changed.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import orjson

from proctor.errors import CassetteTorn
from proctor.tape_yaml import BINARY, BODY_FILE, RERECORD, BodyFile, FlowList

FORMAT = 1
"""Version of the seal and of the `x-proctor` extension."""

_DERIVED = frozenset({"count", "digest", "sums"})
_NOT_OF_THE_STAMP = _DERIVED | {"v", "times"}
_TOLD = 5
_OPTIONS = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME
_EDITED = "if the edit is meant: proctor cassette seal NAME; else restore it from version control, or record it again"


def sealed(stamp: dict[str, Any], times: Sequence[Any], items: Sequence[Any]) -> dict[str, Any]:
    """The seal of these items, as it is written: stamp first, what is derived from the content after it."""
    facts = {"v": FORMAT, **stamp, "times": FlowList(times)}
    lines = canonical_lines(facts, items)
    return {
        "v": FORMAT,
        **stamp,
        "count": len(items),
        "digest": digest(b"\n".join(lines)),
        "sums": FlowList(_sum(line) for line in lines[1:]),
        "times": FlowList(times),
    }


def stamp_of(seal: dict[str, Any]) -> dict[str, Any]:
    """What a seal says of the recording."""
    return {key: value for key, value in seal.items() if key not in _NOT_OF_THE_STAMP}


def canonical(seal: dict[str, Any], items: Sequence[Any]) -> bytes:
    """The canonical form. Raises TypeError for content that no tape of ours holds."""
    return b"\n".join(canonical_lines({key: seal[key] for key in seal if key not in _DERIVED}, items))


def canonical_lines(facts: dict[str, Any], items: Sequence[Any]) -> list[bytes]:
    """The lines of the canonical form: the facts of the seal, sorted, then each item in the order of its keys.

    An item's order counts, since headers have one.
    """
    head = orjson.dumps(facts, default=_plain, option=_OPTIONS | orjson.OPT_SORT_KEYS)
    return [head, *[orjson.dumps(item, default=_plain, option=_OPTIONS) for item in items]]


def digest(canonical_form: bytes) -> str:
    """32 hex digits."""
    return hashlib.blake2b(canonical_form, digest_size=16).hexdigest()


def verified(seal: dict[str, Any], items: list[Any]) -> bytes | None:
    """The canonical form of content that is as it was sealed; None for any other."""
    try:
        form = canonical(seal, items)
    except TypeError:  # a date, a set, a huge number, a key that is no text: not as it was written
        return None
    times = seal.get("times")
    fits = isinstance(times, list) and len(times) == len(items) == seal.get("count")
    return form if fits and digest(form) == seal.get("digest") else None


def damage(seal: dict[str, Any], items: list[Any], lines: Sequence[int], line_of_seal: int) -> CassetteTorn:
    """The error for content that is not as it was sealed: what is gone, new or changed, with its line."""
    count, told = seal.get("count"), changes(seal, items, lines, line_of_seal)
    shown = "; ".join(told[:_TOLD]) + (f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else "")
    if isinstance(count, int) and len(items) < count:
        message = f"sealed with {count} interactions, holds {len(items)}"
        return CassetteTorn("cassette_short", f"{message}: {shown}", _EDITED)
    return CassetteTorn("cassette_changed", f"changed after it was sealed: {shown}", _EDITED)


def changes(seal: dict[str, Any], items: list[Any], lines: Sequence[int], line_of_seal: int) -> list[str]:
    """Each interaction that is gone, new or changed, with its line; else that the seal itself is another."""
    return list(_item_changes(seal, items, lines)) or [
        f"line {line_of_seal}: what the seal says of the recording is not as it was sealed"
    ]


def places_now(seal: dict[str, Any], items: list[Any]) -> dict[int, int]:
    """Where each sealed interaction stands now, by where it stood; without those that are gone. Found by the sums."""
    old, new = seal.get("sums"), sums_of(items)
    if not isinstance(old, list) or len(old) == len(new):
        return {at: at for at in range(len(new))}
    places: dict[int, int] = {}
    for kind, old_from, old_to, new_from, new_to in _aligned(list(map(str, old)), new):
        if kind in {"equal", "replace"}:
            places.update(zip(range(old_from, old_to), range(new_from, new_to), strict=False))
    return places


def times_for(seal: dict[str, Any], items: list[Any]) -> list[list[Any]]:
    """The times of each item, found by the sums where items came or went; zero where nothing tells."""
    times, old, new = seal.get("times"), seal.get("sums"), sums_of(items)
    known = [_believed(each) for each in times] if isinstance(times, list) else []
    if len(known) == len(items):
        return known
    found = [_believed(None)] * len(items)
    if isinstance(old, list) and len(old) == len(known):
        for kind, old_from, old_to, new_from, new_to in _aligned(list(map(str, old)), new):
            if kind in {"equal", "replace"}:
                for at, each in zip(range(new_from, new_to), known[old_from:old_to], strict=False):
                    found[at] = each
    return found


def _believed(times: Any) -> list[Any]:
    numbers = isinstance(times, list) and len(times) >= 2 and all(type(each) in {int, float} for each in times[:2])
    return times if numbers else [0.0, 0.0]


def seal_lost(line: int) -> CassetteTorn:
    """The error for a tape of ours whose seal is gone."""
    return CassetteTorn("cassette_unsealed", f"line {line}: its seal is damaged or gone", RERECORD)


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """How one list of sums became another: `equal`, `replace`, `delete` and `insert` with their ranges."""
    yield from SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def sums_of(items: Sequence[Any]) -> list[str]:
    """A short sum of each item; an empty one for what no tape of ours holds."""
    return [_sum_or_nothing(item) for item in items]


def _item_changes(seal: dict[str, Any], items: list[Any], lines: Sequence[int]) -> Iterator[str]:
    old = seal.get("sums")
    if not isinstance(old, list) or not all(isinstance(each, str) for each in old):
        return
    new = sums_of(items)
    if sorted(old) == sorted(new) and old != new:
        first = next(index for index, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
        yield f"the order is another from {_place(first, lines)} on"
        return
    for kind, old_from, old_to, new_from, new_to in _aligned(old, new):
        changed = min(old_to - old_from, new_to - new_from) if kind == "replace" else 0
        yield from (f"{_place(new_from + each, lines)} was changed" for each in range(changed))
        if kind in {"replace", "delete"}:
            yield from (f"the former #{each} is gone" for each in range(old_from + changed, old_to))
        if kind in {"replace", "insert"}:
            yield from (f"{_place(each, lines)} was added" for each in range(new_from + changed, new_to))


def _place(index: int, lines: Sequence[int]) -> str:
    return f"#{index} (line {lines[index]})" if index < len(lines) else f"#{index}"


def _sum(line: bytes) -> str:
    return hashlib.blake2b(line, digest_size=6).hexdigest()


def _sum_or_nothing(item: Any) -> str:
    try:
        return _sum(orjson.dumps(item, default=_plain, option=_OPTIONS))
    except TypeError:
        return ""


def _plain(value: Any) -> Any:
    """What orjson does not know: binary, a body kept beside the tape, and the dumper's own str, list and dict."""
    if isinstance(value, bytes):
        return [BINARY, b64encode(value).decode()]
    if isinstance(value, BodyFile):
        return [BODY_FILE, value.name, value.size]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    raise TypeError(type(value).__name__)
