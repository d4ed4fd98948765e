"""The secrets that an agent sends in a replay: each stands for a placeholder of the tape, or for none; never a guess.

A live password differs from the recorded one, so its request matches none byte for byte. It is compared with every
secret of the request left out; what then stands in its place on the tape is what it stands for, once for the session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proctor.forgiving import Forgiveness
from proctor.identities import recorded_variables
from proctor.interaction import Headers, Request
from proctor.matchkey import CanonicalKey, Identity, canonical_key
from proctor.placeholders import is_live, is_placeholder
from proctor.proxy.playback import Tape
from proctor.redaction.messages import clean_content
from proctor.redaction.redactor import Redactor
from proctor.redaction.span import Span
from proctor.redaction.walker import Walker

_SLOT = "proctor-slot"
Assigned = tuple[tuple[str, str], ...]


class Unbound(Exception):
    """A secret that stands for none of the tape's; the text says why."""


class Slotted(NamedTuple):
    """A request without its secrets, and those by the places in which they stood."""

    key: CanonicalKey
    values: tuple[tuple[str, str], ...]


_Index = dict[CanonicalKey, list[tuple[int, Slotted]]]


@dataclass
class LiveSecrets:
    """Those of one session. `redactor` knows them all, so that no row shows one."""

    tape: Tape
    environ: Mapping[str, str]
    redactor: Redactor
    notes: dict[str, None] = field(default_factory=dict)
    """What stands for what, for the summary."""
    _taken: dict[str, str] = field(default_factory=dict, init=False)
    """By placeholder: the live secret that stands for it."""
    _index: dict[tuple[str, str, bool], _Index] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """A variable that held a secret when the tape was recorded holds the same one now."""
        for name, placeholder in recorded_variables(self.tape.cassette).items():
            value = self.environ.get(name, "")
            if value and value != placeholder:
                self.redactor.learn_value(value, placeholder)
                self._taken[placeholder] = value

    def clean(self, request: Request) -> Request:
        """The request with a placeholder for every secret in it: the tape's, or one that says `live`."""
        return self.redactor.learnt_request(request)

    def positions(
        self, request: Request, key_headers: Headers, identity: Identity, rules: Forgiveness | None = None
    ) -> list[int] | None:
        """The recordings that differ from a request only in secrets which may stand for each other.

        With `rules`, and in what those forgive.
        Raises Unbound where there are such recordings and none, or more than one, may be meant.
        """
        slotted = self._slotted(request, key_headers, identity, self.redactor, rules)
        if not slotted.values:
            return None
        candidates = self._of(request.service, request.method, rules).get(slotted.key, [])
        groups: dict[Assigned, list[int]] = defaultdict(list)
        for position, recorded in candidates:
            assigned = self._assigned(slotted, recorded)
            if assigned is not None:
                groups[assigned].append(position)
        if len(groups) > 1:
            raise Unbound(
                f"{self._places(slotted)}: the tape has {len(groups)} secrets that this one may be, and nothing says "
                "which; put it into an environment variable whose name says so (ORDERS_TOKEN), then record again"
            )
        if candidates and not groups:
            raise Unbound(f"{self._places(slotted)}: a secret that is not the one for which the tape has an answer")
        for assigned, positions in groups.items():
            self._bind(assigned, slotted)
            return positions
        return None

    def _bind(self, assigned: Assigned, slotted: Slotted) -> None:
        for live, placeholder in assigned:
            place = next(place for place, value in slotted.values if value == live)
            self._taken[placeholder] = live
            self.redactor.learn_value(live, placeholder)
            told = self.redactor.text(place)  # a key above a secret may be one itself
            self.notes[f"the secret at {told} stands for {placeholder} of the tape"] = None

    def _assigned(self, asked: Slotted, recorded: Slotted) -> Assigned | None:
        """Which new secrets would stand for which placeholders; None where that cannot be."""
        if [place for place, _ in asked.values] != [place for place, _ in recorded.values]:
            return None
        new: dict[str, str] = {}
        for (_, live), (_, placeholder) in zip(asked.values, recorded.values, strict=True):
            stands_for = self.redactor.known.get(live, live)
            if placeholder in (live, stands_for):
                continue
            free = self._taken.get(placeholder, live) == live and not self.tape.hands_out(placeholder)
            new_here = is_live(stands_for) or (
                live == stands_for and is_placeholder(placeholder, self.redactor.placeholders)
            )
            if not new_here or is_placeholder(live) or not free or new.setdefault(live, placeholder) != placeholder:
                return None
        return tuple(sorted(new.items())) if len(set(new.values())) == len(new) else None

    def _of(self, service: str, method: str, rules: Forgiveness | None) -> _Index:
        """The recordings with secrets in their target or body, without them; made when first needed."""
        place = (service, method, rules is not None)
        index = self._index.get(place)
        if index is None:
            index = self._index[place] = defaultdict(list)
            redactor = Redactor(self.redactor.rules, self.redactor.placeholders)
            for position in self.tape.positions_of(service):
                request = self.tape.cassette.interactions[position].request
                if request.method == method:
                    key_headers, identity = self.tape.key_at(position)
                    slotted = self._slotted(request, key_headers, identity, redactor, rules)
                    if slotted.values:
                        index[slotted.key].append((position, slotted))
        return index

    def _slotted(
        self,
        request: Request,
        key_headers: Headers,
        identity: Identity,
        redactor: Redactor,
        rules: Forgiveness | None,
    ) -> Slotted:
        found: list[tuple[str, str]] = []

        def slot(span: Span, place: str) -> str:
            found.append((place, span.value))
            return "0" if span.value.isdigit() else _SLOT

        every_name = replace(redactor.rules, wording=False)  # `?key=dummy` stands for the recorded key
        finder = replace(redactor.finder, rules=every_name)
        clean = clean_content(Walker(finder, slot, packs=False), request)
        found.sort(key=lambda pair: pair[0])
        read = rules.essence(clean, key_headers, identity).key if rules else canonical_key(clean, key_headers, identity)
        return Slotted(read, tuple(found))

    def _places(self, slotted: Slotted) -> str:
        return self.redactor.text(", ".join(dict.fromkeys(place for place, _ in slotted.values)))
