"""What a run will take, told before it runs, and the cases that fit into --max-cost."""

from __future__ import annotations

from collections.abc import Sequence

import click

from proctor.cases.case import Case
from proctor.cli.run_ready import Ready
from proctor.errors import UsageError
from proctor.harness.estimate import By, Estimate, Planned, estimate
from proctor.harness.run_reading import tokens_of
from proctor.harness.sampling import sampled
from proctor.store import Store


async def affordable(given: Ready, store: Store) -> tuple[Sequence[Case], list[str]]:
    """The cases that fit into the budget, all without one, and the ids of those that do not. Raises UsageError."""
    budget = given.options.max_cost
    if budget is None:
        return given.cases, []
    planned = [Planned(case, given.trials(case)) for case in given.cases]
    taken = await store.run(tokens_of)
    found = estimate(planned, taken, given.config.agent.model)
    click.echo(estimate_line(found), err=True)
    sample = sampled(planned, found, budget)
    left_out = [each.case.id for each in sample.left_out]
    if not sample.chosen:
        told = f"not one case fits into --max-cost {budget:g}"
        raise UsageError("budget_too_small", told, f"all of them are estimated at ${found.dollars or 0:.4f}")
    if left_out:
        fits = (
            f"{len(sample.chosen)} of {len(planned)} cases fit into ${budget:g}, P0 first, then by difficulty in turn"
        )
        click.echo(f"{fits}; left out: {', '.join(left_out)}", err=True)
    return [each.case for each in sample.chosen], left_out


def estimate_line(found: Estimate) -> str:
    """`estimated: 12,300 tokens in, 900 out, $0.0412 (8 cases by history, 2 guessed)`."""
    names: dict[By, str] = {"history": "by history", "likeness": "by cases like them", "guess": "guessed"}
    by = ", ".join(f"{found.count(how)} {name}" for how, name in names.items() if found.count(how))
    dollars = "no price known" if found.dollars is None else f"${found.dollars:.4f}"
    return f"estimated: {found.input:,} tokens in, {found.output:,} out, {dollars} (cases: {by})"
