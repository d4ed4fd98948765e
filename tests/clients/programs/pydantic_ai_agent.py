"""pydantic-ai: `pydantic_ai_agent.py MODEL`, MODEL with its provider."""

from __future__ import annotations

import sys
from typing import Any

from desk import SYSTEM, TURNS, Desk
from pydantic_ai import Agent


def main() -> None:
    desk = Desk()
    agent: Agent[None, str] = Agent(sys.argv[1], instructions=SYSTEM, tools=desk.functions())
    history: list[Any] = []
    for turn in TURNS:
        result = agent.run_sync(turn, message_history=history)
        history = result.all_messages()
        print(result.output)
    desk.report()


main()
