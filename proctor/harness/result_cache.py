"""Results of earlier runs, taken again where all that matters of a trial is the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cases.evaluating import Looked
from proctor.check import CheckResult
from proctor.errors import CassetteError, StoreError
from proctor.harness.cache_key import ProjectInputs, TrialInputs, project_inputs, reusable, tape_digest, trial_key
from proctor.harness.planning import Project
from proctor.harness.recorded import tape_of
from proctor.harness.run_reading import Row, trajectory_at
from proctor.harness.trial import Ended, TrialDone, TrialPlan
from proctor.paths import Layout
from proctor.store import Store
from proctor.wire import FROM_TAPE

if TYPE_CHECKING:
    from proctor.store import Database


@dataclass
class ResultCache:
    """Looks results up in the record of runs. Passes and failures are reused: any other outcome measured nothing."""

    store: Store
    state: Path
    project: Project
    _inputs: dict[frozenset[tuple[str, str]], ProjectInputs] = field(default_factory=dict)

    def key(self, plan: TrialPlan) -> str:
        """See `running.Cache`. Raises UsageError where the agent's version is not known, so at the first trial."""
        config, modes = self.project.config, plan.spec.modes
        if not reusable(modes, config.llm_services):
            return ""
        same = frozenset(modes.items())
        if same not in self._inputs:
            self._inputs[same] = project_inputs(config, modes)
        return trial_key(self._inputs[same], self._of(plan))

    async def find(self, plan: TrialPlan, key: str) -> tuple[TrialDone, str] | None:
        """See `running.Cache`. A record that cannot be read any more is none."""
        found = await self.store.run(partial(_found, key=key))
        if found is None:
            return None
        row, checks = found
        try:
            trajectory = trajectory_at(self.state, row)
        except StoreError:
            return None
        ended = Ended(row["outcome"], row["reason"], row["message"], row["fix"])
        looked = tuple(_looked(each) for each in checks)
        return TrialDone(plan, ended, trajectory, looked, row["seconds"]), str(row["run"])

    def _of(self, plan: TrialPlan) -> TrialInputs:
        taped = not FROM_TAPE.isdisjoint(plan.spec.modes.values())
        try:
            tape = tape_digest(Layout(self.project.config.root), tape_of(plan.case, plan.suite)) if taped else ""
        except CassetteError:
            tape = "missing"  # the trial itself will tell
        return TrialInputs(
            case=plan.case,
            trial=plan.number,
            limits=plan.limits,
            spec=plan.spec,
            tape=tape,
            account=plan.identity.account,
            audience=plan.case.audience,
        )


def _found(database: Database, key: str) -> tuple[Row, list[Row]] | None:
    wanted = "SELECT * FROM trials WHERE key = ? AND outcome IN ('pass', 'fail') ORDER BY rowid DESC LIMIT 1"
    row = next(iter(database.query(wanted, (key,))), None)
    if row is None:
        return None
    which = (row["run"], row["case_id"], row["number"], row["again"])
    checks = "SELECT * FROM checks WHERE run = ? AND case_id = ? AND number = ? AND again = ? ORDER BY place"
    return row, list(database.query(checks, which))


def _looked(row: Row) -> Looked:
    result: dict[str, Any] = {
        "check": row["name"],
        "outcome": row["outcome"],
        "message": row["message"],
        "needs": row["needs"],
        "evidence": json.loads(row["evidence_json"]),
    }
    return Looked(row["turn"], CheckResult.model_validate(result))
