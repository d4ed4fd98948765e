"""A form in the terminal: one review after the other, each label sent as it is given."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import click

from proctor.cli.review_shown import (
    criterion_lines,
    level_shown,
    realignment_lines,
    reveal_lines,
    scale_shown,
    sheet_lines,
)
from proctor.errors import UsageError
from proctor.review_client import ReviewClient
from proctor.review_wire import CriterionShown, LabelCitation, LabelSent, Realignment, ReviewSheet

_HELP = """\
  level   a number on the scale, halves allowed; n where the criterion does not apply
  steps   where you saw it: 2, 4; or a step with its words, as the run shows them: 4 refund issued; 6 done
  note    whatever the next reader should know; may be empty
  ?       this help        s  skip this run        q  stop: what you gave is kept"""
T = TypeVar("T")
_NUMBERS = re.compile(r"\d{1,9}(?:[ ,]+\d{1,9})*")
_STEP = re.compile(r"(\d{1,9})\s*:?\s+(.+)", re.DOTALL)


class Skipped(Exception):
    """On to the next one."""


class Stopped(Exception):
    """`q`, or the end of the input."""


@dataclass
class Form:
    """Asks one person."""

    client: ReviewClient
    annotator: str
    kept: int = 0
    """Blind labels that he gave."""

    async def walk(self) -> None:
        """Every review that waits. Raises Stopped."""
        seen: set[str] = set()
        while fresh := [each for each in (await self.client.reviews(self.annotator)).reviews if each.id not in seen]:
            for review in fresh:
                seen.add(review.id)
                try:
                    await self.one(review.id)
                except Skipped:
                    continue
                except UsageError as error:  # somebody else was faster, or the run cannot be shown
                    click.echo(f"{review.trajectory}: {error}")

    async def one(self, review: str) -> None:
        """One review to its end, and the reveal. Raises Stopped, Skipped, UsageError."""
        sheet = await self.client.sheet(review, self.annotator)
        echo(sheet_lines(sheet))
        for criterion in sheet.criteria:
            if criterion.given is None:
                await self._label(sheet, criterion)
        await self._reveal(review)

    async def decide(self, gap: Realignment) -> None:
        """One criterion on which two are apart. Raises Stopped, Skipped, UsageError."""
        sheet = await self.client.sheet(gap.id, self.annotator)
        criterion = next(each for each in sheet.criteria if each.id == gap.criterion)
        echo(sheet_lines(sheet))
        echo(criterion_lines(criterion))
        echo(realignment_lines(gap))
        while True:
            try:
                await self.client.adjudicate(gap.id, self._asked(criterion))
                return
            except UsageError as error:
                click.echo(f"not taken: {error}")

    async def _label(self, sheet: ReviewSheet, criterion: CriterionShown) -> None:
        echo(criterion_lines(criterion))
        while True:
            try:
                await self.client.label(sheet.id, self._asked(criterion))
                self.kept += 1
                return
            except UsageError as error:
                if error.code in ("review_taken", "run_seen"):
                    raise
                click.echo(f"not taken: {error}")

    async def _reveal(self, review: str) -> None:
        """The judge's result; where it is another, what he says now is kept beside his blind label."""
        reveal = await self.client.reveal(review, self.annotator)
        sheet = await self.client.sheet(review, self.annotator)
        given = {each.id: each.given for each in sheet.criteria if each.given is not None}
        echo(reveal_lines(reveal, {name: said.level for name, said in given.items()}))
        scores = {(each.criterion, each.score) for judged in reveal.judged for each in judged.criteria}
        for criterion in sheet.criteria:
            said = given[criterion.id]
            if {score for name, score in scores if name == criterion.id} != {said.level}:
                text = f"{criterion.title}: you gave {level_shown(said)}. Enter keeps it, or another level"
                read = partial(read_level, criterion=criterion)
                level = asked(text, read, default=level_typed(said.level))
                sent = self._sent(criterion, level, said.citations)
                await self.client.label(review, sent)

    def _asked(self, criterion: CriterionShown) -> LabelSent:
        level = asked(f"level ({scale_shown(criterion)})", partial(read_level, criterion=criterion))
        citations = asked("steps", read_steps, default="")
        return self._sent(criterion, level, citations, asked("note", str.strip, default=""))

    def _sent(
        self, criterion: CriterionShown, level: float | None, citations: tuple[LabelCitation, ...], note: str = ""
    ) -> LabelSent:
        return LabelSent(annotator=self.annotator, criterion=criterion.id, level=level, citations=citations, note=note)


def echo(lines: Iterable[str]) -> None:
    """Print them."""
    click.echo("\n".join(lines))


def asked(text: str, read: Callable[[str], T], default: str | None = None) -> T:
    """What is typed, once it can be read. Raises Stopped, Skipped."""
    while True:
        typed = _typed(text, default).strip()
        if typed == "q":
            raise Stopped
        if typed == "s":
            raise Skipped
        if typed == "?":
            click.echo(_HELP)
            continue
        try:
            return read(typed)
        except ValueError as error:
            click.echo(f"not taken: {error}")


def read_level(typed: str, criterion: CriterionShown) -> float | None:
    """A level, or None for a criterion that does not apply. Raises ValueError."""
    if typed == "n" and criterion.not_applicable:
        return None
    levels = [each.level for each in criterion.anchors]
    try:
        level = float(typed)
    except ValueError:
        level = -1.0
    if not (min(levels) <= level <= max(levels) and (2 * level).is_integer()):
        raise ValueError(f"a level is {scale_shown(criterion)}")
    return level


def level_typed(level: float | None) -> str:
    """As one would type it."""
    return "n" if level is None else f"{level:g}"


def read_steps(typed: str) -> tuple[LabelCitation, ...]:
    """`2, 4`, or `4 the words; 6 other words`. Raises ValueError."""
    if not typed:
        return ()
    if _NUMBERS.fullmatch(typed):
        return tuple(LabelCitation(step=int(each)) for each in re.findall(r"\d+", typed))
    found = []
    for part in filter(None, map(str.strip, typed.split(";"))):
        step = _STEP.fullmatch(part)
        if step is None and not part.isdecimal():
            raise ValueError("steps are numbers (2, 4), or a number with its words (4 refund issued; 6 done)")
        found.append(LabelCitation(step=int(step[1]), quote=step[2]) if step else LabelCitation(step=int(part)))
    return tuple(found)


def _typed(text: str, default: str | None) -> str:
    with _interruptible():
        try:
            return str(click.prompt(text, default=default, show_default=bool(default)))
        except click.Abort as error:
            if isinstance(error.__context__, EOFError):  # click makes one of two: the end of the input, and Ctrl-C
                raise Stopped from None
            raise


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends a prompt at once; asyncio's own handler would only note it until the loop runs again."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
