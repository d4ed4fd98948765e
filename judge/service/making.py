"""One task of the queue made into a verdict, with the record to make it again from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.errors import PlatformError
from proctor.judge.case_record import case_record_of
from proctor.judge.casing import Case, judge_case
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import Told, judge
from proctor.judge.record import Record, record_of
from proctor.judge.service.asked_for import asking, inquiry_from
from proctor.judge.service.ledger import LedgerModel, spent_of
from proctor.judge.service.queue import Task
from proctor.judge.service.records import AnyRecord, record_by_id
from proctor.judge.service.till import Paying, Till
from proctor.model_call import Model
from proctor.rubric import Rubric
from proctor.store import Store
from proctor.trajectories.file import json_of, trajectory_of


@dataclass(frozen=True)
class Maker:
    """Makes the verdicts of one service. `reuse` keeps replies of earlier verdicts for equal questions."""

    store: Store
    salt: bytes
    models: Mapping[str, Model]
    till: Till
    reuse: bool

    async def made(self, task: Task, told: Told) -> tuple[AnyRecord, LedgerModel]:
        """The verdict's record, and the model with all that it was asked.

        Raises what `judge` raises: BudgetSpent before anything is spent, UsageError for checks that cannot be run.
        """
        rubric = await self._rubric(task.rubric)
        terms = asking(self.salt, task.model, json.loads(task.terms)["room"])
        model = LedgerModel(
            self.models[task.model], self.store, task.id, await self._paying(task.payer), reuse=self.reuse
        )
        if task.kind == "trial":
            return await _trial(task, rubric, model, terms, told), model
        return await self._case(task, rubric, model, terms, told), model

    async def _paying(self, batch: str) -> Paying:
        """Who pays, with what is left of its budget."""
        max_cost, spent = await self.store.run(
            lambda database: (
                database.execute("SELECT max_cost FROM batches WHERE id = ?", (batch,)).fetchone()[0],
                spent_of(database, batch),
            )
        )
        if max_cost is not None:
            self.till.budgets.open_batch(batch, max_cost, spent)
        return Paying(self.till, batch, limited=max_cost is not None)

    async def _case(self, task: Task, rubric: Rubric, model: LedgerModel, terms: Terms, told: Told) -> AnyRecord:
        rows = await self.store.run(
            lambda database: database.execute(
                "SELECT trial, terms FROM case_trials JOIN verdicts ON id = trial WHERE case_id = ?"
                " ORDER BY case_trials.place",
                (task.id,),
            ).fetchall()
        )
        records = [await self._trial_record(trial) for trial, _ in rows]
        inquiries = tuple(
            inquiry_from(own, rubric, record.trajectory) for (_, own), record in zip(rows, records, strict=True)
        )
        case = Case(task.subject, inquiries, tuple(record.verdict for record in records))
        verdict = await judge_case(case, model, terms, told)
        return case_record_of(verdict, case, terms, tuple(model.exchanges))

    async def _trial_record(self, identity: str) -> Record:
        record = await self.store.run(lambda database: record_by_id(database, identity))
        if not isinstance(record, Record):
            raise PlatformError("verdict_damaged", f"the record of verdict {identity} is not there", "judge it again")
        return record

    async def _rubric(self, digest: str) -> Rubric:
        (rubric,) = await self.store.run(
            lambda database: database.execute("SELECT rubric FROM rubrics WHERE digest = ?", (digest,)).fetchone()
        )
        return Rubric.model_validate_json(rubric)


async def _trial(task: Task, rubric: Rubric, model: LedgerModel, terms: Terms, told: Told) -> AnyRecord:
    inquiry: Inquiry = inquiry_from(task.terms, rubric, trajectory_of(json_of(task.run or b"")))
    verdict = await judge(inquiry, model, terms, told)
    return record_of(verdict, inquiry, terms, tuple(model.exchanges))
