"""What two recordings of one scenario say about values that change by themselves. Pure; it proposes, and no more."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from proctor.cassette import Cassette
from proctor.diff import Difference, request_differences, shown_value
from proctor.encoding import decoded
from proctor.forgiving import Forgiveness, forgiveness_of
from proctor.interaction import Interaction, header
from proctor.proposing import Proposal, part_proposals, proposals, rule_place
from proctor.service_config import ServiceConfig
from proctor.summary import label

_SHORTEST = 4
"""Characters. A shorter value is in some answer by chance."""

Why = Literal["rule", "follows", "carried", "unexplained"]


class Evidence(NamedTuple):
    """One difference between the two recordings of a call."""

    service: str
    name: str
    indexes: tuple[int, int]
    """Of the call on the first tape and on the second."""
    difference: Difference
    why: Why
    """`rule`: it needs one. `follows`: replay threads it. `carried`: an answer brought it, as replay's own will."""
    from_answer: int = -1

    @property
    def text(self) -> str:
        """In words."""
        where, old, new = self.difference
        told = f"#{self.indexes[0]}/#{self.indexes[1]} {self.name} {where}: {shown_value(old)}, then {shown_value(new)}"
        return f"{told} (from the answer of #{self.from_answer})" if self.why == "carried" else told


Rules = dict[tuple[str, Proposal], list[Evidence]]
"""By service and rule."""


@dataclass
class Learnt:
    """Rules by service, each with its evidence, and what no rule explains."""

    pairs: int = 0
    differing: int = 0
    rules: Rules = field(default_factory=lambda: defaultdict(list))
    other: list[Evidence] = field(default_factory=list)
    """What follows from a rule, was carried from an answer, or is unexplained."""
    unpaired: list[str] = field(default_factory=list)
    """Calls that only one of the recordings has."""


def learn(first: Cassette, second: Cassette, services: Mapping[str, ServiceConfig]) -> Learnt:
    """Compare each call of one recording with the same call of the other, under the rules that are declared already."""
    learnt = Learnt()
    reader = _Reader(first, second, services, learnt)
    for old, new in _pairs(first, second, learnt):
        reader.compare(old, new)
    learnt.rules = dict(_merged(learnt.rules))
    return learnt


def _pairs(first: Cassette, second: Cassette, learnt: Learnt) -> Iterator[tuple[Interaction, Interaction]]:
    """The k-th call of a kind on one tape with the k-th on the other, in the first one's order."""
    theirs: dict[Any, list[Interaction]] = defaultdict(list)
    for interaction in second.interactions:
        theirs[_kind(interaction)].append(interaction)
    for interaction in first.interactions:
        left = theirs[_kind(interaction)]
        if left:
            yield interaction, left.pop(0)
        else:
            learnt.unpaired.append(
                f"{first.name} #{interaction.index} {interaction.request.service} {label(interaction)}"
            )
    for left in theirs.values():
        for each in left:
            learnt.unpaired.append(f"{second.name} #{each.index} {each.request.service} {label(each)}")


def _kind(interaction: Interaction) -> tuple[str, str, str]:
    request = interaction.request
    return request.service, request.method, request.target.partition("?")[0]


