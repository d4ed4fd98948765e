"""Headers that belong to one connection, and what a message's framing says."""

from __future__ import annotations

import re
from collections.abc import Callable

from multidict import CIMultiDict

from proctor.interaction import Headers

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What no header may hold. Parsers let some of it pass; whoever writes a header does not."""


def end_to_end(headers: Headers) -> Headers:
    """The headers without those of the connection, the ones that `Connection` names included."""
    names = [name.lower() for name, _ in headers]
    if HOP_BY_HOP.isdisjoint(names):
        return headers
    dropped = set(HOP_BY_HOP)
    for name, (_, value) in zip(names, headers, strict=True):
        if name == "connection":
            dropped.update(token.strip().lower() for token in value.split(","))
    return tuple(pair for name, pair in zip(names, headers, strict=True) if name not in dropped)


def for_upstream(headers: Headers, last: Callable[[Headers], Headers] = lambda headers: headers) -> CIMultiDict[str]:
    """Request headers as the client session takes them; `last` puts in what this hop adds of its own.

    Host, length and Expect are its own business. Repeats of a name get one spelling: the session would drop the first
    of two that differ in case only.
    """
    sent: CIMultiDict[str] = CIMultiDict()
    spelled: dict[str, str] = {}
    for name, value in last(end_to_end(headers)):
        low = name.lower()
        if low not in {"host", "content-length", "expect"}:
            sent.add(spelled.setdefault(low, name), value)
    return sent


def unsendable(reason: str, headers: Headers) -> str:
    """Why no client can be given an answer with this head, though it could be read; empty where one can."""
    if _CONTROL.search(reason):
        return "a control character in its status line"
    for name, value in headers:
        if _CONTROL.search(value):
            return f'a control character in its header "{name}"'
        if name.lower() == "transfer-encoding" and value.strip().lower() not in {"chunked", "identity"}:
            return f"its body comes with Transfer-Encoding: {value}, for which nobody asked"
    return ""


def for_client(headers: Headers) -> CIMultiDict[str]:
    """Response headers as they go to the agent: in order, with case and repeats."""
    return CIMultiDict(end_to_end(headers))


def announced_length(headers: CIMultiDict[str]) -> int | None:
    """Content-Length, or None where the body ends otherwise."""
    text = headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() else None
