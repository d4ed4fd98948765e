"""What a person sees while runs are judged: where it is, and what it costs so far."""

from __future__ import annotations

import sys
from collections import Counter

import click

from proctor.judge_wire import CriterionCame, VerdictCame


class Progress:
    """Lines on stderr; on a terminal one line that moves."""

    def __init__(self, total: int) -> None:
        """`total` runs are to be judged."""
        self._total = total
        self._done = 0
        self._asked = 0
        self._repeats = 0
        self._untold = 0
        self._cost = 0.0
        self._outcomes: Counter[str] = Counter()
        self._scored = self._countable = 0
        self._over_budget = 0
        self.moves = sys.stderr.isatty()
        """Each criterion is shown as it comes."""

    def criterion(self, came: CriterionCame) -> None:
        """One criterion of a run or a case has its result."""
        said = f"{min(self._done + 1, self._total)}/{self._total} {came.trajectory}: {came.criterion} {came.outcome}"
        click.echo(f"\r\x1b[K{said[:100]}  {self._spent()}", nl=False, err=True)

    def judged(self, came: VerdictCame) -> None:
        """One verdict is there, or will not be. What was known before cost nothing now."""
        answer = came.answer
        if not came.known:
            self._asked += answer.asked
            self._repeats += answer.repeats
            self._untold += answer.cost is None
            self._cost += answer.cost or 0.0
        self._over_budget += answer.error is not None and answer.error.code == "budget_batch"
        if self.moves:
            click.echo("\r\x1b[K", nl=False, err=True)
        if answer.verdict is None:
            return
        self._done += answer.verdict.trial is not None
        self._outcomes.update(each.outcome for each in answer.verdict.criteria)
        self._scored += sum(each.outcome in ("scored", "zero_no_evidence") for each in answer.verdict.criteria)
        self._countable += sum(each.outcome != "not_applicable" for each in answer.verdict.criteria)
        if not self.moves and answer.verdict.trial is not None and self._done % 10 == 0 and self._done < self._total:
            click.echo(f"{self._done}/{self._total} judged, {self._spent()}", err=True)

    def ended(self, why: str, goes_on: str) -> None:
        """It ends early: what is kept, and how to go on."""
        left = self._total - self._done
        click.echo(f"\n{why}: {left} of {self._total} not judged; {goes_on}", err=True)

    def whole(self, max_cost: float | None) -> None:
        """The last lines: what was judged, what came of it, and what it cost."""
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in self._outcomes.most_common())
        repeats = f" ({self._repeats} of them again: a stop had lost their answers)" if self._repeats else ""
        click.echo(f"{self._done} of {self._total} judged, {self._spent()}{repeats}", err=True)
        if outcomes:
            click.echo(f"coverage {self._scored}/{self._countable}: {outcomes}", err=True)
        if self._over_budget and max_cost is not None:
            self.ended(f"--max-cost {max_cost:g} is reached", "the same command with a higher one goes on from here")

    def _spent(self) -> str:
        untold = f", and {self._untold} whose cost is not told" if self._untold else ""
        return f"{spent(self._asked, self._cost)}{untold}"


def spent(calls: int, cost: float | None) -> str:
    """`5 calls, $0.0123`."""
    return f"{calls} calls, {'cost not told' if cost is None else f'${cost:.4f}'}"
