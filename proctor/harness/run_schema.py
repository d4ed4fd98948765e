"""The tables of `.proctor/runs.db`, and how they came to be: each step is applied once to each file, in order.

runs ──< trials ──< checks       trajectories lie in JSON lines beside it; a trial says where its line stands

Any SQLite tool can read it while a run goes on. JSON stands in columns that end with `_json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proctor.store import Database

_FIRST = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, suite TEXT NOT NULL, title TEXT NOT NULL, state TEXT NOT NULL, planned INTEGER NOT NULL,
        seed INTEGER NOT NULL, started TEXT NOT NULL, ended TEXT, seconds REAL NOT NULL, proctor TEXT NOT NULL,
        suite_version TEXT NOT NULL, agent_version TEXT NOT NULL, model TEXT NOT NULL, prompt_version TEXT NOT NULL,
        temperature REAL, top_p REAL, model_seed INTEGER, left_out_json TEXT NOT NULL, options_json TEXT NOT NULL
    )""",
    """CREATE TABLE trials (
        run TEXT NOT NULL REFERENCES runs (id), case_id TEXT NOT NULL, number INTEGER NOT NULL, again INTEGER NOT NULL,
        outcome TEXT NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL, fix TEXT NOT NULL, label TEXT NOT NULL,
        admitted INTEGER NOT NULL, category TEXT NOT NULL, priority TEXT NOT NULL, difficulty TEXT NOT NULL,
        set_up TEXT NOT NULL, llm TEXT NOT NULL, session TEXT NOT NULL, seed INTEGER NOT NULL, account TEXT NOT NULL,
        user_id TEXT NOT NULL, seconds REAL NOT NULL, turns INTEGER NOT NULL, steps INTEGER NOT NULL,
        tool_calls INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER, attempts INTEGER NOT NULL,
        cached_from TEXT NOT NULL, key TEXT NOT NULL, ended TEXT NOT NULL, line_at INTEGER NOT NULL,
        line_bytes INTEGER NOT NULL, tags_json TEXT NOT NULL, limits_json TEXT NOT NULL, errors_json TEXT NOT NULL,
        facts_json TEXT NOT NULL, PRIMARY KEY (run, case_id, number, again)
    )""",
    "CREATE INDEX trials_by_key ON trials (key) WHERE key != ''",
    "CREATE INDEX trials_of_case ON trials (case_id)",
    """CREATE TABLE checks (
        run TEXT NOT NULL, case_id TEXT NOT NULL, number INTEGER NOT NULL, again INTEGER NOT NULL,
        place INTEGER NOT NULL, turn INTEGER, name TEXT NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL,
        needs TEXT NOT NULL, evidence_json TEXT NOT NULL, PRIMARY KEY (run, case_id, number, again, place),
        FOREIGN KEY (run, case_id, number, again) REFERENCES trials (run, case_id, number, again)
    )""",
)


def _first(database: Database) -> None:
    for statement in _FIRST:
        database.execute(statement)


STEPS = (_first,)
