"""What a run may still spend, counted by the tokens that its trials really took."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.harness.run_reading import Row
from proctor.harness.trial import TrialDone
from proctor.prices import worst_cost


class Budget:
    """So many US dollars. What is under way when they are spent comes to its end, so a run can pass them a little."""

    def __init__(self, dollars: float, model: str) -> None:
        """`model` is what the agent is told to use, for trials in which no model's name was seen."""
        self._left = dollars
        self._model = model
        self.untold = 0
        """Trials of a live model of which no tokens or no price are known: they cost something that nobody counted."""

    def spend(self, done: TrialDone) -> None:
        """Count a trial, as far as its tokens are known. Only a live model costs anything."""
        run = done.trajectory
        sent, received = (run.tokens.input, run.tokens.output) if run.tokens else (None, None)
        self._count(run.llm, self._model or run.agent.model, sent, received)

    def spent(self, trials: Iterable[Row]) -> None:
        """Count the trials that a run which goes on has made already."""
        for trial in trials:
            if not trial["cached_from"]:
                self._count(trial["llm"], self._model, trial["input_tokens"], trial["output_tokens"])

    def _count(self, llm: str, model: str, sent: int | None, received: int | None) -> None:
        if llm != "live":
            return
        cost = None if sent is None else worst_cost(model, sent, received or 0)
        self.untold += cost is None
        self._left -= cost or 0.0

    @property
    def empty(self) -> bool:
        """No further trial may begin."""
        return self._left <= 0
