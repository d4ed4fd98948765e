"""Bodies as text: in UTF-8, in the charset that they declare, or byte for byte."""

from __future__ import annotations

import codecs
from email.message import Message

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """The text of a body, with the charset that gives the same bytes again."""
    for charset in (_MARKS.get(body[:2], ""), _declared(content_type), "utf-8"):
        try:
            text = body.decode(charset) if charset else ""
            if text and text.encode(charset) == body:
                return text, charset
        except (LookupError, ValueError):
            continue
    return body.decode("latin-1"), "latin-1"


def _declared(content_type: str) -> str:
    message = Message()
    message["content-type"] = content_type
    charset = message.get_content_charset("")
    return "utf-16-le" if charset == "utf-16" else charset
