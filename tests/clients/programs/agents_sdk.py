"""openai-agents: `agents_sdk.py`."""

from __future__ import annotations

from typing import Any

from agents import Agent, Runner, function_tool
from desk import SYSTEM, TURNS, Desk


def main() -> None:
    desk = Desk()
    tools = [function_tool(function, failure_error_function=None) for function in desk.functions()]
    agent = Agent(name="desk", instructions=SYSTEM, model="gpt-4.1-mini", tools=tools)
    history: list[Any] = []
    for turn in TURNS:
        result = Runner.run_sync(agent, [*history, {"role": "user", "content": turn}])
        history = result.to_input_list()
        print(result.final_output)
    desk.report()


main()
