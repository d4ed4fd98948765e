"""What a world's answers leave in the trace: a row each, without secrets."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import orjson

from proctor.errors import WorldFailed
from proctor.interaction import Effect, EffectWhy
from proctor.proxy.seams import Exchange
from proctor.trace import body_value, row_line

_REMEMBERED = 4096
"""So many texts are remembered that were looked through for secrets, and so many beginnings of rows."""


class WorldTrace:
    """Writes the rows of one world in one session.

    A text that was looked through is not again, unless there is a new secret to look for: a tape's answers are looked
    through once too.
    """

    def __init__(self, tokens: Mapping[str, str]) -> None:
        """`tokens` has the argument of each tool that holds a token of the world's own: that is no secret."""
        self._tokens = tokens
        self._looked_through: dict[bytes, int] = {}
        """By text: how many secrets were known when none was found in it; -1 for one that has some."""
        self._lines: set[bytes] = set()
        """Bodies of requests that are one line of JSON."""
        self._heads: dict[tuple[str | int | None, ...], bytes] = {}

    def answered(
        self,
        exchange: Exchange,
        tool: str | None,
        status: int,
        body: bytes,
        effect: Effect,
        why: EffectWhy,
        changed: tuple[str, ...] = (),
    ) -> None:
        """The row of an answer of the world; counts it."""
        session = exchange.session
        line = b'{"index":%d,"session":"%s","source":"world","started":%.6f,"seconds":%.6f,%s%s%s,"result":%s}\n' % (
            exchange.index,
            session.id.encode(),
            exchange.started - session.began,
            time.perf_counter() - exchange.started,
            self._head((exchange.service.name, exchange.http.method, exchange.target, tool, status, effect, why)),
            _told(exchange, changed) if changed or exchange.rewrites else b"",
            self._arguments(exchange),
            body,
        )
        session.write_line(line if session.journal is not None else self._clean(exchange, tool, body, line))
        session.tally.acted(exchange.service.name)

    def failed(self, exchange: Exchange, tool: str | None, failure: WorldFailed) -> None:
        """The row of a call at which the world itself was at fault, with the traceback."""
        session = exchange.session
        row = {
            **exchange.row_head("world", exchange.request),
            "tool": tool,
            "arguments": body_value(exchange.headers, exchange.body),
            "status": 500,
            "error": failure.as_dict(),
        }
        session.write_row({key: value for key, value in row.items() if value is not None})
        session.failed(failure.code, failure.message, failure.fix, exchange=True, service=exchange.service.name)

    def _clean(self, exchange: Exchange, tool: str | None, answered: bytes, line: bytes) -> bytes:
        """The row with every secret replaced, those included that this very call shows."""
        secrets, seen = exchange.session.secrets, self._looked_through
        known = len(secrets.known)
        if seen.get(exchange.body) == known == seen.get(answered) and "?" not in exchange.target:
            return line
        for text in (answered, exchange.body):
            if text not in seen:
                secrets.learn_row(self._searched(exchange, tool, text))
        shown = secrets.data(line)
        if len(seen) < _REMEMBERED:
            found = len(secrets.known) if shown is line else -1
            seen.update({exchange.body: found, answered: found})
        return shown

    def _searched(self, exchange: Exchange, tool: str | None, text: bytes) -> Any:
        """The part of a text in which there may be secrets that nobody knows yet."""
        value = body_value(exchange.headers if text is exchange.body else (), text)
        own = self._tokens.get(tool or "") if text is exchange.body else None
        return {name: given for name, given in value.items() if name != own} if isinstance(value, dict) else value

    def _arguments(self, exchange: Exchange) -> bytes:
        """The member of a row; nothing for a request without a body. One line of JSON goes in as it came."""
        body = exchange.body
        if not body:
            return b""
        if body not in self._lines:
            if not _is_line(body):
                body = json.dumps(body_value(exchange.headers, body), ensure_ascii=False).encode()
            elif len(self._lines) < _REMEMBERED:
                self._lines.add(body)
        return b',"arguments":%s' % body

    def _head(self, facts: tuple[str | int | None, ...]) -> bytes:
        known = self._heads.get(facts)
        if known is None:
            names = ("service", "method", "target", "tool", "status", "effect", "effect_why")
            row = {name: fact for name, fact in zip(names, facts, strict=True) if fact is not None}
            known = row_line(row)[1:-2]
            if len(self._heads) < _REMEMBERED:
                self._heads[facts] = known
        return known


def _told(exchange: Exchange, changed: tuple[str, ...]) -> bytes:
    """The members that few rows have."""
    changes = {"changed": changed} if changed else {}
    rewrites = {"rewrites": exchange.rewrites} if exchange.rewrites else {}
    return b"," + row_line({**changes, **rewrites})[1:-2]


def _is_line(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except ValueError:
        return False
    return b"\n" not in body and b"\r" not in body
