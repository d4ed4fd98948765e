"""`proctor judge run`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path
from typing import Any

import click

from proctor.cli.judge_asked import Asked, asked_options, asked_runs, prepared
from proctor.cli.judge_progress import Progress
from proctor.cli.judge_service import own, remote, service_options
from proctor.cli.judge_shown import verdict_line, verdict_lines
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE
from proctor.judge.grade import is_bad
from proctor.judge_client import JudgeClient
from proctor.judge_wire import BatchAccepted, CriterionCame, RefusedLine, VerdictCame
from proctor.verdict import Verdict

Show = Callable[[Verdict], None]


@click.command("run")
@asked_options
@service_options
@click.option("--at-least", type=click.FloatRange(0, 100), metavar="TOTAL", help="Fail where a total is below it.")
@click.option("--full", is_flag=True, help="Each verdict whole, with its evidence.")
@click.option("--json", "as_json", is_flag=True, help="Each verdict as one JSON line.")
def run(
    at_least: float | None, full: bool, as_json: bool, service: str | None, token_file: Path | None, **asked: Any
) -> int:
    """Judge trajectories against a rubric, a call for each criterion, every quote verified.

    Verdicts and replies are kept by content: a run that was stopped goes on where it was, for nothing. Ends with 1
    where a total is vetoed, withheld or under --at-least (of 100), where a person should look, or a run was not judged.

    \b
      proctor judge run runs.jsonl --model anthropic/MODEL
      proctor judge run runs.jsonl:refund-3 --rubric acmse --preset cost --full
      proctor judge run runs.jsonl --service http://judge.internal:8080 --token-file judge.token
      proctor judge run runs.jsonl --model stand-in/obedient      no key, no live model, and says so
    """
    show = _json_line if as_json else _whole if full else _one_line
    if service:
        given = asked_runs(**asked)
        client = remote(service, token_file)
    else:
        ready = prepared(**asked)
        given = ready.asked
        client = own(given.layout, ready.model.name, given.agent_vendor, ready.taped)
    judged = asyncio.run(_judged(given, at_least, client, show))
    if given.read == EXIT_USAGE or judged.refused:
        return EXIT_USAGE
    good = judged.whole and not any(is_bad(each, at_least) for each in judged.verdicts)
    return EXIT_FINE if good and given.read == EXIT_FINE else EXIT_FAILED


class _Judged:
    """What came of a command: verdicts, shown in the order in which their runs were given."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._early: dict[int, VerdictCame] = {}
        self._next = 0
        self.verdicts: list[Verdict] = []
        self.refused: tuple[RefusedLine, ...] = ()
        self.whole = True
        """Nothing that was accepted is without a verdict."""

    def came(self, event: VerdictCame) -> None:
        self._early[event.place] = event
        while (following := self._early.pop(self._next, None)) is not None:
            self._next += 1
            verdict = following.answer.verdict
            if verdict is not None:
                self.verdicts.append(verdict)
                self._show(verdict)
                continue
            self.whole = False
            error = following.answer.error
            why = f"{error.code}: {error.message}" if error else following.answer.state
            click.echo(f"proctor: {following.answer.trajectory} is not judged: {why}", err=True)


async def _judged(
    given: Asked, at_least: float | None, client: AbstractAsyncContextManager[JudgeClient], show: Show
) -> _Judged:
    """Judge, telling each verdict as it comes; by Ctrl-C it ends where it is."""
    judged, progress = _Judged(show), Progress(len(given.runs))
    terms = given.terms.model_copy(update={"at_least": at_least})
    try:
        async with client as judge, aclosing(judge.batch(terms, given.runs, progress=progress.moves)) as events:
            async for event in events:
                if isinstance(event, BatchAccepted):
                    judged.refused = event.batch.refused_lines
                    _tell_refused(judged.refused)
                elif isinstance(event, CriterionCame):
                    progress.criterion(event)
                elif isinstance(event, VerdictCame):
                    judged.came(event)
                    progress.judged(event)
    except asyncio.CancelledError:
        progress.ended("stopped", "the same command goes on from here")
        raise
    progress.whole(given.terms.max_cost)
    return judged


def _tell_refused(lines: tuple[RefusedLine, ...]) -> None:
    for each in lines:
        fix = f"\n  {each.error.fix}" if each.error.fix else ""
        click.echo(f"proctor: {each.trajectory} is refused: {each.error.code}: {each.error.message}{fix}", err=True)


def _json_line(verdict: Verdict) -> None:
    click.echo(verdict.model_dump_json())


def _whole(verdict: Verdict) -> None:
    click.echo("\n".join(verdict_lines(verdict)) + "\n")


def _one_line(verdict: Verdict) -> None:
    click.echo(verdict_line(verdict))
