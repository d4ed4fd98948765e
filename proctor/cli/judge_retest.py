"""`proctor judge retest`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import click

from proctor.cli.judge_asked import Prepared, asked_options, prepared
from proctor.cli.judge_progress import spent
from proctor.cli.one_line import one_line
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE
from proctor.judge.intervals import percent
from proctor.judge.repeating import Plan, by_model, repeat
from proctor.judge.retesting import Retest, Run, Variant, retest
from proctor.judge.spending import added

_WORDS: dict[Variant, str] = {
    "same": "asked again as it was",
    "order": "levels in another order",
    "padded": "5,000 polite words added",
}


@click.command("retest")
@asked_options
@click.option("--times", default=5, show_default=True, type=click.IntRange(2), help="How often each run is judged.")
@click.option("--orders", default=2, show_default=True, type=click.IntRange(0), help="More, levels in other orders.")
@click.option("--padding/--no-padding", default=True, show_default=True, help="Once more, with polite words added.")
@click.option("--most", default=0.0, show_default=True, metavar="SHARE", help="Fail where a larger share changed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def repeat_judgement(times: int, orders: int, padding: bool, most: float, as_json: bool, **asked: Any) -> int:
    """Judge runs again and again, and tell what did not come out the same.

    Nothing is kept, and no kept reply is used. Repeating is no proof of being right, but a judge that does not repeat
    cannot be right. What a rule decides is left out. Ends with 1 where a larger share of criteria than --most changed
    in any variant, or some verdict was an error.

    \b
      proctor judge retest runs.jsonl --model anthropic/MODEL --max-cost 2
      proctor judge retest runs.jsonl:refund-3 --times 10 --most 0.05
    """
    ready = prepared(**asked)
    runs = asyncio.run(_repeated(ready, Plan(times, orders, int(padding))))
    compared, decided = by_model(runs)
    found = retest(compared, ready.inquiries[0].rubric.scale)
    use = added(run.verdict.use for run in runs)
    if as_json:
        click.echo(
            json.dumps(
                {**found.model_dump(mode="json"), "decided_by_rule": decided, "use": use.model_dump()},
                ensure_ascii=False,
            )
        )
    else:
        click.echo("\n".join([*_lines(found), *(f"  left out, decided by rule: {each}" for each in decided)]))
    if ready.asked.read == EXIT_USAGE:
        return ready.asked.read
    bad = any((each.changed.value or 0) > most or each.gaps for each in found.variants)
    return EXIT_FAILED if bad or ready.asked.read else EXIT_FINE


async def _repeated(ready: Prepared, plan: Plan) -> list[Run]:
    """Every verdict; no further run is begun once the money is spent."""
    max_cost = ready.asked.terms.max_cost
    runs: list[Run] = []
    total = len(ready.inquiries) * plan.runs
    async with aclosing(repeat(ready.inquiries, ready.model, ready.terms, plan)) as made:
        async for each in made:
            runs.append(each)
            use = added(run.verdict.use for run in runs)
            if len(runs) % plan.runs == 0:
                click.echo(f"{len(runs)} of {total} verdicts, {spent(use.calls, use.cost)}", err=True)
                if max_cost is not None and (use.cost or 0) >= max_cost and len(runs) < total:
                    click.echo(f"--max-cost {max_cost:g} is reached", err=True)
                    break
    return runs


def _lines(found: Retest) -> Iterator[str]:
    stand_in = ", a stand-in: no live model" if found.judge.stand_in else ""
    yield one_line(f"{found.judge.model}{stand_in}, rubric {found.judge.rubric}, {found.trajectories} runs")
    for each in found.variants:
        allowed = "" if each.at_most is None else f"; so many still allow {percent(each.at_most)} of all changed"
        gaps = f"; {each.gaps} errors left out" if each.gaps else ""
        changed = f"{each.changed} of criteria changed, {each.changed_pass} across pass"
        yield f"  {_WORDS[each.variant]}: {changed}{allowed}{gaps}"
    for flip in found.flips:
        results = ", ".join(flip.results)
        yield one_line(f"    {flip.trajectory}, {flip.criterion}, {_WORDS[flip.variant]}: {results}")
    alpha = "not assessable" if found.alpha.value is None else f"{found.alpha.value:.3f}"
    yield f"  alpha over the plain repeats: {alpha}"
