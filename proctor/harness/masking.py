"""Keeping what accounts' variables hold out of all that is kept of a trial, whoever says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from proctor.cases.accounts import Accounts, variables_of
from proctor.cases.evaluating import Looked
from proctor.cases.personal import replaced
from proctor.check import CheckResult
from proctor.harness.engine import Engine
from proctor.harness.trial import TrialDone, TrialPlan
from proctor.redaction.strength import SHORTEST
from proctor.trajectory import Trajectory


class Masking:
    """An engine whose results hold no account's secret. The checks are made before."""

    def __init__(self, engine: Engine, secrets: Mapping[str, str]) -> None:
        """`secrets` are values, each with what stands for it."""
        self._engine = engine
        self._secrets = secrets

    async def submit(self, plan: TrialPlan) -> TrialDone:
        """See Engine."""
        return masked(await self._engine.submit(plan), self._secrets)


def account_secrets(accounts: Accounts, names: Iterable[str]) -> dict[str, str]:
    """By value: what stands for it. Shorter ones than 8 characters are no secrets: they would be found everywhere.

    Raises ConfigError for a variable that is not set.
    """
    found: dict[str, str] = {}
    for name in sorted(set(names) & accounts.accounts.keys()):
        for variable, value in variables_of(name, accounts.accounts[name]).items():
            if len(value) >= SHORTEST:
                found.setdefault(value, f"[{variable} of {name}]")
    return dict(sorted(found.items(), key=lambda each: -len(each[0])))  # one may stand within another


def masked(done: TrialDone, secrets: Mapping[str, str]) -> TrialDone:
    """What came of a trial, with each secret replaced."""
    if not secrets:
        return done
    ended = done.ended
    return replace(
        done,
        ended=replace(
            ended,
            message=replaced(ended.message, secrets),
            fix=replaced(ended.fix, secrets),
            shown=replaced(ended.shown, secrets),
        ),
        trajectory=Trajectory.model_validate(replaced(done.trajectory.model_dump(), secrets)),
        looked=tuple(Looked(each.turn, _result(each.result, secrets)) for each in done.looked),
    )


def _result(result: CheckResult, secrets: Mapping[str, str]) -> CheckResult:
    return CheckResult.model_validate(replaced(result.model_dump(), secrets))
