"""Which trials a run has: its cases, each as often as wanted, with a session, a seed and a user of its own. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field

from proctor.cases.accounts import Accounts
from proctor.cases.case import Case
from proctor.cases.files import SuiteRead
from proctor.cases.identity import Identity, resolve
from proctor.config import Config
from proctor.errors import ConfigError, SuiteError, UsageError, nearest, recording_command
from proctor.fault_plan import FaultPlanSpec
from proctor.harness.recorded import makers, tape_of
from proctor.harness.trial import TrialPlan
from proctor.launch import session_spec
from proctor.wire import FROM_TAPE, KEPT, SEEDS, Guard, Mode, SessionSpec

_ON_TAPE = "tape"
"""In place of a run's id: for trials that make or read a tape, the user is the same in every run."""


class RunOptions(BaseModel):
    """What a run was asked for. It is kept with the run, so that a resumed one does the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    """As it was named."""
    only: tuple[str, ...] = ()
    """Ids of cases or templates, with `*`."""
    trials: int | None = Field(default=None, ge=1)
    """Of each case; by default as it or its suite says."""
    seed: int = Field(default=0, ge=0, lt=SEEDS)
    modes: dict[str, Mode] = Field(default_factory=dict)
    record: bool = False
    """Each case makes its tape; one trial a case."""
    blind: str = ""
    """Why the blind cases are run, and no others."""
    command: tuple[str, ...] = ()
    """The agent, instead of that of proctor.toml."""
    at_once: int | None = Field(default=None, ge=1)
    """Trials at once; by default the cap of the suite's class."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars."""
    cache: bool = False

    @property
    def keeps(self) -> bool:
        """Tapes are made: by `record`, or by a mode that was asked for."""
        return self.record or not KEPT.isdisjoint(self.modes.values())


@dataclass(frozen=True)
class Project:
    """What a plan is made against."""

    config: Config
    accounts: Accounts
    tapes: Collection[str]
    """The names of all tapes."""
    agent_version: str
    suite_version: str


