"""Queries, forms and multipart bodies: secrets by the name of their field, and inside the others."""

from __future__ import annotations

import re
from collections.abc import Collection
from email.message import Message
from urllib.parse import quote, unquote_plus

from proctor.redaction.edits import Edit, shifted
from proctor.redaction.names import is_oauth_code, normal
from proctor.redaction.walker import Walker

_PAIR = re.compile(r"([^&;=]*)=((?:[^&;]|;(?![^&;=]*=))*)|[^&;=]+")
"""A pair, or a name alone; a `;` before what is no pair belongs to the value."""
_PART_NAME = re.compile(r'(?im)^content-disposition:[^\r\n]*?\bname="?([^";\r\n]*)"?')
_BLANK = re.compile(r"\r?\n\r?\n")
_PART_TYPE = re.compile(r"(?im)^content-type:\s*([^\r\n]*)")


def pair_edits(walker: Walker, text: str, place: str, names: Collection[str]) -> list[Edit]:
    """The changes to `a=1&b=2`. A changed value is spelled anew, every other one stays as it is."""
    pairs = list(_PAIR.finditer(text))
    present = {normal(unquote_plus(pair[1])) for pair in pairs if pair[1]}
    found = []
    for pair in pairs:
        if pair[2] is None:
            found += shifted(walker.edits(pair[0], place), pair.start())
            continue
        found += shifted(walker.edits(pair[1], place), pair.start())
        name, value = unquote_plus(pair[1]), unquote_plus(pair[2], errors="surrogateescape")
        where = f"{place}?{name}" if place.endswith("target") else f"{place} {name}"
        low = normal(name)
        if (low in names and not walker.finder.rules.is_none(low, value)) or is_oauth_code(low, value, present):
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
        blank = _BLANK.search(section)
        if blank:
            body = section[blank.end() :].removesuffix("\n").removesuffix("\r")
            edits = _part_edits(walker, section[: blank.start()], body, place)
            found += shifted(edits, at + blank.end())
        at += len(section)
    return found


def _part_edits(walker: Walker, head: str, body: str, place: str) -> list[Edit]:
    name = _PART_NAME.search(head)
    where = f"{place} {name[1]}" if name else place
    low = normal(name[1]) if name else ""
    if name and low in walker.finder.rules.query and not walker.finder.rules.is_none(low, body):
        new = walker.named(body, f"field {name[1]}", where)
        return [Edit(0, len(body), new)] if new != body else []
    kind = _PART_TYPE.search(head)
    if kind and "x-www-form-urlencoded" in kind[1].lower():
        return pair_edits(walker, body, where, walker.finder.rules.query)
    inner = multipart_edits(walker, kind[1], body, where) if kind and "multipart/" in kind[1].lower() else None
    return walker.edits(body, where) if inner is None else inner
