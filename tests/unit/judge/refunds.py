"""A small run that every test of the judge can read at a glance: an order looked up, then refunded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.scripted import Scripted
from proctor.model_call import Model
from proctor.rubric_file import load_rubric
from proctor.trajectory import Agent, Step, Task, ToolCall, Trajectory
from proctor.verdict import CriterionResult, Verdict

SALT = bytes(range(32))
TERMS = Terms(SALT, lambda text: len(text) // 4 + 1)
"""Tokens are counted roughly here: tiktoken has tests of its own."""
ORDER = '{"order_id": "W1", "status": "delivered", "amount": 120.5}'
REFUNDED = '{"refund_id": "R77", "order_id": "W1", "status": "refund issued"}'
ASKED = "Please refund order W1 to my card, I was charged twice."
SAID = "Your refund R77 for order W1 was issued to your card."


def refund(
    *,
    result: str = REFUNDED,
    arguments: Mapping[str, Any] | None = None,
    said: str = SAID,
    asked: str = ASKED,
    order: str = ORDER,
    called: bool = True,
    **more: Any,
) -> Trajectory:
    """The run, with one thing of it changed. Without `called` the refund is never made."""
    given = {"order_id": "W1", "amount": 120.5} if arguments is None else dict(arguments)
    steps = [
        Step(index=0, role="user", text=asked),
        Step(index=1, role="assistant", tool_calls=(ToolCall(name="get_order", id="a", arguments={"order_id": "W1"}),)),
        Step(index=2, role="tool", name="get_order", tool_call_id="a", text=order, status=200),
    ]
    if called:
        steps += [
            Step(index=3, role="assistant", tool_calls=(ToolCall(name="create_refund", id="b", arguments=given),)),
            Step(index=4, role="tool", name="create_refund", tool_call_id="b", text=result, status=200),
        ]
    steps.append(Step(index=len(steps), role="assistant", text=said))
    return Trajectory(
        id="refund",
        agent=Agent(model="gpt-4o", vendor="openai"),
        task=Task(goal="Refund what was charged twice.", policy="Refund only delivered orders."),
        steps=tuple(steps),
        final_answer=said,
        **more,
    )


def answer(
    score: int | None = 2,
    quotes: Sequence[tuple[int, str]] = ((4, '"status": "refund issued"'),),
    *,
    finding: str = "the refund was issued",
    missing: str = "",
    outcome: str = "scored",
) -> dict[str, Any]:
    """What a judge says of one criterion."""
    citations = [{"step": step, "quote": quote, "pointer": ""} for step, quote in quotes]
    return {"citations": citations, "finding": finding, "missing": missing, "outcome": outcome, "score": score}


def saying(*replies: Any, **by_criterion: Any) -> Scripted:
    """A judge that says this of every criterion, one after the other, and other things of the ones named."""
    named = {name: each if isinstance(each, list) else [each] for name, each in by_criterion.items()}
    return Scripted("stand-in/scripted:test", {"*": list(replies) or [answer()], **named})


def judged(
    run: Trajectory | None = None, model: Model | None = None, rubric: str = "trajectory", **inquiry: Any
) -> Verdict:
    """The verdict on a run; by default all is well with it."""
    asked = Inquiry(run or refund(), load_rubric(rubric), **inquiry)
    return asyncio.run(judge(asked, model or saying(), TERMS))


def result_of(verdict: Verdict, criterion: str) -> CriterionResult:
    """One criterion's result."""
    return next(each for each in verdict.criteria if each.criterion == criterion)


def as_text(reply: Mapping[str, Any]) -> str:
    """An answer as a model would write it."""
    return json.dumps(reply, ensure_ascii=False)
