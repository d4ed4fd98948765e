"""`proctor judge run`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import click

from proctor import tokens
from proctor.cli.judge_progress import Progress
from proctor.cli.judge_shown import verdict_line, verdict_lines
from proctor.cli.project import optional_project
from proctor.cli.trajectory_check import declared_checks
from proctor.cli.trajectory_input import chosen, read_status
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, UsageError
from proctor.judge.batch import judge_all
from proctor.judge.choosing import checked_preset, chosen_model, room_for, vendors_of
from proctor.judge.grade import is_bad
from proctor.judge.inquiry import DEFAULT_ROOM, Inquiry, Terms
from proctor.judge.verdict_store import VerdictStore
from proctor.model_call import Model
from proctor.rubric_file import load_rubric
from proctor.trajectory import Trajectory
from proctor.verdict import Verdict


@click.command("run")
@click.argument("which", metavar="FILE[:ID]...", nargs=-1, required=True)
@click.option("--rubric", default="trajectory", show_default=True, help="A shipped rubric's name, or a YAML file.")
@click.option("--model", help="Who judges, as litellm names it: anthropic/...; by default [judge] of proctor.toml.")
@click.option("--preset", help="Other weights, by a name in the rubric: cost.")
@click.option(
    "--with",
    "parameters",
    type=click.Path(exists=True, path_type=Path),
    help='Checks with parameters: {"final_state": {"assertions": [...]}}.',
)
@click.option("--agent-vendor", help="Whose model the agent is built on, where the trajectory does not tell.")
@click.option("--same-vendor", metavar="REASON", help="Let a judge of the agent's own or an unknown vendor judge.")
@click.option("--room", default=DEFAULT_ROOM, show_default=True, metavar="TOKENS", help="Of one prompt, at most.")
@click.option("--max-cost", type=float, metavar="USD", help="Start no further trajectory once so much is spent.")
@click.option("--at-least", type=float, metavar="TOTAL", help="Fail where a total is below this, of 100.")
@click.option("--full", is_flag=True, help="Each verdict whole, with its evidence.")
@click.option("--json", "as_json", is_flag=True, help="Each verdict as one JSON line.")
def run(
    which: tuple[str, ...],
    rubric: str,
    model: str | None,
    preset: str | None,
    parameters: Path | None,
    agent_vendor: str | None,
    same_vendor: str | None,
    room: int,
    max_cost: float | None,
    at_least: float | None,
    full: bool,
    as_json: bool,
) -> int:
    """Judge trajectories against a rubric, a call for each criterion, every quote verified.

    Replies are kept by the content of their question: a run that was stopped goes on where it was, for nothing. Ends
    with 1 where a total is vetoed, withheld or under --at-least, or where a person should look.

    \b
      proctor judge run runs.jsonl --model anthropic/MODEL
      proctor judge run runs.jsonl:refund-3 --rubric acmse --preset cost --full
      proctor judge run runs.jsonl --model stand-in/obedient      no key, no live model, and says so
    """
    layout, agent, judge = optional_project()
    loaded = load_rubric(rubric)
    checked_preset(loaded, preset)
    checks = declared_checks(parameters)
    runs, read = _runs(which)
    asked = chosen_model(model or judge.model)
    inquiries = [
        Inquiry(each, loaded, preset, checks, vendors_of(each, asked, agent_vendor or agent.vendor, same_vendor))
        for each in runs
    ]
    store = VerdictStore(layout.judge)
    terms = Terms(store.salt(), lambda text: tokens.count(text, asked.name), room_for(room, asked.name))
    show = _json_line if as_json else _whole if full else _one_line
    verdicts = asyncio.run(_judged(inquiries, asked, terms, store, show, max_cost))
    if read == EXIT_USAGE:
        return read
    judged = sum(each.trial is not None for each in verdicts)
    good = judged == len(inquiries) and not any(is_bad(each, at_least) for each in verdicts)
    return EXIT_FINE if good and read == EXIT_FINE else EXIT_FAILED


def _runs(which: Sequence[str]) -> tuple[list[Trajectory], int]:
    """All trajectories named, and the worst status of reading them. Raises UsageError for two with one id."""
    runs: list[Trajectory] = []
    status = EXIT_FINE
    for each in which:
        path, found, picked, bad = chosen(each)
        status = max(status, read_status(path, found, bad))
        runs += picked
    seen: set[str] = set()
    for run in runs:
        if run.id in seen:
            raise UsageError(
                "same_trajectory_twice", f'two trajectories have the id "{run.id}"', "give each its own id"
            )
        seen.add(run.id)
    return runs, status


async def _judged(
    inquiries: Sequence[Inquiry],
    model: Model,
    terms: Terms,
    store: VerdictStore,
    show: Callable[[Verdict], None],
    max_cost: float | None,
) -> list[Verdict]:
    """Judge one after the other, telling each as it comes; stops where the money is spent, or by Ctrl-C."""
    verdicts: list[Verdict] = []
    progress = Progress(len(inquiries))
    try:
        async with aclosing(judge_all(inquiries, model, terms, store, progress.criterion)) as judged:
            async for each in judged:
                verdicts.append(each.verdict)
                show(each.verdict)
                progress.judged(each)
                if max_cost is not None and progress.cost >= max_cost and progress.left:
                    progress.ended(f"--max-cost {max_cost:g} is reached")
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
