"""`proctor judge run`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import click

from proctor.cli.judge_asked import Prepared, asked_options, prepared
from proctor.cli.judge_progress import Progress
from proctor.cli.judge_shown import verdict_line, verdict_lines
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE
from proctor.judge.batch import judge_all
from proctor.judge.grade import is_bad
from proctor.verdict import Verdict


@click.command("run")
@asked_options
@click.option("--at-least", type=float, metavar="TOTAL", help="Fail where a total is below this, of 100.")
@click.option("--full", is_flag=True, help="Each verdict whole, with its evidence.")
@click.option("--json", "as_json", is_flag=True, help="Each verdict as one JSON line.")
def run(at_least: float | None, full: bool, as_json: bool, **asked: Any) -> int:
    """Judge trajectories against a rubric, a call for each criterion, every quote verified.

    Replies are kept by the content of their question: a run that was stopped goes on where it was, for nothing. Ends
    with 1 where a total is vetoed, withheld or under --at-least, or where a person should look.

    \b
      proctor judge run runs.jsonl --model anthropic/MODEL
      proctor judge run runs.jsonl:refund-3 --rubric acmse --preset cost --full
      proctor judge run runs.jsonl --model stand-in/obedient      no key, no live model, and says so
    """
    ready = prepared(**asked)
    show = _json_line if as_json else _whole if full else _one_line
    verdicts = asyncio.run(_judged(ready, show))
    if ready.read == EXIT_USAGE:
        return ready.read
    judged = sum(each.trial is not None for each in verdicts)
    good = judged == len(ready.inquiries) and not any(is_bad(each, at_least) for each in verdicts)
    return EXIT_FINE if good and ready.read == EXIT_FINE else EXIT_FAILED


async def _judged(ready: Prepared, show: Callable[[Verdict], None]) -> list[Verdict]:
    """Judge one after the other, telling each as it comes; stops where the money is spent, or by Ctrl-C."""
    verdicts: list[Verdict] = []
    progress = Progress(len(ready.inquiries))
    verdicts_made = judge_all(ready.inquiries, ready.model, ready.terms, ready.store, progress.criterion)
    try:
        async with aclosing(verdicts_made) as judged:
            async for each in judged:
                verdicts.append(each.verdict)
                show(each.verdict)
                progress.judged(each)
                if progress.is_spent(ready.max_cost):
                    progress.ended(f"--max-cost {ready.max_cost:g} is reached")
                    break
    except asyncio.CancelledError:
        progress.ended("stopped")
        raise
    progress.whole()
    return verdicts


def _json_line(verdict: Verdict) -> None:
    click.echo(verdict.model_dump_json())


def _whole(verdict: Verdict) -> None:
    click.echo("\n".join(verdict_lines(verdict)) + "\n")


def _one_line(verdict: Verdict) -> None:
    click.echo(verdict_line(verdict))
