"""What `judge run` and `judge retest` are given: runs, a rubric, a judge, and the terms."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor import tokens
from proctor.cli.project import optional_project
from proctor.cli.trajectory_check import declared_checks
from proctor.cli.trajectory_input import chosen, read_status
from proctor.errors import EXIT_FINE, UsageError
from proctor.judge.choosing import checked_preset, chosen_model, room_for, vendors_of
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.tape_salt import salt_under
from proctor.judge.verdict_store import VerdictStore
from proctor.judge_wire import DEFAULT_ROOM
from proctor.model_call import Model
from proctor.rubric_file import load_rubric
from proctor.trajectory import Trajectory

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("which", metavar="FILE[:ID]...", nargs=-1, required=True),
    click.option("--rubric", default="trajectory", show_default=True, help="A shipped rubric's name, or a YAML file."),
    click.option("--model", help="Who judges, as litellm names it: anthropic/...; by default [judge] of proctor.toml."),
    click.option("--preset", help="Other weights, by a name in the rubric: cost."),
    click.option(
        "--with",
        "parameters",
        type=click.Path(exists=True, path_type=Path),
        help='Checks with parameters: {"final_state": {"assertions": [...]}}.',
    ),
    click.option("--agent-vendor", help="Whose model the agent is built on, where the trajectory does not tell."),
    click.option("--same-vendor", metavar="REASON", help="Let a judge of the agent's own or an unknown vendor judge."),
    click.option("--room", default=DEFAULT_ROOM, show_default=True, metavar="TOKENS", help="Of one prompt, at most."),
    click.option("--max-cost", type=float, metavar="USD", help="Start no further trajectory once so much is spent."),
)


def asked_options(command: Command) -> Command:
    """The options that name who judges what."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Prepared:
    """All that has to be right before anything is asked."""

    inquiries: list[Inquiry]
    model: Model
    terms: Terms
    store: VerdictStore
    read: int
    """The status of reading the files."""
    max_cost: float | None


def prepared(
    *,
    which: Sequence[str],
    rubric: str,
    model: str | None,
    preset: str | None,
    parameters: Path | None,
    agent_vendor: str | None,
    same_vendor: str | None,
    room: int,
    max_cost: float | None,
) -> Prepared:
    """Read and check what the options name. Raises UsageError."""
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
    taped = asyncio.run(salt_under(os.environ, asked))
    store = VerdictStore(layout.judge, finds_replies=taped is None)
    terms = Terms(taped or store.salt(), lambda text: tokens.count(text, asked.name), room_for(room, asked.name))
    return Prepared(inquiries, asked, terms, store, read, max_cost)


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
            raise UsageError("same_trajectory_twice", f'two trajectories have the id "{run.id}"', "give each its own")
        seen.add(run.id)
    return runs, status
