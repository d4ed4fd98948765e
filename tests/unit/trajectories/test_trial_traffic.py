"""Whatever an agent does, and whenever its turns begin: each tool call that the proxy saw stands once, in its turn."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cases.evaluating import turn_of
from proctor.tool_calls import calls_of
from proctor.trace import TraceRow
from proctor.trajectories.from_trial import from_trial
from proctor.trajectories.turns import TurnHeld
from proctor.trajectory import Trajectory
from tests.unit.trajectories.test_telling import event
from tests.unit.trajectories.traffic import APIS, TOOLS, Call, Conversation, interleaved, row, summary

WORDS = ("refund A", "no", "why?", "and B", "")


@dataclass(frozen=True)
class Trial:
    """Rows of a trace and the turns beside them."""

    rows: Sequence[TraceRow]
    turns: Sequence[TurnHeld]

    @property
    def tools(self) -> list[TraceRow]:
        """The rows of the tools, each with seconds that no other has."""
        return [each for each in self.rows if each.service == "desk"]


@st.composite
def conversations(draw: st.DrawFn) -> list[TraceRow]:
    """Up to three agents at once, some with the same ids, and some whose tools no wire shows."""
    agents = []
    for number in range(draw(st.integers(0, 3))):
        order = st.integers(0, 3)
        call = st.builds(lambda name, n: Call(name, {"order": n}, {"of": n}), st.sampled_from(TOOLS), order)
        rounds = st.lists(
            st.one_of(st.lists(call, min_size=1, max_size=3), st.sampled_from(("yes", "done"))), max_size=4
        )
        turns = draw(st.lists(st.tuples(st.sampled_from(WORDS), rounds), min_size=1, max_size=3))
        name = draw(st.sampled_from(("same", f"agent-{number}")))
        agents.append(Conversation(draw(st.sampled_from(APIS)), name, turns, traffic=draw(st.booleans())))
    return interleaved(agents, draw(st.lists(st.integers(0, 2), max_size=20))) if agents else []


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    """Traffic, calls that no model asked for among it, and turns that begin at any time."""
    moments = st.floats(-1, 30, allow_nan=False)
    rows = [each.model_dump(exclude_unset=True) for each in draw(conversations())]
    for at, name, order, status in draw(
        st.lists(
            st.tuples(moments, st.sampled_from((*TOOLS, "wipe")), st.integers(0, 3), st.sampled_from((200, 500))),
            max_size=4,
        )
    ):
        target = f"/{name}"
        other = row(service="desk", target=target, tool=name, arguments={"order": order}, result="?", status=status)
        rows.append({**other, "started": at, "seconds": draw(st.floats(0, 9))})
    rows.sort(key=lambda each: float(each["started"]))
    seen = [
        TraceRow.model_validate({**each, "index": index, "seconds": round(each["seconds"], 2) + index / 10_000})
        for index, each in enumerate(rows)
    ]
    begins = sorted(draw(st.lists(moments, min_size=1, max_size=4)))
    turns = []
    for number, began in enumerate(begins):
        end = began + draw(st.floats(0, 5))
        ended = min([end, *begins[number + 1 : number + 2]])
        reply = draw(st.sampled_from(("yes", "done", "reply", "", None)))
        turns.append(TurnHeld(draw(st.sampled_from(WORDS)), began, None if reply is None else ended, reply))
    return Trial(seen, turns)


def built(trial: Trial) -> Trajectory:
    return from_trial(summary(), trial.rows, trial.turns, told=[event(at) for at in (-2.0, 3.3, 40.0)])


@pytest.mark.req(18, 117, 141)
@given(trials())
def test_every_tool_call_is_there_once_with_its_result_and_what_was_sent(trial: Trial) -> None:
    run = built(trial)
    results = [step for step in run.steps if step.role == "tool" and step.service == "desk"]
    folded = Counter({step.seconds: (step.attempts or 1) - 1 for step in results})
    assert len(results) + folded.total() == len(trial.tools), "each row is a step, or an attempt of one"
    rows = {each.seconds: each for each in trial.tools}
    assert len({step.seconds for step in results}) == len(results)
    answered = {call.result_step: call for call in calls_of(run)}
    for step in results:
        assert step.seconds is not None
        sent = rows[step.seconds]
        call = answered[step.index]
        assert (call.name, call.arguments) == (sent.tool, sent.arguments)
        assert step.status == sent.status
    asked = [call.id for step in run.steps for call in step.tool_calls]
    assert len(asked) == len(set(asked))


@given(trials())
def test_turns_follow_one_another_each_in_order_of_time(trial: Trial) -> None:
    run = built(trial)
    turns = [step.turn for step in run.steps]
    assert turns == sorted(turns)
    assert set(turns) == set(range(len(trial.turns)))
    ends = {each.seconds: each.started + each.seconds for each in trial.tools}
    begins = [turn.began for turn in trial.turns]
    begun = {each.seconds: max(bisect_right(begins, each.started) - 1, 0) for each in trial.tools}
    alone = not any(each.service == "llm" for each in trial.rows)
    for number in range(len(trial.turns)):
        part = turn_of(run, number)
        seen = [step for step in part.steps if step.role == "tool" and step.service == "desk"]
        if alone:
            assert [ends[step.seconds or 0] for step in seen] == sorted(ends[step.seconds or 0] for step in seen)
            assert {call.result_step for call in calls_of(part)} == {step.index for step in seen}, "none lacks its call"
        assert all(begun[step.seconds or 0] <= number for step in seen)
        if alone:
            assert all(begun[step.seconds or 0] == number for step in seen)


@given(trials())
def test_every_turn_has_the_users_words_and_ends_with_the_reply(trial: Trial) -> None:
    run = built(trial)
    for number, turn in enumerate(trial.turns):
        part = turn_of(run, number)
        texts = [step.text or "" for step in part.steps if step.role == "user"]
        assert any(turn.user in text if turn.user else not text for text in texts)
        assert texts.count(turn.user) <= 1
        if turn.reply is not None:
            assert part.final_answer == turn.reply
    assert run.final_answer == trial.turns[-1].reply


@given(trials())
def test_events_and_differences_name_steps_that_are_there(trial: Trial) -> None:
    run = built(trial)
    for number in (each.step for each in run.events):
        assert number is None or number < len(run.steps)
    for different in run.differences:
        assert different.step is not None
        assert run.steps[different.step].role == "tool"
    told = [each for each in run.events if each.by == "agent"]
    begins = [turn.began for turn in trial.turns]
    for each, at in zip(told, (-2.0, 3.3, 40.0), strict=True):
        turn = max(bisect_right(begins, at) - 1, 0)
        assert run.steps[each.step].turn == turn if each.step is not None else turn == 0
