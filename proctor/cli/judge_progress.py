"""What a person sees while runs are judged: where it is, and what it costs so far."""

from __future__ import annotations

import sys
from collections import Counter

import click

from proctor.judge.batch import Judged
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

    def criterion(self, judged: str, result: CriterionResult) -> None:
        """One criterion of a run or a case has its result."""
        if self._moves:
            said = f"{min(self._done + 1, self._total)}/{self._total} {judged}: {result.criterion} {result.outcome}"
            click.echo(f"\r\x1b[K{said[:100]}  {self._spent()}", nl=False, err=True)

    def judged(self, judged: Judged) -> None:
        """One verdict is there."""
        self._done += judged.verdict.trial is not None
        self._asked += judged.asked
        self._outcomes.update(each.outcome for each in judged.verdict.criteria)
        self._scored += sum(each.outcome in ("scored", "zero_no_evidence") for each in judged.verdict.criteria)
        self._countable += sum(each.outcome != "not_applicable" for each in judged.verdict.criteria)
        if judged.cost is None:
            self._untold += 1
        else:
            self.cost += judged.cost
        if self._moves:
            click.echo("\r\x1b[K", nl=False, err=True)
        elif judged.verdict.trial is not None and self._done % 10 == 0 and self._done < self._total:
            click.echo(f"{self._done}/{self._total} judged, {self._spent()}", err=True)

    @property
    def left(self) -> int:
        """Runs that are not judged yet."""
        return self._total - self._done

    def is_spent(self, most: float | None) -> bool:
        """So much is spent that no further run is to be begun."""
        return most is not None and self.cost >= most and self.left > 0

    def ended(self, why: str) -> None:
        """It ends early: what is kept, and how to go on."""
        click.echo(f"\n{why}: {self.left} of {self._total} not judged; the same command goes on from here", err=True)

    def whole(self) -> None:
        """The last lines: what was judged, what came of it, and what it cost."""
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in self._outcomes.most_common())
        click.echo(f"{self._done} of {self._total} judged, {self._spent()}", err=True)
        if outcomes:
            click.echo(f"coverage {self._scored}/{self._countable}: {outcomes}", err=True)

    def _spent(self) -> str:
        untold = f", and {self._untold} whose cost is not told" if self._untold else ""
        return f"{spent(self._asked, self.cost)}{untold}"


def spent(calls: int, cost: float | None) -> str:
    """`5 calls, $0.0123`."""
    return f"{calls} calls, {'cost not told' if cost is None else f'${cost:.4f}'}"
