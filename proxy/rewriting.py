"""What an answer says of services' addresses, rewritten to the proxy on the way to the agent.

The tape, the journal and the trace's result keep the real service's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from proctor.encoding import decoded, encoded
from proctor.interaction import Headers, Response, header, readable
from proctor.json_spans import StringLeaf, pointer_pattern, string_leaves
from proctor.proxy.addresses import Addresses, Asked
from proctor.redaction.digests import remeasured

_WHOLE = frozenset({"location", "content-location", "operation-location", "azure-asyncoperation"})
"""Headers whose value is one URL."""
_PARTS = {
    # What is quoted in a Link is a parameter's, and may hold any sign.
    "link": re.compile(r'"(?:[^"\\]|\\.)*"|<\s*(?P<url>[^>]*?)\s*>', re.DOTALL),
    "refresh": re.compile(r"""\burl\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>\S+))""", re.IGNORECASE),
}
"""Headers that hold URLs among other things, and where."""
_LEADING = _WHOLE.union(_PARTS)


class Answer(NamedTuple):
    """An answer as the agent gets it. `rewrites` has a text for each change, `note` what could not be looked into."""

    headers: Headers
    body: bytes
    rewrites: tuple[str, ...] = ()
    note: str = ""


class Rewriter:
    """Rewrites the answers of one session. Pure; made once a session."""

    def __init__(self, addresses: Addresses, declared: Mapping[str, tuple[str, ...]]) -> None:
        """`declared` has the body pointers of each service, as `proctor.toml` gives them."""
        self._addresses = addresses
        self._patterns = {name: pointer_pattern(pointers) for name, pointers in declared.items() if pointers}

    def unaddressed(self) -> list[str]:
        """The services with declared pointers whose real URL nothing says, so that they are never rewritten."""
        return [name for name in self._patterns if name not in self._addresses.real_urls]

    def holds(self, service: str, headers: Headers) -> bool:
        """Whether an answer must be whole before any of it can go on: JSON, of a service with declared pointers."""
        return service in self._patterns and _is_json(headers)

    def answer(self, service: str, target: str, url: str, response: Response) -> Answer:
        """The whole answer, to a request for `target` of `service`, whose real URL was `url`."""
        headers, _, rewrites, _ = self.headers(service, target, url, response.headers)
        if not response.body or not self.holds(service, response.headers):
            return Answer(headers, response.body, rewrites)
        asked, told = self._addresses.asked(service, target, url), list(rewrites)
        coding = header(response.headers, "content-encoding")
        plain = decoded(response.body, coding)
        changed = None if plain is None else self._json(asked, plain, told)
        if changed is None:
            why = f'its content coding "{coding}" is unknown or damaged' if plain is None else "it is no JSON"
            note = f"{service}: the addresses in the body of a JSON answer stayed as they are: {why}"
            return Answer(headers, response.body, tuple(told), note)
        body = response.body if changed == plain else encoded(changed, coding)
        return Answer(remeasured(headers, response.body, body), body, tuple(told))

    def headers(self, service: str, target: str, url: str, headers: Headers) -> Answer:
        """An answer whose body goes on as it comes."""
        if _LEADING.isdisjoint([name.lower() for name, _ in headers]):
            return Answer(headers, b"")
        told: list[str] = []
        asked = self._addresses.asked(service, target, url)
        sent = tuple([(name, self._header(asked, name, value, told)) for name, value in headers])
        return Answer(sent, b"", tuple(told))

    def _header(self, asked: Asked, name: str, value: str, told: list[str]) -> str:
        low = name.lower()
        if low in _WHOLE:
            reference = value.strip()
            return self._followed(asked, name, reference, told) or value
        if low not in _PARTS:
            return value

        def part(match: re.Match[str]) -> str:
            found = match.lastgroup
            if found is None:
                return match.group()
            followed = self._followed(asked, name, match[found], told)
            start, end = (place - match.start() for place in match.span(found))
            return match.group() if followed is None else match.group()[:start] + followed + match.group()[end:]

        return _PARTS[low].sub(part, value)

    def _followed(self, asked: Asked, name: str, reference: str, told: list[str]) -> str | None:
        followed = self._addresses.followed(reference, asked)
        if followed is not None:
            told.append(self._told(f"header {name}", reference, followed))
        return followed

    def _json(self, asked: Asked, plain: bytes, told: list[str]) -> bytes | None:
        """A JSON body with the declared strings rewritten; None where it cannot be read."""
        try:
            text = plain.decode("utf-8")
        except UnicodeDecodeError:
            return None
        leaves = string_leaves(text)
        if leaves is None:
            return None
        pieces, at = [], 0
        for leaf in leaves:
            ours = self._declared(asked, leaf)
            if ours is not None:
                told.append(self._told(f"body {leaf.pointer}", leaf.value, ours))
                pieces += [text[at : leaf.start], json.dumps(ours)]
                at = leaf.end
        return "".join((*pieces, text[at:])).encode()

    def _declared(self, asked: Asked, leaf: StringLeaf) -> str | None:
        if self._patterns[asked.service].fullmatch(leaf.pointer) is None:
            return None
        return self._addresses.ours(leaf.value, asked)

    def _told(self, where: str, old: str, new: str) -> str:
        """`WHERE: URL -> SERVICE/rest`: without port and session, which differ from run to run."""
        return readable(f"{where}: {old} -> {new.removeprefix(f'{self._addresses.session_url}/')}")


def _is_json(headers: Headers) -> bool:
    """Whether an answer is one JSON text: a stream of them (ndjson, events) goes on as it comes."""
    media = (header(headers, "content-type") or "").partition(";")[0].strip().lower()
    return media.endswith(("/json", "+json"))
