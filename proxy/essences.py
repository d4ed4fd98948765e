"""The recorded requests of one service by their essence: what is left of each without what a match forgives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from proctor.forgiving import Essence, Forgiveness
from proctor.interaction import Headers, Request
from proctor.matchkey import CanonicalKey, Identity


class Essences:
    """Shared by every session that plays the tape."""

    def __init__(self, rules: Forgiveness, recorded: Iterable[tuple[int, Request, Headers, Identity]]) -> None:
        """`recorded` has the position, the request, its key headers and its identity, in the tape's order."""
        self.rules = rules
        self._of: dict[int, Essence] = {}
        self._positions: defaultdict[CanonicalKey, list[int]] = defaultdict(list)
        for position, request, key_headers, identity in recorded:
            essence = self._of[position] = rules.essence(request, key_headers, identity)
            self._positions[essence.key].append(position)

    def of(self, position: int) -> Essence:
        """That of one recorded request."""
        return self._of[position]

    def positions(self, key: CanonicalKey) -> list[int]:
        """The recordings of that essence, in order."""
        return self._positions.get(key, [])
