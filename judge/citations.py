"""Whether a citation is evidence: lawful in length, standing at its step in the text that the judge was shown, and
of a kind that the criterion counts. Never by likeness: `docs/appendix-fold.md` lists all that may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.checks.masking import quote as masked
from proctor.judge.characters import suspicious
from proctor.judge.fold import FOLD, fold
from proctor.judge.lawful import LENGTHS, unlawful
from proctor.judge.places import Differs, Place, escaped_in, leaf_places, stands_in, text_places
from proctor.judge.pointers import NoLeaf
from proctor.judge.transcript import ShownStep, Transcript
from proctor.rubric import OF_TOOLS, Criterion, EvidenceKind
from proctor.verdict import RejectedQuote, VerifiedQuote

__all__ = ["CODES", "FOLD", "Cited", "check", "counted"]

CODES = {
    "placeholder": "nothing was quoted: empty, no letter or digit, or a word such as OK or N/A",
    "too_short": "it is shorter than a lawful quote, and no whole leaf",
    "no_such_step": "the run has no step of that number",
    "step_omitted": "the step was left out for length, so the judge never saw it",
    "not_counted": "it stands at the step, in words of a kind that the criterion does not count",
    "withheld": "it touches a marker that stands for what was withheld",
    "wrong_step": "it stands at another step; `found_at` says where",
    "bad_pointer": "the pointer names no leaf of the step's JSON",
    "leaf_differs": "the pointer names a leaf, and the quote is not all of it",
    "from_goal_or_policy": "it stands only in the goal, the policy or the list of tools: nothing that was done",
    "from_heading": "it stands only in the headings, which are Proctor's own words",
    "spliced": "dots join texts that stand in several places; each is a quote of its own",
    "not_found": "it stands nowhere in what the judge was shown",
}
"""Why a quote is rejected, by code."""

ELSEWHERE = 10
"""Other steps that are named."""
_MOST_STEPS = 10**9
"""No run has more; a longer number is not even shown."""
_MOST_PARTS = 20
"""Texts between dots that are looked for, only to say why a quote is rejected."""
_SHOWN = 100
"""Characters of a pointer that are shown."""
_LOOKED_AT = 2_000
"""Characters of a rejected quote of which people see the two ends, masked."""
_DOTS = re.compile(r"[\[(]?(?:\.{3,}|…)[\])]?")
_KINDS: dict[EvidenceKind, str] = {
    "user": "the user's words",
    "agent": "the agent's own words",
    "thought": "the agent's thoughts",
    "tool_call": "a tool call",
    "tool_result": "a tool's result",
    "figure": "a figure",
}


@dataclass(frozen=True)
class Cited:
    """What a judge cites: `pointer` (RFC 6901) goes into the JSON of a passage at that step, for a whole leaf."""

    step: int
    quote: str
    pointer: str = ""


def counted(criterion: Criterion) -> frozenset[EvidenceKind]:
    """The kinds of passage that are evidence for the criterion; an outcome is never shown by anybody's words."""
    kinds = frozenset(criterion.evidence)
    return kinds & {*OF_TOOLS, "figure"} if criterion.kind == "outcome" else kinds


def check(cited: Cited, transcript: Transcript, criterion: Criterion) -> VerifiedQuote | RejectedQuote:
    """The quote with its place, or why it is no evidence. Nothing that a judge may say makes it raise."""
    return _Checking(cited, transcript, counted(criterion), criterion.id).result()


