"""From `[agent]` of proctor.toml and a trial's session to the agent, ready to be asked."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from proctor.agents.command import CommandConversation
from proctor.agents.contract import Conversation, Settings
from proctor.agents.http import HttpConversation
from proctor.config import CONFIG_NAME, AgentConfig, Config
from proctor.errors import ConfigError
from proctor.wire import SessionInfo

CHILD = "proctor.agents.python_child"


def conversation_of(config: Config, info: SessionInfo, variables: Mapping[str, str], turns: int) -> Conversation:
    """The agent of one trial, not started yet.

    `variables` are those of `launch.agent_environment` and of the account; `turns` is how many there will be.
    Raises ConfigError: `agent_missing` where there is none.
    """
    agent = config.agent
    if agent.command:
        return CommandConversation(agent.command, variables, config.root, turns)
    if agent.python:
        return CommandConversation([sys.executable, "-m", CHILD, agent.python], variables, config.root, turns)
    if agent.url:
        return HttpConversation(agent.url)
    raise ConfigError(
        "agent_missing",
        f"{config.root / CONFIG_NAME} does not say what the agent is",
        'under [agent], give one of: command = "python agent.py", url = "http://...", python = "module:function"',
    )


def settings_of(agent: AgentConfig) -> Settings:
    """What each turn tells the agent of how its model is to be asked."""
    return Settings(
        model=agent.model,
        prompt_version=agent.prompt_version,
        temperature=agent.temperature,
        top_p=agent.top_p,
        seed=agent.seed,
    )
