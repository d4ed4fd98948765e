"""Queries, forms and multipart bodies: secrets by the name of their field, and inside the others."""

from __future__ import annotations

import re
from collections.abc import Collection
from email.message import Message
from urllib.parse import quote, unquote_plus

from proctor.redaction.edits import Edit, shifted
from proctor.redaction.names import normal
from proctor.redaction.walker import Walker

_PAIR = re.compile(r"([^&;=]*)=([^&;]*)")
_CODES = frozenset({"code"})
"""Secret beside `grant_type` or `state` only, as OAuth has it; elsewhere a code is anything."""
_OAUTH = frozenset({"granttype", "state", "redirecturi"})
_PART_NAME = re.compile(r'(?i)content-disposition:[^\r\n]*?\bname="?([^";\r\n]*)"?')
_PART_TYPE = re.compile(r"(?i)content-type:\s*([^\r\n]*)")


def pair_edits(walker: Walker, text: str, place: str, names: Collection[str]) -> list[Edit]:
    """The changes to `a=1&b=2`. A changed value is spelled anew, every other one stays as it is."""
    pairs = list(_PAIR.finditer(text))
    present = {normal(unquote_plus(pair[1])) for pair in pairs}
    found = []
    for pair in pairs:
        name, value = unquote_plus(pair[1]), unquote_plus(pair[2], errors="surrogateescape")
        where = f"{place}?{name}" if place.endswith("target") else f"{place} {name}"
        low = normal(name)
        if low in names or (low in _CODES and present & _OAUTH):
            new = walker.named(value, f"parameter {name}", where)
        else:
            new = walker.text(value, where)
        if new != value:
            found.append(Edit(*pair.span(2), quote(new, safe="", errors="surrogateescape")))
    return found


def multipart_edits(walker: Walker, content_type: str, text: str, place: str) -> list[Edit] | None:
    """The changes to a multipart body; None where it is none."""
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_boundary()
    if not boundary or f"--{boundary}" not in text:
        return None
    found = []
    at = text.index(f"--{boundary}")
    for section in text.split(f"--{boundary}")[1:]:
        at += len(boundary) + 2
        head, blank, content = section.partition("\r\n\r\n")
        if blank:
            start = at + len(head) + len(blank)
            body = content.removesuffix("\r\n")
            found += shifted(_part_edits(walker, head, body, place), start)
        at += len(section)
    return found


def _part_edits(walker: Walker, head: str, body: str, place: str) -> list[Edit]:
    name = _PART_NAME.search(head)
    where = f"{place} {name[1]}" if name else place
    if name and normal(name[1]) in walker.finder.rules.query and body.strip():
        new = walker.named(body, f"field {name[1]}", where)
        return [Edit(0, len(body), new)] if new != body else []
    kind = _PART_TYPE.search(head)
    if kind and "x-www-form-urlencoded" in kind[1].lower():
        return pair_edits(walker, body, where, walker.finder.rules.query)
    return walker.edits(body, where)
