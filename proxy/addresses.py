"""The two addresses of each service of a session: the real one, and the one at the proxy that the agent has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urljoin

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PATH = re.compile(r"[^?#]*")
_DOTS = re.compile(r"/\.\.?(?:/|$)")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class Asked(NamedTuple):
    """A request that was answered: the service, and its whole URL at the real service and at the proxy."""

    service: str
    real: str
    ours: str


class Addresses:
    """Knows what stands where. Pure; made once a session.

    A URL belongs to the service whose real URL is its longest prefix up to the end of a path segment. Hosts compare
    without case, a default port equals none; path and query go over byte for byte.
    """

    def __init__(self, session_url: str, real_urls: Mapping[str, str]) -> None:
        """`session_url` is the session's address at the proxy, `real_urls` has the real one of each known service."""
        self.session_url = session_url
        self.real_urls = dict(real_urls)
        self._places = [place for name, url in real_urls.items() if (place := _place(name, url)) is not None]

    def asked(self, service: str, target: str, real: str) -> Asked:
        """A request to `service`, whose URL at the real service was `real`."""
        return Asked(service, real, f"{self.session_url}/{service}{target}")

    def ours(self, url: str, asked: Asked) -> str | None:
        """The proxy's address for an absolute (or protocol-relative) URL in an answer; None where it has none."""
        split = _split(f"{asked.real.partition(':')[0]}:{url}" if url.startswith("//") else url)
        if split is None:
            return None
        origin, rest = split
        fitting = [place for place in self._places if place.origin == origin and is_below(rest, place.path)]
        if not fitting:
            return None
        # Of services that share one URL, the one that answers speaks of itself.
        best = max(fitting, key=lambda place: (len(place.path), place.service == asked.service))
        return f"{self.session_url}/{best.service}{rest[len(best.path) :]}"

    def followed(self, reference: str, asked: Asked) -> str | None:
        """What a header must say instead of `reference`, so that the agent goes where the service sends it.

        None where it can stay: a client resolves a relative reference against the address at the proxy, which is right
        below the service. An absolute path is the real service's, so it is resolved even where no service is there.
        """
        if not reference or reference[0] in "?#":
            return None
        if _SCHEME.match(reference):
            return self.ours(reference, asked)
        if not reference.startswith("/"):
            return self._climbed(reference, asked)
        base = _URL.fullmatch(asked.real)
        if base is None:  # a tape that another program recorded may hold any text
            return None
        whole = f"{base[1]}:{reference}" if reference.startswith("//") else f"{base[1]}://{base[2]}{reference}"
        return self.ours(whole, asked) or whole

    def _climbed(self, reference: str, asked: Asked) -> str | None:
        """For a relative reference; None where client and service agree on where it leads."""
        try:
            whole, seen = urljoin(asked.real, reference), urljoin(asked.ours, reference)
        except ValueError:
            return None
        meant = self.ours(whole, asked) or whole
        return None if meant == seen else meant


class _Place(NamedTuple):
    service: str
    origin: str
    path: str


def known_urls(names: Iterable[str], *sources: Mapping[str, str]) -> dict[str, str]:
    """The real URL of each named service, from the first source that has a usable one; none for one without."""
    found: dict[str, str] = {}
    for name in names:
        for source in sources:
            if name not in found and _place(name, source.get(name, "")) is not None:
                found[name] = source[name]
    return found


def _place(service: str, url: str) -> _Place | None:
    split = _split(url)
    return None if split is None else _Place(service, *split)


def _split(url: str) -> tuple[str, str] | None:
    """The origin of an http(s) URL, comparable, and the rest without dot segments; None for any other text."""
    match = _URL.fullmatch(url)
    if match is None or match[1].lower() not in _DEFAULT_PORTS:
        return None
    scheme, host, rest = match[1].lower(), match[2].lower(), match[3]
    name, colon, port = host.rpartition(":")
    if colon and port in {"", _DEFAULT_PORTS[scheme]}:
        host = name
    path = _PATH.match(rest)
    if path is not None and _DOTS.search(path.group()):
        rest = _without_dots(path.group()) + rest[path.end() :]
    return f"{scheme}://{host}", rest


def is_below(rest: str, path: str) -> bool:
    """Whether a path, or a URL, begins with another one up to the end of a segment."""
    return rest.startswith(path) and rest[len(path) : len(path) + 1] in {"", "/", "?", "#"}


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    last = [""] if path.endswith(("/.", "/..")) else []
    return "/" + "/".join(kept + last)
