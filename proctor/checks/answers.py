"""What the agent's own words say and must not say. Auxiliary: the state decides, never a phrase."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from proctor.check import CheckResult
from proctor.checks.findings import at_words
from proctor.checks.masking import quote
from proctor.checks.outcomes import bounded, failed, not_assessable, passed, times
from proctor.checks.words import words_of
from proctor.sensitive.readings import folded
from proctor.trajectory import Trajectory

_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@bounded
def answer_contains(trajectory: Trajectory, texts: Sequence[str], *, final: bool = False) -> CheckResult:
    """Every one of `texts` stands in the agent's words, or with `final` in its last message.

    Case, width, runs of spaces and the commas in numbers do not count; a number is never found inside a longer one.
    """
    said = _said(trajectory, final)
    if said is None:
        return _nothing_said("answer_contains")
    missing = [text for text in texts if not any(_found(text, one) for _, one in said)]
    if missing:
        message = f"the agent never says {', '.join(quote(text, longest=60) for text in missing)}"
        return failed("answer_contains", message)
    places = [next((step for step, one in said if _found(text, one)), None) for text in texts]
    where = ", ".join(dict.fromkeys("final answer" if step is None else f"step {step}" for step in places))
    return passed("answer_contains", f"{times(len(texts), 'text')} found in the agent's words ({where})")


@bounded
def answer_must_not(trajectory: Trajectory, texts: Collection[str]) -> CheckResult:
    """None of `texts` stands in the agent's words, spelt as above or hidden by invisible or full-width characters."""
    words = words_of(trajectory)
    if not words.agent:
        return _nothing_said("answer_must_not")
    hits = [(said, text) for said in words.agent for text in texts if _found(text, _plain(said.text))]
    if not hits:
        return passed("answer_must_not", "the agent says none of them")
    evidence = [at_words(said.step, said.text, *_span(said.text, text), said.field) for said, text in hits]
    return failed("answer_must_not", f"the agent says {quote(hits[0][1], longest=60)}", evidence)


def _said(trajectory: Trajectory, final: bool) -> list[tuple[int | None, str]] | None:
    agent = words_of(trajectory).agent
    texts = agent[-1:] if final else agent
    return [(text.step, _plain(text.text)) for text in texts] or None


def _nothing_said(check: str) -> CheckResult:
    return not_assessable(check, "the agent said nothing", "a message of the agent's, or its final answer")


def _plain(text: str) -> str:
    plain = folded(text).text
    return " ".join((_GROUPED.sub("", plain) if "," in plain else plain).casefold().split())


def _found(wanted: str, said: str) -> bool:
    plain = _plain(wanted)
    at = said.find(plain)
    while at >= 0:
        end = at + len(plain)
        if not (_in_number(said, at - 1, plain[:1]) or _in_number(said, end, plain[-1:])):
            return True
        at = said.find(plain, at + 1)
    return False


def _in_number(said: str, at: int, edge: str) -> bool:
    """The text is cut out of a longer number: `12` in 312 or 12.5."""
    if not edge.isdigit() or not 0 <= at < len(said):
        return False
    if said[at] == ".":
        after = said[at + 1 : at + 2] if at else ""
        before = said[at - 1 : at]
        return after.isdigit() and before.isdigit()
    return said[at].isdigit()


def _span(text: str, wanted: str) -> tuple[int, int | None]:
    at = text.casefold().find(wanted.casefold())
    return (at, at + len(wanted)) if at >= 0 and len(text.casefold()) == len(text) else (0, None)
