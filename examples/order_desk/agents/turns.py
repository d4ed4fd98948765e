"""The agent of `agent.py`, asked turn by turn as docs/agents.md has it. A task is the object of one turn."""

from __future__ import annotations

import os
from typing import Any

from openai import OpenAI

from examples.order_desk.agent import DEFAULT_MODEL, Agent, system_message
from examples.order_desk.tools import ToolClient

Task = dict[str, Any]


def agent_of(task: Task, llm: OpenAI, tools: ToolClient) -> Agent:
    """A new conversation: for the customer whom the task's account names, with the settings that it asks for."""
    asked = {name: value for name, value in task["settings"].items() if value not in (None, "")}
    model = asked.get("model") or os.environ.get("ORDER_DESK_MODEL") or DEFAULT_MODEL
    sampling = {name: asked[name] for name in ("temperature", "top_p", "seed") if name in asked}
    messages = [system_message(task["account"])]
    return Agent(llm, tools, model, print, messages, {"temperature": 0, **sampling})