class _Checking:
    """One citation against one transcript."""

    def __init__(self, cited: Cited, transcript: Transcript, kinds: frozenset[EvidenceKind], criterion: str) -> None:
        self.cited = cited
        self.transcript = transcript
        self.kinds = kinds
        self.criterion = criterion
        self.quote = fold(cited.quote).text
        self.unlawful = unlawful(self.quote)
        self.step = next((step for step in transcript.steps if step.index == cited.step), None)
        if cited.step in transcript.omitted:
            self.step = None

    def result(self) -> VerifiedQuote | RejectedQuote:
        if abs(self.cited.step) > _MOST_STEPS:
            return self.rejected("no_such_step", "no run has a step of that number")
        if not self.quote.strip(" "):
            return self.rejected("placeholder", f"nothing is quoted: {LENGTHS}")
        if not _is_unicode(self.cited.quote):
            return self.rejected("not_found", "it holds half a character (a lone surrogate), which no text here does")
        here = list(self.places(self.step)) if self.step else []
        good = [place for place in here if place.passage.kind in self.kinds and not place.withheld]
        if good:
            return self.verified(good[0])
        if here:
            return self.no_evidence(here)
        if self.unlawful:
            return self.no_leaf()
        return self.not_here()

    def places(self, step: ShownStep) -> Iterator[Place]:
        """Where the quote stands at a step, lawfully."""
        if self.cited.pointer or self.unlawful:
            for place in leaf_places(step, self.quote, self.cited.pointer):
                if isinstance(place, Place):
                    yield place
        if not self.unlawful:
            yield from text_places(step, self.quote)

    def elsewhere(self) -> tuple[int, ...]:
        """Other steps that hold it: those where it would count, else any."""
        held = {
            step.index: any(place.passage.kind in self.kinds and not place.withheld for place in places)
            for step in self.transcript.steps
            if step.index != self.cited.step and (places := list(self.places(step)))
        }
        good = [index for index in held if held[index]]
        return tuple((good or list(held))[:ELSEWHERE])

    def verified(self, place: Place) -> VerifiedQuote:
        passage = place.passage
        quote = passage.text[place.start : place.end]
        return VerifiedQuote(
            step=self.cited.step,
            quote=quote,
            field=passage.field,
            kind=passage.kind,
            start=place.start,
            end=place.end,
            pointer=place.pointer,
            also_at=self.elsewhere(),
            suspicious=_suspicious(quote, [passage.text]),
        )

    def no_evidence(self, here: list[Place]) -> RejectedQuote:
        """It stands at its step, and yet it shows nothing."""
        of_a_kind = [place for place in here if place.passage.kind in self.kinds]
        clean = [place for place in here if not place.withheld]
        if of_a_kind or not clean:
            return self.rejected("withheld", "it touches a marker: what was withheld is no evidence")
        kinds = " and ".join(dict.fromkeys(_KINDS[place.passage.kind] for place in clean))
        wanted = ", ".join(_KINDS[kind] for kind in _KINDS if kind in self.kinds) or "nothing"
        why = f"at step {self.cited.step} it stands in {kinds}; what counts for {self.criterion} is {wanted}"
        return self.rejected("not_counted", why, self.elsewhere())

    def no_leaf(self) -> RejectedQuote:
        """Too short for a quote, and not the whole leaf that would excuse it."""
        if not self.cited.pointer:
            return self.rejected(self.unlawful, f"{len(self.quote)} characters: {LENGTHS}")
        if self.step is None:
            return self.no_step()
        if found := self.elsewhere():
            return self.rejected("wrong_step", f"that leaf stands at {_steps(found)}, not here", found)
        said = [why for why in leaf_places(self.step, self.quote, self.cited.pointer) if isinstance(why, NoLeaf)]
        differs = next((why for why in said if isinstance(why, Differs)), None)
        if differs:
            return self.rejected("leaf_differs", f"{differs}: {_for_people(differs.leaf.text)}")
        return self.rejected("bad_pointer", str(said[0]) if said else "the step holds no text")

    def not_here(self) -> RejectedQuote:
        """Long enough, and not at the step."""
        if self.step is None:
            return self.no_step()
        if found := self.elsewhere():
            return self.rejected("wrong_step", f"it stands at {_steps(found)}, not at step {self.cited.step}", found)
        shown = self.transcript
        if any(stands_in(text, self.quote) for text in (shown.goal, shown.policy, shown.tools)):
            return self.rejected("from_goal_or_policy", CODES["from_goal_or_policy"])
        if any(stands_in(step.heading, self.quote) for step in shown.steps):
            return self.rejected("from_heading", CODES["from_heading"])
        if (pointer := escaped_in(self.step, self.quote)) is not None:
            where = f"the JSON string at {pointer[:_SHOWN]!a}" if pointer else "a JSON string"
            return self.rejected("not_found", f"{where} says it, with escapes: quote it as it is written there")
        parts = [part for part in map(str.strip, _DOTS.split(self.quote)) if part]
        if parts != [self.quote] and 0 < len(parts) <= _MOST_PARTS and all(map(self.is_shown, parts)):
            if len(parts) > 1:
                return self.rejected(
                    "spliced", f"dots join {len(parts)} texts that stand apart: quote one as it stands"
                )
            return self.rejected("not_found", "without its dots it stands in the run: quote it as it stands")
        return self.rejected("not_found", f"it stands nowhere: quote word for word from step {self.cited.step}")

    def no_step(self) -> RejectedQuote:
        found = self.elsewhere()
        also = f"; it stands at {_steps(found)}" if found else ""
        if self.cited.step in self.transcript.omitted:
            return self.rejected("step_omitted", f"step {self.cited.step} was left out for length{also}", found)
        indexes = [step.index for step in self.transcript.steps]
        what = f"the steps are {min(indexes)} to {max(indexes)}" if indexes else "the run has no steps"
        return self.rejected("no_such_step", f"there is no step {self.cited.step}: {what}{also}", found)

    def is_shown(self, part: str) -> bool:
        return any(stands_in(passage.text, part) for step in self.transcript.steps for passage in step.passages)

    def rejected(self, code: str, reason: str, found_at: tuple[int, ...] = ()) -> RejectedQuote:
        passages = [passage.text for passage in self.step.passages] if self.step else []
        return RejectedQuote(
            step=self.cited.step if abs(self.cited.step) <= _MOST_STEPS else None,
            quote=_for_people(self.cited.quote),
            code=code,
            reason=reason,
            found_at=found_at,
            suspicious=_suspicious(self.cited.quote, passages),
        )


def _for_people(text: str) -> str:
    """Masked and cut. More is looked at than is shown, so that no secret is cut out of its mask."""
    return masked(text[: 2 * _LOOKED_AT], 0, min(_LOOKED_AT, len(text)))


def _suspicious(quote: str, passages: list[str]) -> tuple[str, ...]:
    in_quote = [f"{what} in the quote" for what in suspicious(quote)]
    in_passages = dict.fromkeys(what for text in passages for what in suspicious(text))
    return (*in_quote, *(f"{what} in the passage" for what in in_passages))


def _steps(indexes: tuple[int, ...]) -> str:
    return f"step {indexes[0]}" if len(indexes) == 1 else f"steps {', '.join(map(str, indexes))}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