def chosen_cases(suite: str, cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Those of a suite's cases that are meant, in its order. Raises SuiteError for a name that no case has."""
    for name in only:
        if not any(_named(case, name) for case in cases):
            told = f'the suite {suite} has no case "{name}" to run'
            raise SuiteError("case_unknown", told, nearest(name, [case.id for case in cases]))
    return [case for case in cases if not only or any(_named(case, name) for name in only)]


def trials_of(case: Case, read: SuiteRead, options: RunOptions) -> int:
    """How many trials of a case a run has."""
    return 1 if options.keeps else options.trials or case.trials or read.suite.trials


def plans(run: str, read: SuiteRead, cases: Sequence[Case], options: RunOptions, project: Project) -> list[TrialPlan]:
    """Every trial, the cases in order, all first trials before all second ones: an early end shows every case once.

    Raises SuiteError or ConfigError for a case that cannot be run.
    """
    wanted = {case.id: trials_of(case, read, options) for case in cases}
    rounds = range(max(wanted.values(), default=0))
    made = [(case, number) for number in rounds for case in cases if number < wanted[case.id]]
    by_tape = makers((placed.case for placed in read.cases), read.suite.name)
    return [_plan(run, read, case, number, options, project, by_tape) for case, number in made]


def _plan(
    run: str,
    read: SuiteRead,
    case: Case,
    number: int,
    options: RunOptions,
    project: Project,
    by_tape: Mapping[str, str],
) -> TrialPlan:
    suite = read.suite
    tape = tape_of(case, suite.name)
    modes = modes_of(case, tape, options, project)
    limits = case.limits or suite.limits
    seed = trial_seed(options.seed, case.id, number)
    return TrialPlan(
        run=run,
        suite=suite.name,
        suite_version=project.suite_version,
        agent_version=project.agent_version,
        case=case,
        number=number,
        seed=seed,
        identity=_identity(case, run, number, modes, project.accounts),
        spec=_spec(
            case,
            tape,
            modes,
            seed,
            Guard(tool_seconds=limits.tool, steps=limits.steps, on_loop=case.on_loop),
            project.config,
            **_commands(case, tape, suite.name, by_tape.get(tape, "")),
        ),
        limits=limits,
    )


def trial_seed(seed: int, case: str, number: int) -> int:
    """The seed of one trial: its own, and the same in every run with that seed."""
    digest = hashlib.sha256(f"{seed}\n{case}\n{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEEDS


def modes_of(case: Case, tape: str, options: RunOptions, project: Project) -> dict[str, Mode]:
    """Every service of a case's session with its mode.

    Recording asks the real things. Else a case with a tape is answered by it; any other by the project's worlds and a
    live model; where there are no worlds, by the tape that recording it makes.
    """
    config = project.config
    if options.record:
        modes = {name: _recorded(service.only_world) for name, service in config.services.items()}
    elif case.tape or not any(service.world for service in config.services.values()):
        modes = dict.fromkeys(config.services, _REPLAY)
    else:
        modes = dict(_in_worlds(case, tape, config, project.tapes))
    modes.update(options.modes)
    if options.record and KEPT.isdisjoint(modes.values()):
        told = f"case {case.id} makes no tape: no service of it is recorded"
        raise UsageError("nothing_to_record", told, "give a service a url beside its world, or leave out --record")
    _check_worlds(case, modes)
    return modes


_REPLAY: Mode = "replay"


def _recorded(only_world: bool) -> Mode:
    return "world" if only_world else "record"


def _in_worlds(case: Case, tape: str, config: Config, tapes: Collection[str]) -> Iterator[tuple[str, Mode]]:
    for name, service in config.services.items():
        if service.world:
            yield name, "world"
        elif service.preset:
            yield name, "live"
        elif tape in tapes:
            yield name, "replay"


def _check_worlds(case: Case, modes: Mapping[str, Mode]) -> None:
    for name in case.state:
        if modes.get(name) != "world":
            told = f'case {case.id} begins with a state of "{name}", which no world answers'
            raise SuiteError("state_without_world", told, f"--mode {name}=world; or a `world` under [services.{name}]")


def _identity(case: Case, run: str, number: int, modes: Mapping[str, Mode], accounts: Accounts) -> Identity:
    """A user whom nobody has met before, unless a tape holds what a user says: then always the same."""
    taped = not (FROM_TAPE | KEPT).isdisjoint(modes.values())
    identity = resolve(case, accounts, _ON_TAPE if taped else run, 0 if taped else number)
    return replace(identity, fresh=identity.fresh and not taped)


def _spec(
    case: Case, tape: str, modes: Mapping[str, Mode], seed: int, guard: Guard, config: Config, **commands: str
) -> SessionSpec:
    if not modes:
        raise ConfigError("service_missing", f"case {case.id} has no service at all", "see docs/cases.md")
    return session_spec(
        config,
        tape,
        modes,
        allow_unused=True,
        overlay=case.overlay if "replay" in modes.values() else (),
        seed=seed,
        worlds=case.state,
        faults=_faults(case),
        guard=guard,
        **commands,
    )


def _commands(case: Case, tape: str, suite: str, maker: str) -> dict[str, str]:
    """For messages. `maker` is the case that makes the tape; empty where none of the suite does."""
    return {
        "recorded_by": f"proctor run {suite} --record --only {maker}" if maker else recording_command(tape),
        "extended_by": f"proctor run {suite} --only {case.id}",
    }


def _faults(case: Case) -> FaultPlanSpec | None:
    """The case's faults; positions are thirds of its reference, unless the plan has one of its own."""
    faults = case.faults
    if faults is None or faults.reference or not case.reference:
        return faults
    return faults.model_copy(update={"reference": tuple(step.tool for step in case.reference)})


def _named(case: Case, name: str) -> bool:
    return fnmatchcase(case.id, name) or case.template == name
