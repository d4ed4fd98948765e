"""D7: a literal in the prompt was taken for one that changes by itself, so a changed prompt replayed old success."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.integration.cases.support import Asked, replay, replayed, told
from tests.support import Project

DAY = """volatile = [{ at = "/messages/0/content", pattern = 'Today is (\\S+)' }]
"""
LLM = 'preset = "openai"\n'


def prompt(text: str, today: str = "2031-04-01") -> Asked:
    """A model's instructions with a date that changes by itself, and the user's words."""
    system = {"role": "system", "content": f"Be kind. Today is {today}"}
    return Asked("/chat/completions", told({"model": "m", "messages": [system, {"role": "user", "content": text}]}))


LITERALS = {
    "a date": ("Book a table for 2031-04-05.", "Book a table for 2032-06-07."),
    "a date in Chinese": ("订2031年4月5日的票", "订2032年6月7日的票"),
    "a time of day": ("Call at 09:30.", "Call at 10:45."),
    "seconds since 1970": ("Reply after 1933113600.", "Reply after 1964563200."),
    "a UUID": ("Cancel 3f2b8c1e-9d4a-4f6b-8e2d-1a2b3c4d5e6f.", "Cancel 7a1c9e2d-4b3f-4d5e-9f8a-0b1c2d3e4f5a."),
    "an amount": ("Refund 25.00 dollars.", "Refund 26.00 dollars."),
    "a weekday": ("Deliver on Monday.", "Deliver on Tuesday."),
    "a capital": ("Say Polish.", "Say polish."),
    "a space": ("Say  it.", "Say it."),
}


@pytest.mark.parametrize("rules", ["", DAY], ids=["nothing declared", "another place declared"])
@pytest.mark.parametrize("kind", LITERALS)
async def test_in_a_prompt_it_misses_and_both_values_are_told(project: Project, kind: str, rules: str) -> None:
    before, now = LITERALS[kind]
    got = await replayed(project, [prompt(before)], [prompt(now)], LLM + rules)
    assert (got.numbers, got.status) == ([None], 3)
    assert got.differences == [f'body /messages/1/content: recorded "{before}", got "{now}"']


async def test_the_declared_place_is_forgiven_and_the_literal_beside_it_counts(project: Project) -> None:
    book, other = "Book for 2031-04-05.", "Book for 2032-06-07."
    later = "2032-06-01"
    got = await replayed(project, [prompt(book)], [prompt(book, later), prompt(other, later)], LLM + DAY)
    assert (got.numbers, got.status) == ([0, None], 3)
    assert got.rows[0].forgiven == (f'body /messages/0/content volatile: recorded "2031-04-01", got "{later}"',)


async def test_a_place_is_forgiven_only_from_when_it_is_declared(project: Project) -> None:
    got = await replayed(project, [prompt("hi")], [prompt("hi", "2032-06-01")], LLM)
    assert (got.numbers, got.summary.misses[0].fix.count("volatile = [{ at = ")) == ([None], 1)
    text = (project.root / "proctor.toml").read_text(encoding="utf-8")
    project.configure(text + got.summary.misses[0].fix.partition(": ")[2] + "\n")
    assert (await replay(project, [prompt("hi", "2032-06-01"), prompt("ho", "2032-06-01")])).numbers == [0, None]


@dataclass(frozen=True)
class Elsewhere:
    """Two requests that differ in a date, and where."""

    before: Asked
    now: Asked
    where: str


FORM = "application/x-www-form-urlencoded"
ELSEWHERE = {
    "the path": Elsewhere(Asked("/slots/2031-04-05"), Asked("/slots/2032-06-07"), "path"),
    "the query": Elsewhere(Asked("/slots?day=2031-04-05"), Asked("/slots?day=2032-06-07"), "query day"),
    "a field": Elsewhere(Asked("/", told({"a": "2031-04-05"})), Asked("/", told({"a": "2032-06-07"})), "body /a"),
    "JSON in a text": Elsewhere(
        Asked("/", told({"arguments": '{"day": "2031-04-05"}'})),
        Asked("/", told({"arguments": '{"day": "2032-06-07"}'})),
        "body /arguments",
    ),
    "a number": Elsewhere(Asked("/", told({"at": 1933113600})), Asked("/", told({"at": 1964563200})), "body /at"),
    "a form": Elsewhere(Asked("/", b"day=2031-04-05", FORM), Asked("/", b"day=2032-06-07", FORM), "form day"),
    "plain text": Elsewhere(
        Asked("/", b"on 2031-04-05", "text/plain"), Asked("/", b"on 2032-06-07", "text/plain"), "body /"
    ),
}


@pytest.mark.parametrize("kind", ELSEWHERE)
async def test_elsewhere_it_misses_too_and_its_place_is_told(project: Project, kind: str) -> None:
    case = ELSEWHERE[kind]
    got = await replayed(project, [case.before], [case.now])
    assert (got.numbers, got.status) == ([None], 3)
    (difference,) = got.differences
    assert difference.startswith(f"{case.where}: "), difference
