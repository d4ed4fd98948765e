"""The agent as a Python function: `[agent] python = "examples.order_desk.agents.python_agent:answer"`.

It runs in one process for each conversation, with the services' addresses in variables.
"""

from __future__ import annotations

import os

from openai import OpenAI

from examples.order_desk.agent import Agent
from examples.order_desk.agents.turns import Task, agent_of
from examples.order_desk.tools import ToolClient

_held: dict[str, Agent] = {}


def answer(task: Task) -> str:
    """The reply to one turn."""
    session = task["session"]
    if session not in _held:
        _held[session] = agent_of(task, OpenAI(), ToolClient(os.environ["ORDERS_URL"]))
    return _held[session].take_turn(task["user"])
