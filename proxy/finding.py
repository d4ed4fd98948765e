"""From a request to the recordings that may answer it: exact bytes, meaning, secrets, and last what is forgiven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from proctor.interaction import Headers, Request
from proctor.matchkey import ExactKey, Identity
from proctor.proxy.forgive import Forgiven, Forgiver
from proctor.proxy.live_secrets import LiveSecrets
from proctor.proxy.playback import Tape

if TYPE_CHECKING:
    from proctor.proxy.seams import Exchange

Match = Literal["exact", "canonical", "forgiven"]


class Found(NamedTuple):
    """Recordings that may answer a request, in the tape's order, and how they match."""

    positions: list[int]
    match: Match
    forgiven: Forgiven | None = None


@dataclass
class RecordingFinder:
    """Finds recordings for one service of one session."""

    tape: Tape
    secrets: LiveSecrets
    forgiver: Forgiver | None
    """None where nothing is ever forgiven."""

    def exact(self, exchange: Exchange, key_headers: Headers, identity: Identity) -> Found | None:
        """Recorded with exactly these bytes."""
        key = ExactKey(
            exchange.service.name, exchange.http.method, exchange.target, key_headers, identity, exchange.body
        )
        positions = self.tape.exact(key)
        return None if positions is None else Found(positions, "exact")

    def by_meaning(self, exchange: Exchange, key_headers: Headers, identity: Identity) -> Found | None:
        """For other bytes: equal in meaning, then with placeholders for live secrets, then in what is forgiven.

        Raises Unbound where only its secrets differ, and it is not clear for which of the tape's they stand; Conflict
        where only its volatile values do, and they contradict those of an earlier request.
        """
        request = exchange.request
        positions = self.tape.canonical(request, key_headers, identity)
        if positions is not None:  # looking for secrets takes far longer, so it comes last
            return Found(positions, "canonical")
        if not self.tape.compares_identity:
            return self._forgiven(request, key_headers, identity)
        found = self._cleaned(request, key_headers, identity)
        if found is None:
            positions = self.secrets.positions(request, key_headers, identity)
            found = None if positions is None else Found(positions, "canonical")
        found = found or self._forgiven(self.secrets.clean(request), key_headers, identity)
        if found is None and self.forgiver is not None:
            rules = self.forgiver.essences.rules
            if self.secrets.positions(request, key_headers, identity, rules) is not None:
                found = self._forgiven(self.secrets.clean(request), key_headers, identity)
        exchange.session.tally.notes.update(self.secrets.notes)
        return found

    def wider(self, found: Found) -> Sequence[int]:
        """Every recording that may answer the same request, those that match less exactly included."""
        if found.forgiven is not None:
            return found.positions
        if self.forgiver is not None:
            return self.forgiver.twins(found.positions[0]).positions
        return self.tape.twins(found.positions[0])

    def matched(self, found: Found, position: int) -> tuple[Match, tuple[str, ...]]:
        """How the chosen recording matches, and what was forgiven for it; `wider` may have brought it in."""
        if found.forgiven is None and position in found.positions:
            return found.match, ()
        if self.forgiver is None:
            return "canonical", ()
        asked = found.forgiven or self.forgiver.twins(found.positions[0])
        forgiven = self.forgiver.forgave(asked, position)
        return ("forgiven", forgiven) if forgiven else ("canonical", ())

    def _cleaned(self, request: Request, key_headers: Headers, identity: Identity) -> Found | None:
        clean = self.secrets.clean(request)
        if clean.body != request.body or clean.target != request.target:
            key = ExactKey(clean.service, clean.method, clean.target, key_headers, identity, clean.body)
            positions = self.tape.exact(key)
            if positions is not None:
                return Found(positions, "exact")
        positions = self.tape.canonical(clean, key_headers, identity)
        return None if positions is None else Found(positions, "canonical")

    def _forgiven(self, request: Request, key_headers: Headers, identity: Identity) -> Found | None:
        forgiven = self.forgiver.find(request, key_headers, identity) if self.forgiver else None
        return Found(forgiven.positions, "forgiven", forgiven) if forgiven else None
