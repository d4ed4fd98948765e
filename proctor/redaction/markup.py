"""Secrets in XML and HTML: by the name of an element, of an attribute, or of a field that a tag tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from proctor.redaction.names import normal
from proctor.redaction.rules import Rules
from proctor.redaction.span import Span

_ELEMENT = re.compile(
    r"<(?:[\w.-]+:)?([\w.-]{2,64})(?:\s[^<>]*)?>(?:<!\[CDATA\[((?:[^\]<]|\](?!\]>)|<(?!!\[)){1,4096})\]\]>|([^<>]{1,4096}))</"
)
_TAG = re.compile(r"<[A-Za-z][^<>]{1,4096}>")
_ATTRIBUTE = re.compile(r"\s([\w.:-]{2,64})=(?:\"([^\"<>]{1,4096})\"|'([^'<>]{1,4096})')")
_TITLES = frozenset({"name", "key", "id"})
_VALUES = frozenset({"value", "content"})


def has_markup(text: str) -> bool:
    """Quickly told: whether a look for elements is worth it."""
    return "</" in text or ("<" in text and "=" in text)


def markup_spans(rules: Rules, text: str) -> Iterator[Span]:
    """Every secret that a name in the markup tells of."""
    for found in _ELEMENT.finditer(text):
        yield from _span(rules, found[1], found, 2 if found[2] else 3)
    for tag in _TAG.finditer(text):
        attributes = list(_ATTRIBUTE.finditer(text, tag.start(), tag.end()))
        title = next((one[2] or one[3] for one in attributes if one[1].lower() in _TITLES), "")
        for one in attributes:
            name = title if one[1].lower() in _VALUES else one[1]
            yield from _span(rules, name, one, 2 if one[2] else 3)


def _span(rules: Rules, name: str, found: re.Match[str], group: int) -> Iterator[Span]:
    low, value = normal(name.rpartition(":")[2]), found[group].strip()
    if low in rules.fields and not rules.is_none(low, unescape(value)):
        start = found.start(group) + found[group].index(value)
        yield Span(start, start + len(value), unescape(value), "named element")
