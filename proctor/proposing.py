"""Which rule would forgive a difference between two runs of one scenario. A proposal; nothing applies it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_CONTEXT = 24
"""Characters before a value that a pattern quotes, at most: enough to tell its place, few enough to read."""
_WHOLE = 80
"""Characters of a whole value that may be an id; a longer one is a text."""
_WORDS = 3
"""Words of a text that may change by themselves; more is another text."""
_SHAPES: tuple[tuple[str, str], ...] = (
    ("a date and time", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"),
    ("a date", r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"),
    ("a date", r"\d{4}年\d{1,2}月\d{1,2}日"),
    ("a date", r"[A-Z][a-z]+ \d{1,2}, \d{4}"),
    ("a time", r"\d{1,2}:\d\d(?::\d\d)?"),
    ("a UUID", r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    ("a hexadecimal id", r"(?=[0-9a-f]*\d)[0-9a-f]{16,64}"),
    ("a timestamp", r"1\d{9}(?:\d{3})?(?:\.\d+)?"),
)
"""What a value that changes by itself looks like: its name and its pattern."""
_SIGNED = frozenset(
    f"x-{cloud}-{part}"
    for cloud in ("amz", "goog")
    for part in ("algorithm", "credential", "date", "expires", "security-token", "signature")
) | frozenset({"awsaccesskeyid", "googleaccessid", "signature", "expires", "policy"})
"""Of a URL or form that is signed for somebody else: what is another in each, in lower case."""
_EDGE = r"(?<![0-9A-Za-z]){}(?![0-9A-Za-z])"
_ANY_SHAPE = re.compile("|".join(f"(?P<s{at}>{_EDGE.format(shape)})" for at, (_, shape) in enumerate(_SHAPES)))


class Proposal(NamedTuple):
    """A rule for `proctor.toml`: `ignore` for a whole value, `volatile` for a part of a text (with its `pattern`)."""

    at: str
    pattern: str = ""
    looks_like: str = ""
    """What the value looks like: `a date`; empty where it has no known shape."""

    @property
    def toml_item(self) -> str:
        """The rule as one item of its list."""
        if not self.pattern:
            return _basic_string(self.at)
        # A literal string needs no second escaping, so that the pattern reads as it works.
        literal = "'" not in self.pattern and self.pattern.isprintable()
        quoted = f"'{self.pattern}'" if literal else _basic_string(self.pattern)
        return f"{{ at = {_basic_string(self.at)}, pattern = {quoted} }}"


def rule_place(where: str) -> str:
    """Where a difference is, as rules say it; empty for what no rule forgives.

    That is also a body which is compared as one text, and a header of a part.
    """
    part, _, place = where.partition(" ")
    if not place or (part == "body" and place == "/") or (part == "part" and " " in place):
        return ""
    return {"part": f"/{place}", "body": place, "query": f"?{place}", "form": f"/{place}"}.get(part, "")


def toml_of(rules: Iterable[Proposal]) -> list[str]:
    """The lines that declare them: one for `ignore`, one for `volatile`, as far as there are such."""
    items: dict[str, list[str]] = {}
    for rule in dict.fromkeys(rules):
        items.setdefault("volatile" if rule.pattern else "ignore", []).append(rule.toml_item)
    return [f"{key} = [{', '.join(each)}]" for key, each in items.items()]


def proposals(at: str, recorded: str, asked: str) -> list[Proposal]:
    """Rules that together forgive just the difference of two texts; none where it is more than values that change.

    A value counts where both texts have one of the same shape in the same place, and are equal around it.
    """
    old, new = list(_ANY_SHAPE.finditer(recorded)), list(_ANY_SHAPE.finditer(asked))
    if len(old) != len(new) or _around(recorded, old) != _around(asked, new):
        return []
    found: dict[Proposal, None] = {}
    for left, right in zip(old, new, strict=True):
        if left.group() == right.group():
            continue
        if left.lastgroup != right.lastgroup or left.lastgroup is None:
            return []
        name, shape = _SHAPES[int(left.lastgroup[1:])]
        if left.group() == recorded and right.group() == asked:
            return [Proposal(at, "", name)]
        found[Proposal(at, f"{_before(recorded, left.start())}({shape})", name)] = None
    return list(found)


def signed_proposals(places: Sequence[str]) -> list[Proposal]:
    """Rules for the places of a signed URL or form; none where one of them is more, or no signature is among them."""
    names = [place.lstrip("?/").lower() for place in places]
    if not any(name.endswith("signature") for name in names) or not _SIGNED.issuperset(names):
        return []
    return [Proposal(place, "", "the signature of a URL") for place in places]


def part_proposals(at: str, recorded: str, asked: str) -> list[Proposal]:
    """The same for values of no known shape: a whole short value, or single words of a text. Nothing says why."""
    if not recorded or not asked:
        return []
    old, new = (re.split(r"(\s+)", text) for text in (recorded, asked))
    if len(old) == len(new) == 1:
        return [Proposal(at)] if max(len(recorded), len(asked)) <= _WHOLE else []
    if len(old) != len(new):
        return []
    changed = [index for index, (left, right) in enumerate(zip(old, new, strict=True)) if left != right]
    if len(changed) > _WORDS or any(index % 2 for index in changed):
        return []
    starts = [sum(map(len, old[:index])) for index in changed]
    return list(dict.fromkeys(Proposal(at, rf"{_before(recorded, start)}(\S+)") for start in starts))


def _basic_string(text: str) -> str:
    """A text in TOML with escapes: those of JSON, and that of the one control character more which TOML forbids."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _around(text: str, matches: list[re.Match[str]]) -> list[str]:
    edges = [0, *(edge for match in matches for edge in match.span()), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _before(text: str, start: int) -> str:
    """What stands before a value, on its line, from the beginning of a word on."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if len(line) > _CONTEXT:
        line = line[-_CONTEXT:]
        line = line.partition(" ")[2] or line
    return re.escape(line).replace(r"\ ", " ")
