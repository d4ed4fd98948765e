"""The way back: where a request quotes the proxy's address of a service, the real service's URL is put there.

So a recording never holds a session's port or id, and a replay in another session asks for the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit

from proctor.interaction import Headers

_HEX = re.compile(r"%[0-9A-F]{2}")
_NEVER = re.compile(rb"(?!)")


class Restorer:
    """Knows one session's addresses in each spelling: plain, with escaped slashes (`\\/`), percent-encoded.

    Most requests quote none, so the port is looked for first: its digits are the same in every spelling.
    """

    def __init__(self, starts: Sequence[str], real_urls: Mapping[str, str]) -> None:
        """`starts` are the URLs that a service's name follows; `real_urls` has the real one of each service."""
        self._real_urls = {name.encode(): url for name, url in real_urls.items()}
        self._pattern = _pattern(starts, real_urls) if starts and real_urls else _NEVER
        ports = {str(urlsplit(start).port or "") for start in starts}
        self._sign = ports.pop() if len(ports) == 1 else ""
        self._sign_bytes = self._sign.encode()

    def text(self, where: str, text: str, told: list[str]) -> str:
        """`text` with real URLs; each kind of replacement is told once, as `request WHERE: SERVICE -> URL`."""
        if self._sign not in text:
            return text
        return self.data(where, text.encode("utf-8", "surrogateescape"), told).decode("utf-8", "surrogateescape")

    def data(self, where: str, data: bytes, told: list[str]) -> bytes:
        """Bytes with real URLs; the very same object where nothing is quoted."""
        if self._sign_bytes not in data:
            return data
        counts: Counter[str] = Counter()

        def real(match: re.Match[bytes]) -> bytes:
            url = self._real_urls[match["service"]]
            counts[f"request {where}: {match['service'].decode()} -> {url}"] += 1
            return _spelled(url, match["colon"].decode(), match["slash"].decode()).encode()

        restored = self._pattern.sub(real, data)
        for text, count in counts.items():
            line = f"{text} ({count} times)" if count > 1 else text
            if line not in told:
                told.append(line)
        return restored if counts else data

    def headers(self, headers: Headers, told: list[str]) -> Headers:
        """Headers with real URLs in their values."""
        if not [name for name, value in headers if self._sign in value and name.lower() != "host"]:
            return headers
        return tuple([(name, self.text(f"header {name.lower()}", value, told)) for name, value in headers])


def _pattern(starts: Sequence[str], services: Mapping[str, str]) -> re.Pattern[bytes]:
    """Every spelling of `START/SERVICE`, the same one for each colon and slash of an address."""
    rests = "|".join(dict.fromkeys(_in_any_spelling(start.partition("://")[2]) for start in starts))
    names = "|".join(map(re.escape, services))
    scheme = "https?" if any(start.startswith("https") for start in starts) else "http"
    return re.compile(
        rf"{scheme}(?P<colon>:|%3[Aa])(?P<slash>\\*/|%2[Ff])(?P=slash)(?:{rests})(?P=slash)"
        rf"(?P<service>{names})(?![A-Za-z0-9_-])".encode()
    )


def _in_any_spelling(text: str) -> str:
    spelled = {":": "(?P=colon)", "/": "(?P=slash)", "[": r"(?:\[|%5[Bb])", "]": r"(?:\]|%5[Dd])"}
    return "".join(spelled.get(char) or re.escape(char) for char in text)


def _spelled(url: str, colon: str, slash: str) -> str:
    """A URL in the spelling of the address that it replaces."""
    quoted = "%" in colon + slash
    if quoted:
        url = quote(url, safe=(":" if colon == ":" else "") + ("" if "%" in slash else "/"))
        if colon + slash != (colon + slash).upper():
            url = _HEX.sub(lambda match: match.group().lower(), url)
    return url if "%" in slash else url.replace("/", slash)
