"""What `judge run` and `judge retest` are given: runs, a rubric, a judge, and the terms."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.cli.project import optional_project
from proctor.cli.trajectory_check import declared_checks
from proctor.cli.trajectory_input import chosen, read_status
from proctor.errors import EXIT_FINE, UsageError
from proctor.judge.choosing import checked_preset, chosen_model, vendors_of
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.salt import salt_in
from proctor.judge.service.asked_for import asking
from proctor.judge.tape_salt import salt_under
from proctor.judge_wire import DEFAULT_ROOM, BatchTerms
from proctor.model_call import Model
from proctor.paths import Layout
from proctor.rubric import Rubric
from proctor.rubric_file import load_rubric, shipped
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
    click.option(
        "--room",
        type=click.IntRange(1),
        default=DEFAULT_ROOM,
        show_default=True,
        metavar="TOKENS",
        help="Of one prompt, at most.",
    ),
    click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="No call is made that might pass it."),
)


def asked_options(command: Command) -> Command:
    """The options that name who judges what."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Asked:
    """What is to be judged, by what and by whom. Nothing but its files and the rubric is checked yet."""

    layout: Layout
    runs: list[Trajectory]
    read: int
    """The status of reading the files."""
    terms: BatchTerms
    """Its model is empty where a service is to choose."""
    rubric: Rubric
    agent_vendor: str
    """As the configuration tells it."""


@dataclass(frozen=True)
class Prepared:
    """All that has to be right before anything is asked."""

    asked: Asked
    inquiries: list[Inquiry]
    model: Model
    terms: Terms
    taped: bytes | None
    """The salt of the tape that has this judge's calls, where one has."""


def asked_runs(
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
) -> Asked:
    """Read what the options name. Raises UsageError."""
    layout, agent, judge = optional_project()
    loaded = load_rubric(rubric)
    checked_preset(loaded, preset)
    checks = declared_checks(parameters)
    runs, read = _runs(which)
    terms = BatchTerms(
        rubric=rubric if rubric in shipped() else loaded,
        preset=preset,
        checks=checks,
        model=model or judge.model,
        agent_vendor=agent_vendor or "",
        same_vendor=same_vendor or "",
        room=room,
        max_cost=max_cost,
    )
    return Asked(layout, runs, read, terms, loaded, agent.vendor)


def prepared(**options: Any) -> Prepared:
    """Read and check what the options name, before anything is asked or written. Raises UsageError."""
    asked = asked_runs(**options)
    terms, model = asked.terms, chosen_model(asked.terms.model)
    vendor = terms.agent_vendor or asked.agent_vendor
    inquiries = [
        Inquiry(each, asked.rubric, terms.preset, terms.checks, vendors_of(each, model, vendor, terms.same_vendor))
        for each in asked.runs
    ]
    asked.layout.ensure_state()
    taped = asyncio.run(salt_under(os.environ, [model.name]))
    salt = taped or salt_in(asked.layout.judge)
    return Prepared(asked, inquiries, model, asking(salt, model.name, terms.room), taped)


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
