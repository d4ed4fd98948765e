"""What the database says of verdicts and batches, as it is answered: a kept verdict goes out as it was written."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from proctor.errors import UsageError
from proctor.judge.service.queue import OPEN
from proctor.judge_wire import BatchAnswer

if TYPE_CHECKING:
    from proctor.store import Database

_PLACES = 12
"""Of a dollar: sums of binary fractions end there."""
_OF_ANSWER = "id, subject, state, verdict, error, asked, repeats, cost, untold"


def verdict_answer(database: Database, identity: str) -> dict[str, Any]:
    """A VerdictAnswer for `orjson`. Raises UsageError for an id that nobody asked for."""
    row = database.execute(f"SELECT {_OF_ANSWER} FROM verdicts WHERE id = ?", (identity,)).fetchone()  # noqa: S608
    if row is None:
        raise UsageError("unknown_verdict", "no verdict of that id was asked for here")
    found, subject, state, verdict, error, asked, repeats, cost, untold = row
    return {
        "id": found,
        "trajectory": subject,
        "state": state,
        "verdict": orjson.Fragment(verdict) if state == "done" else None,
        "error": None if error is None else orjson.Fragment(error),
        "asked": asked,
        "repeats": repeats,
        "cost": None if untold else round(cost, _PLACES),
    }


def batch_answer(database: Database, identity: str) -> BatchAnswer:
    """How far a batch is. Raises UsageError for one that is not known here."""
    batch = database.execute("SELECT max_cost, refused FROM batches WHERE id = ?", (identity,)).fetchone()
    if batch is None:
        raise UsageError("unknown_batch", "no batch of that id was sent here")
    rows = database.execute(
        "SELECT state, asked, repeats, cost, untold FROM verdicts"
        " WHERE id IN (SELECT verdict FROM batch_verdicts WHERE batch = ?)",
        (identity,),
    ).fetchall()
    states = Counter(state for state, *_ in rows)
    untold = any(row[4] for row in rows)
    return BatchAnswer(
        id=identity,
        state="open" if any(states[each] for each in OPEN) else "ended",
        states=states,
        refused_lines=json.loads(batch[1]),
        asked=sum(row[1] for row in rows),
        repeats=sum(row[2] for row in rows),
        cost=None if untold else round(math.fsum(row[3] for row in rows), _PLACES),
        max_cost=batch[0],
    )


def places_of(database: Database, batch: str) -> list[tuple[int, str]]:
    """The verdicts of a batch by their places."""
    return database.execute(
        "SELECT place, verdict FROM batch_verdicts WHERE batch = ? ORDER BY place", (batch,)
    ).fetchall()


def open_of(database: Database, batch: str) -> set[str]:
    """The verdicts of a batch that are still to be made."""
    rows = database.execute(
        "SELECT id, state FROM verdicts WHERE id IN (SELECT verdict FROM batch_verdicts WHERE batch = ?)", (batch,)
    ).fetchall()
    return {identity for identity, state in rows if state in OPEN}


def is_open(database: Database, identity: str) -> bool:
    """It is still to be made."""
    row = database.execute("SELECT state FROM verdicts WHERE id = ?", (identity,)).fetchone()
    return row is not None and row[0] in OPEN
