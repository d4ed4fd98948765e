"""What a run may still spend, counted by the tokens that its trials really took."""

from __future__ import annotations

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
        if run.llm != "live":
            return
        tokens = run.tokens
        cost = None
        if tokens is not None and tokens.input is not None:
            cost = worst_cost(self._model or run.agent.model, tokens.input, tokens.output or 0)
        self.untold += cost is None
        self._left -= cost or 0.0

    @property
    def empty(self) -> bool:
        """No further trial may begin."""
        return self._left <= 0
