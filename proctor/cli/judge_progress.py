"""What a person sees while runs are judged: where it is, and what it costs so far."""

from __future__ import annotations

import sys
from collections import Counter

import click

from proctor.judge.batch import Judged
from proctor.judge.inquiry import Inquiry
from proctor.verdict import CriterionResult


class Progress:
    """Lines on stderr; on a terminal one line that moves."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._asked = 0
        self._untold = 0
        self._outcomes: Counter[str] = Counter()
        self._scored = self._countable = 0
        self._moves = sys.stderr.isatty()
        self.cost = 0.0
        """US dollars spent so far, as far as told."""

    def criterion(self, inquiry: Inquiry, result: CriterionResult) -> None:
        """One criterion has its result."""
        if self._moves:
            said = f"{self._done + 1}/{self._total} {inquiry.trajectory.id}: {result.criterion} {result.outcome}"
            click.echo(f"\r\x1b[K{said[:100]}  {self._spent()}", nl=False, err=True)

    def judged(self, judged: Judged) -> None:
        """One verdict is there."""
        self._done += 1
        self._asked += judged.asked
        self._outcomes.update(each.outcome for each in judged.verdict.criteria)
        self._scored += judged.verdict.scored
        self._countable += judged.verdict.countable
        if judged.cost is None:
            self._untold += 1
        else:
            self.cost += judged.cost
        if self._moves:
            click.echo("\r\x1b[K", nl=False, err=True)
        elif self._done % 10 == 0 and self._done < self._total:
            click.echo(f"{self._done}/{self._total} judged, {self._spent()}", err=True)

    def ended(self, why: str) -> None:
        """It ends early: what is kept, and how to go on."""
        left = self._total - self._done
        click.echo(f"\n{why}: {left} of {self._total} not judged; the same command goes on from here", err=True)

    def whole(self) -> None:
        """The last lines: what was judged, what came of it, and what it cost."""
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in self._outcomes.most_common())
        click.echo(f"{self._done} of {self._total} judged, {self._spent()}", err=True)
        if outcomes:
            click.echo(f"coverage {self._scored}/{self._countable}: {outcomes}", err=True)

    def _spent(self) -> str:
        untold = f", and {self._untold} whose cost is not told" if self._untold else ""
        return f"{self._asked} calls, ${self.cost:.4f}{untold}"
