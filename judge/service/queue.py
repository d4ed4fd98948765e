"""The durable queue: what is accepted is on disk, each verdict once, whoever asks for it how often."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from proctor.errors import ServiceBusy, UsageError
from proctor.judge.service.asked_for import Wanted
from proctor.judge_wire import RefusedLine
from proctor.wire import ErrorAnswer

if TYPE_CHECKING:
    from proctor.store import Database

OPEN = ("waiting", "queued", "running")
_OPEN = "('waiting', 'queued', 'running')"
_COMMAND, _SERVICE, _BOTH = 0, 1, 2
"""Who wants a verdict (`lasting`): a command while it runs, a service for good, a command what a service accepted."""


@dataclass(frozen=True)
class Batch:
    """What is accepted together. A single verdict is a batch of one."""

    id: str
    wanted: Sequence[Wanted]
    max_cost: float | None = None
    refused: Sequence[RefusedLine] = ()


@dataclass(frozen=True)
class Taking:
    """How a service takes batches."""

    lasting: bool
    most_waiting: int
    anew: bool = False
    """A verdict that is there already is judged again."""


@dataclass(frozen=True)
class Task:
    """A verdict that somebody has begun to make."""

    id: str
    kind: str
    subject: str
    model: str
    rubric: str
    terms: str
    run: bytes | None
    payer: str
    """The batch whose budget pays for it: the one that had it queued."""


def accept(database: Database, batch: Batch, taking: Taking) -> set[str]:
    """Queue whatever of a batch is not judged, or could not be; gives what is made anew.

    Raises ServiceBusy, or UsageError for what never fits, and then nothing of it is queued.
    """
    known = _states(database, [each.id for each in batch.wanted])
    anew = {each.id for each in batch.wanted if _is_to_do(known.get(each.id), taking)}
    anew |= {each.id for each in batch.wanted if each.kind == "case" and not anew.isdisjoint(each.trials)}
    if len(anew) > taking.most_waiting:
        told = f"it asks for {len(anew)} verdicts, and no more than {taking.most_waiting} may wait"
        raise UsageError("batch_too_large", told, "send it in parts")
    waiting = count_waiting(database)
    if anew and waiting + len(anew) > taking.most_waiting:
        raise ServiceBusy(
            "queue_full",
            f"{waiting} verdicts wait already, of {taking.most_waiting} at most; this asks for {len(anew)} more",
            "send it again later (Retry-After), or in smaller batches",
        )
    _keep_batch(database, batch, taking.lasting)
    sequence = int(database.execute("SELECT COALESCE(MAX(seq), 0) FROM verdicts").fetchone()[0])
    for number, each in enumerate(batch.wanted):
        if each.id in anew:
            _queue(database, each, batch.id, sequence + 1 + number, number, lasting=taking.lasting)
    wants, of = (_SERVICE, _COMMAND) if taking.lasting else (_BOTH, _SERVICE)
    database.conn.executemany(
        "UPDATE verdicts SET lasting = ? WHERE id = ? AND lasting = ?", [(wants, each.id, of) for each in batch.wanted]
    )
    for each in batch.wanted:
        if each.id in anew and each.kind == "case":
            release_case(database, each.id)
    return anew


def count_waiting(database: Database) -> int:
    """Verdicts that are asked for and not begun."""
    return int(database.execute("SELECT COUNT(*) FROM verdicts WHERE state IN ('waiting', 'queued')").fetchone()[0])


def take(database: Database, model: str, *, lasting: bool, by_age: bool) -> Task | None:
    """Begin the next one for a model; None where none is queued.

    By age, the oldest; else the one that stands first in its batch, so that a small batch need not wait for a large
    one. Whoever takes does both in turn, so that neither waits for ever.
    """
    order = "seq" if by_age else "place, seq"
    question = (
        "SELECT id, kind, subject, model, rubric, terms, run, payer FROM verdicts"  # noqa: S608 - one of two
        f" WHERE state = 'queued' AND model = ? AND lasting = ? ORDER BY {order} LIMIT 1"
    )
    for wanted_by in (_SERVICE,) if lasting else (_COMMAND, _BOTH):
        for found in database.query(question, (model, wanted_by)):
            database.execute("UPDATE verdicts SET state = 'running' WHERE id = ?", (found["id"],))
            return Task(**found)
    return None


def put_back(database: Database, identity: str) -> None:
    """Queue again what was begun and not ended."""
    database.execute("UPDATE verdicts SET state = 'queued' WHERE id = ? AND state = 'running'", (identity,))


def end(
    database: Database, identity: str, *, verdict: str | None = None, failed: bool = False, error: str | None = None
) -> list[str]:
    """A verdict is there, or none will be, and `error` (an ErrorAnswer as JSON) says why. Gives cases lost by it.

    `failed`: a criterion of it ended in an error, so whoever asks for it again has it judged again.
    """
    database.table("verdicts").update(
        identity,
        {
            "state": "refused" if verdict is None else "done",
            "verdict": verdict,
            "failed": int(failed),
            "error": error,
            "at": now(),
            "run": None,
        },
    )
    cases = database.execute("SELECT case_id FROM case_trials WHERE trial = ?", (identity,)).fetchall()
    return [case for (case,) in cases if release_case(database, case) == "refused"]


def release_case(database: Database, case: str) -> str:
    """Queue a case whose trials have all ended, or refuse it where one of them has no verdict. Gives its state."""
    (state,) = database.execute("SELECT state FROM verdicts WHERE id = ?", (case,)).fetchone()
    trials = database.execute(
        "SELECT state, subject FROM verdicts JOIN case_trials ON trial = id WHERE case_id = ?", (case,)
    ).fetchall()
    if state != "waiting" or any(each in OPEN for each, _ in trials):
        return str(state)
    lost = [subject for each, subject in trials if each != "done"]
    if not lost:
        database.execute("UPDATE verdicts SET state = 'queued' WHERE id = ?", (case,))
        return "queued"
    told = ErrorAnswer(code="case_incomplete", message=f"no verdict on its trial {lost[0]}", fix="send the batch again")
    end(database, case, error=told.model_dump_json())
    return "refused"


def recover(database: Database, *, lasting: bool) -> int:
    """After a stop of whatever kind: begun verdicts are queued again. Gives how many this service is to make.

    What commands left is withdrawn: nobody waits for that any more. What a service accepted waits for a service.
    """
    database.execute("UPDATE verdicts SET state = 'queued' WHERE state = 'running'")
    database.execute("UPDATE verdicts SET lasting = ? WHERE lasting = ?", (_SERVICE, _BOTH))
    left = f"UPDATE verdicts SET state = 'withdrawn' WHERE lasting = ? AND state IN {_OPEN}"  # noqa: S608
    database.execute(left, (_COMMAND,))
    return count_waiting(database) if lasting else 0


def now() -> str:
    """The time, as the database writes times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _states(database: Database, ids: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Of each verdict that is known: its state, and whether a criterion of it ended in an error."""
    found: dict[str, tuple[str, bool]] = {}
    for each in ids:
        row = database.execute("SELECT state, failed FROM verdicts WHERE id = ?", (each,)).fetchone()
        if row is not None:
            found[each] = row[0], bool(row[1])
    return found


def _is_to_do(known: tuple[str, bool] | None, taking: Taking) -> bool:
    if known is None:
        return True
    state, failed = known
    return state in ("refused", "withdrawn") or (state == "done" and (failed or taking.anew))


def _keep_batch(database: Database, batch: Batch, lasting: bool) -> None:
    refused = json.dumps([each.model_dump(mode="json") for each in batch.refused])
    database.execute(
        "INSERT INTO batches (id, at, lasting, max_cost, refused) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET lasting = MAX(lasting, excluded.lasting), max_cost = excluded.max_cost, refused = excluded.refused",
        (batch.id, now(), int(lasting), batch.max_cost, refused),
    )
    database.table("batch_verdicts").insert_all(
        ({"batch": batch.id, "place": place, "verdict": each.id} for place, each in enumerate(batch.wanted)),
        replace=True,
    )
    rubrics = {each.rubric_digest: each.rubric for each in batch.wanted}
    database.table("rubrics").insert_all(
        ({"digest": name, "rubric": rubric.model_dump_json()} for name, rubric in rubrics.items()), ignore=True
    )


def _queue(database: Database, wanted: Wanted, batch: str, sequence: int, place: int, *, lasting: bool) -> None:
    database.table("verdicts").upsert(
        {
            "id": wanted.id,
            "seq": sequence,
            "place": place,
            "kind": wanted.kind,
            "subject": wanted.subject,
            "model": wanted.model,
            "rubric": wanted.rubric_digest,
            "terms": wanted.terms.decode(),
            "run": wanted.run,
            "state": "waiting" if wanted.kind == "case" else "queued",
            "lasting": int(lasting),
            "payer": batch,
            "verdict": None,
            "failed": 0,
            "error": None,
            "at": now(),
            "asked": 0,
            "repeats": 0,
            "cost": 0.0,
            "untold": 0,
        },
        pk="id",
    )
    database.table("case_trials").insert_all(
        ({"case_id": wanted.id, "place": number, "trial": trial} for number, trial in enumerate(wanted.trials)),
        replace=True,
    )
