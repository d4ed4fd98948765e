"""The tables of the judge's database, and how they came to be: each step is applied once to each file, in order.

batches ──< batch_verdicts >── verdicts ──< calls        what is asked for, and the calls on their way for it
                               verdicts ──< case_trials  which trials a case waits for
records    all that was asked and answered for a verdict: it can be made again from there
replies    by the content of their question, so that nothing is asked twice
rubrics    by digest; findings, for people; spent, by day and batch
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.judge.service.reviews import reviews_step

if TYPE_CHECKING:
    from proctor.store import Database

_FIRST = (
    """CREATE TABLE batches (
        id TEXT PRIMARY KEY, at TEXT NOT NULL, lasting INTEGER NOT NULL, max_cost REAL, refused TEXT NOT NULL
    )""",
    # what is large stands last: SQLite reads a row from its start
    """CREATE TABLE verdicts (
        id TEXT PRIMARY KEY, seq INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
        model TEXT NOT NULL, rubric TEXT NOT NULL, state TEXT NOT NULL, failed INTEGER NOT NULL, at TEXT NOT NULL,
        lasting INTEGER NOT NULL, payer TEXT NOT NULL, asked INTEGER NOT NULL, repeats INTEGER NOT NULL,
        cost REAL NOT NULL, untold INTEGER NOT NULL, error TEXT, terms TEXT NOT NULL, verdict TEXT, run BLOB
    )""",
    "CREATE INDEX verdicts_by_seq ON verdicts (seq)",
    "CREATE INDEX by_age ON verdicts (state, model, lasting, seq)",
    "CREATE INDEX by_place ON verdicts (state, model, lasting, place, seq)",
    """CREATE TABLE batch_verdicts (
        batch TEXT NOT NULL, place INTEGER NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (batch, place)
    )""",
    "CREATE INDEX batches_of ON batch_verdicts (verdict)",
    """CREATE TABLE case_trials (
        case_id TEXT NOT NULL, place INTEGER NOT NULL, trial TEXT NOT NULL, PRIMARY KEY (case_id, place)
    )""",
    "CREATE INDEX cases_of ON case_trials (trial)",
    """CREATE TABLE calls (
        verdict TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, reserved REAL NOT NULL, exchange TEXT,
        PRIMARY KEY (verdict, key)
    )""",
    "CREATE TABLE replies (key TEXT PRIMARY KEY, exchange TEXT NOT NULL)",
    """CREATE TABLE records (
        id TEXT PRIMARY KEY, subject TEXT NOT NULL, at TEXT NOT NULL, seq INTEGER NOT NULL, record TEXT NOT NULL
    )""",
    "CREATE INDEX records_of ON records (subject, seq)",
    "CREATE INDEX records_by_seq ON records (seq)",
    "CREATE TABLE rubrics (digest TEXT PRIMARY KEY, rubric TEXT NOT NULL)",
    "CREATE TABLE spent (day TEXT NOT NULL, batch TEXT NOT NULL, cost REAL NOT NULL, PRIMARY KEY (day, batch))",
    """CREATE TABLE findings (
        number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, verdict TEXT NOT NULL, trajectory TEXT NOT NULL,
        criterion TEXT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, steps TEXT NOT NULL
    )""",
    "CREATE INDEX findings_of ON findings (verdict)",
)


def first(database: Database) -> None:
    """Everything of the first version."""
    for statement in _FIRST:
        database.execute(statement)


STEPS = (first, reviews_step)
