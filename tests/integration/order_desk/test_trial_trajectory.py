"""The order desk's agent on its stand-in model, recorded: its trace in the turns of its conversation."""

from __future__ import annotations

import pytest

from examples.order_desk.conversations import CONVERSATIONS
from proctor.cases.evaluating import turn_of
from proctor.events import trace_of
from proctor.tool_calls import calls_of
from proctor.trace import SessionSummary
from proctor.trajectories.from_trial import from_trial
from proctor.trajectories.required import missing_fields, required_of
from proctor.trajectories.turns import TurnHeld
from tests.integration.order_desk.support import staging
from tests.integration.order_desk.test_three_set_ups import ORDERS, RECORD, REPLAY, Team
from tests.integration.order_desk.test_three_set_ups import team as team
from tests.support import Finished


@pytest.mark.req(18, 117, 141)
async def test_each_turn_has_its_words_and_every_call_that_went_to_the_desk(team: Team) -> None:
    async with staging(ORDERS) as at:
        recorded = await team.types(RECORD, at)
    holds(team, recorded, "stand-in")
    holds(team, await team.types(REPLAY), "replayed")


def holds(team: Team, done: Finished, llm: str) -> None:
    """The trial of the last session, whose agent printed what it said, has the traffic of each turn."""
    assert done.status == 0, done.stderr
    folder = max((team.project.root / ".proctor" / "sessions").iterdir(), key=lambda each: each.stat().st_mtime_ns)
    summary = SessionSummary.model_validate_json((folder / "summary.json").read_bytes())
    assert summary.llm == llm
    rows = trace_of((folder / "trace.jsonl").read_bytes()).exchanges
    words = CONVERSATIONS["refund_en"].turns
    models = [row for row in rows if row.service == "llm"]
    begins = [row.started for row in models if row.arguments["messages"][-1]["role"] == "user"]
    ends = [max(row.started + row.seconds for row in rows if row.started < end) for end in (*begins[1:], 1e9)]
    replies = [line.removeprefix("assistant: ") for line in done.stdout.splitlines() if line.startswith("assistant: ")]
    turns = [TurnHeld(*each) for each in zip(words, begins, ends, replies, strict=True)]

    run = from_trial(summary, rows, turns)
    assert (run.notes, run.events, run.differences, run.error) == ((), (), (), None)
    for number, turn in enumerate(turns):
        part = turn_of(run, number)
        assert [step.text for step in part.steps if step.role == "user"] == [turn.user]
        assert part.final_answer == turn.reply
        within = [row for row in rows if row.service == "orders" and turn.began <= row.started <= (turn.ended or 0)]
        calls = calls_of(part)
        assert [(call.name, call.result) for call in calls] == [(row.tool, row.result) for row in within]
        assert all(
            row.arguments == {**row.arguments, **call.arguments} for call, row in zip(calls, within, strict=True)
        )
    assert len(calls_of(run)) == len(rows) - len(models)
    assert run.final_answer == replies[-1]
    whole = run.model_copy(update={"case": "refund", "category": "normal"})
    assert missing_fields(whole, required_of(whole.llm, stand_in=any(row.stand_in for row in models))) == ()