class _Reader:
    """Goes through the pairs in order, and remembers what stands for what so far."""

    def __init__(
        self, first: Cassette, second: Cassette, services: Mapping[str, ServiceConfig], learnt: Learnt
    ) -> None:
        self._answers = tuple([_answer_text(each) for each in tape.interactions] for tape in (first, second))
        self._services = services
        self._learnt = learnt
        self._stands: dict[str, str] = {}
        """The second recording's value to the first one's, as replay would bind them."""

    def compare(self, old: Interaction, new: Interaction) -> None:
        self._learnt.pairs += 1
        service = old.request.service
        rules = forgiveness_of(self._services, service)
        differences = list(request_differences(old.request, new.request))
        self._learnt.differing += bool(differences)
        met: dict[str, str] = {}
        if rules and differences:
            left_out = [rules.essence(each.request, (), ()).left_out for each in (old, new)]
            met.update({live.value: was.value for was, live in zip(*left_out, strict=False) if was.how == "volatile"})
            differences = [] if _same(rules, old, new) else differences
        weak: list[tuple[Evidence, list[Proposal]]] = []
        left = [each for each in differences if not (rules and _declared(rules, each))]
        booked = [self._explain(old, new, difference, met, weak) for difference in left]
        if all(booked):
            for evidence, ways in weak:
                self._book(evidence, ways, met)
        else:  # where a call differs for no reason, what else differs in it may have none either
            self._learnt.other += [evidence._replace(why="unexplained") for evidence, _ in weak]
        self._stands.update(met)

    def _explain(
        self,
        old: Interaction,
        new: Interaction,
        difference: Difference,
        met: dict[str, str],
        weak: list[tuple[Evidence, list[Proposal]]],
    ) -> bool:
        """Book a difference; False where nothing explains it. Rules for values of no known shape go to `weak`.

        What a rule binds goes to `met`: it can be threaded from the next call on.
        """
        evidence = Evidence(old.request.service, label(old), (old.index, new.index), difference, "rule")
        before, now = _text(difference.recorded), _text(difference.asked)
        if before and self._threaded(now) == before:
            self._learnt.other.append(evidence._replace(why="follows"))
            return True
        source = self._source(before, now, old.index, new.index)
        if source >= 0:
            self._learnt.other.append(evidence._replace(why="carried", from_answer=source))
            return True
        at = rule_place(difference.where)
        ways = proposals(at, before, now) if at else []
        if ways:
            self._book(evidence, ways, met)
            return True
        ways = part_proposals(at, before, now) if at else []
        if ways:
            weak.append((evidence, ways))
            return True
        self._learnt.other.append(evidence._replace(why="unexplained"))
        return False

    def _book(self, evidence: Evidence, ways: list[Proposal], met: dict[str, str]) -> None:
        _, before, now = evidence.difference
        for way in ways:
            self._learnt.rules[evidence.service, way].append(evidence)
            if way.pattern:
                met.update(_bound(way, _text(before), _text(now)))

    def _threaded(self, text: str) -> str:
        for live, recorded in self._stands.items():
            text = text.replace(live, recorded)
        return text

    def _source(self, before: str, now: str, old_index: int, new_index: int) -> int:
        """The earlier call whose answer brought the value, on both tapes; -1 where none did."""
        if min(len(before), len(now)) < _SHORTEST:
            return -1
        first, second = self._answers
        if not any(now in answer for answer in second[:new_index]):
            return -1
        return next((index for index, answer in enumerate(first[:old_index]) if before in answer), -1)


def _same(rules: Forgiveness, old: Interaction, new: Interaction) -> bool:
    return rules.essence(old.request, (), ()).key == rules.essence(new.request, (), ()).key


def _declared(rules: Forgiveness, difference: Difference) -> bool:
    """Whether the rules that are there forgive a difference as a whole."""
    at = rule_place(difference.where)
    return bool(at) and rules.forgives(at)


def _bound(rule: Proposal, before: str, now: str) -> dict[str, str]:
    """What the groups of a volatile rule bind: the second recording's values to the first one's."""
    old, new = (re.findall(rule.pattern, text) for text in (before, now))
    return {live: recorded for recorded, live in zip(old, new, strict=False) if live != recorded}


def _merged(rules: Rules) -> Iterator[tuple[tuple[str, Proposal], list[Evidence]]]:
    """One rule with `*` for those that differ in one index only."""
    groups: dict[tuple[str, str, str, str], list[tuple[Proposal, list[Evidence]]]] = defaultdict(list)
    for (service, rule), evidence in rules.items():
        groups[service, re.sub(r"/\d+(?=/|$)", "/*", rule.at), rule.pattern, rule.looks_like].append((rule, evidence))
    for (service, at, _, _), members in groups.items():
        rule = members[0][0]
        if len({each.at for each, _ in members}) > 1:
            rule = rule._replace(at=at)
        yield (service, rule), [each for _, evidence in members for each in evidence]


def _answer_text(interaction: Interaction) -> str:
    response = interaction.response
    plain = decoded(response.body, header(response.headers, "content-encoding"))
    return (plain or b"").decode("utf-8", "replace")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
