"""What a run needs before its first trial: the suite, the plan, the agent, and what it will cost."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from proctor.agents.making import check_agent, settings_of
from proctor.cases.accounts import read_accounts
from proctor.cases.case import Case
from proctor.cases.files import SuiteRead, find_suite, read_suite
from proctor.cli.hooks import asks_staging
from proctor.config import AgentConfig, Config
from proctor.harness.agent_version import agent_version
from proctor.harness.blind import select
from proctor.harness.cache_key import project_inputs
from proctor.harness.planning import Project, RunOptions, chosen_cases, plans, trials_of
from proctor.harness.recorded import recorded
from proctor.harness.run_store import RunHead
from proctor.harness.suite_version import suite_version
from proctor.harness.trial import TrialPlan
from proctor.paths import Layout


@dataclass(frozen=True)
class Ready:
    """A run that may begin."""

    config: Config
    """With the agent that is run."""
    read: SuiteRead
    project: Project
    options: RunOptions
    cases: Sequence[Case]
    others: Mapping[str, str]
    """By id: the cases that were asked for and are not run, and why."""

    def head(self, run: str, planned: int, left_out: Sequence[str]) -> RunHead:
        """The run as it begins."""
        return RunHead(
            id=run,
            suite=self.read.suite.name,
            title=self.read.suite.title,
            planned=planned,
            suite_version=self.project.suite_version,
            agent_version=self.project.agent_version,
            settings=settings_of(self.config.agent),
            options=self.options,
            left_out=tuple(left_out),
        )

    def plans(self, run: str, cases: Sequence[Case]) -> list[TrialPlan]:
        """Every trial of these cases."""
        return plans(run, self.read, cases, self.options, self.project)

    def trials(self, case: Case) -> int:
        """How many trials a case has."""
        return trials_of(case, self.read, self.options)

    @property
    def asks_staging(self) -> bool:
        """Tools are recorded, so that the hooks of [record] run around the run. Raises as `plans`."""
        return any(asks_staging(self.config, plan.spec.modes) for plan in self.plans("", self.cases))


def ready(config: Config, options: RunOptions) -> Ready:
    """Read all that a run needs. Raises SuiteError, ConfigError, UsageError; nothing is written."""
    config = _with_command(config, options.command)
    check_agent(config)
    if options.cache:
        project_inputs(config, {})  # an agent of no known version is refused before the first trial
    read = read_suite(find_suite(config.root, options.suite), options.seed)
    layout = Layout(config.root)
    project = Project(
        config=config,
        accounts=read_accounts(layout.state),
        tapes=frozenset(layout.cassette_names()),
        agent_version=agent_version(config.agent, config.root),
        suite_version=suite_version(read),
    )
    here = [placed.case for placed in select(read, bool(options.blind))]
    chosen = chosen_cases(read.suite.name, here, options.only)
    cases, others = recorded(chosen, read.suite.name) if options.keeps else (chosen, {})
    return Ready(config, read, project, options, cases, others)


def new_run() -> str:
    """An id for a run: it begins with the moment, so that runs sort by it."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _with_command(config: Config, command: tuple[str, ...]) -> Config:
    """The configuration with the command in the agent's place; what else is said of the agent stays."""
    if not command:
        return config
    said = config.agent.model_dump(exclude={"url", "python", "chat"}, exclude_defaults=True)
    return config.model_copy(update={"agent": AgentConfig.model_validate({**said, "command": command})})
