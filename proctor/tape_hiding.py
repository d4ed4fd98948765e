"""What a diff of two tapes does not show, for `proctor.toml` says that it differs in each run."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.bindings import Bindings, Threaded
from proctor.config import ServiceConfig
from proctor.forgiving import Forgiveness, forgiveness_of
from proctor.tape_changes import Difference

_PARTS = {"request body /": "/", "request query ": "?"}


class Hiding:
    """Goes through the differences of a diff in order, and remembers which new value stands for which old one."""

    def __init__(self, services: Mapping[str, ServiceConfig]) -> None:
        """`services` are those of the configuration, by name."""
        self._services = services
        self._rules: dict[str, Forgiveness | None] = {}
        self._bindings = Bindings()
        self.hidden = 0

    def hides(self, service: str, difference: Difference) -> bool:
        """Whether a difference is declared: at its place in a request, or as a value that was bound in one before."""
        found = self._declared(service, difference) or self._threaded(difference)
        self.hidden += found
        return found

    def _declared(self, service: str, difference: Difference) -> bool:
        start = next((part for part in _PARTS if difference.where.startswith(part)), None)
        rules = self._rules_of(service)
        if start is None or rules is None:
            return False
        place = _PARTS[start] + difference.where.removeprefix(start)
        if rules.forgives(place):
            return True
        if not (isinstance(difference.old, str) and isinstance(difference.new, str)):
            return False
        (old, before), (new, now) = (rules.without_volatile(place, text) for text in (difference.old, difference.new))
        if old != new or not before or self._bindings.conflict(before, now):
            return False
        self._bindings.bind(before, now)
        return True

    def _threaded(self, difference: Difference) -> bool:
        if not (isinstance(difference.old, str) and isinstance(difference.new, str)):
            return False
        told: list[Threaded] = []
        return self._bindings.thread("", difference.new, told) == difference.old and bool(told)

    def _rules_of(self, service: str) -> Forgiveness | None:
        if service not in self._rules:
            self._rules[service] = forgiveness_of(self._services, service)
        return self._rules[service]
