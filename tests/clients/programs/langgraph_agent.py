"""langgraph with langchain-openai: `langgraph_agent.py`."""

from __future__ import annotations

from typing import Any

from desk import SYSTEM, TURNS, Desk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def build(desk: Desk) -> Any:
    tools = [tool(function) for function in desk.functions()]
    model = ChatOpenAI(model="gpt-4.1-mini").bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def main() -> None:
    desk = Desk()
    graph = build(desk)
    history: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in TURNS:
        history = graph.invoke({"messages": [*history, {"role": "user", "content": turn}]})["messages"]
        print(history[-1].content)
    desk.report()


main()
