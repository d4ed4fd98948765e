"""From `[agent]` of proctor.toml and a trial's session to the agent, ready to be asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from proctor.agents.chat import Chat, ChatConversation
from proctor.agents.chat_tools import ToolService
from proctor.agents.command import CommandConversation
from proctor.agents.contract import Conversation, Settings
from proctor.agents.http import HttpConversation
from proctor.config import CONFIG_NAME, AgentConfig, ChatConfig, Config
from proctor.errors import ConfigError, nearest
from proctor.service_config import ServiceConfig
from proctor.wire import SessionInfo

CHILD = "proctor.agents.python_child"


def conversation_of(config: Config, info: SessionInfo, variables: Mapping[str, str], turns: int) -> Conversation:
    """The agent of one trial, not started yet.

    `variables` are those of `launch.agent_environment` and of the account; `turns` is how many there will be.
    Raises ConfigError: `agent_missing` where there is none, and for a chat that cannot be made.
    """
    agent = config.agent
    if agent.command:
        return CommandConversation(agent.command, variables, config.root, turns)
    if agent.python:
        return CommandConversation([sys.executable, "-m", CHILD, agent.python], variables, config.root, turns)
    if agent.url:
        return HttpConversation(agent.url)
    if agent.chat:
        return ChatConversation(_chat(config, agent.chat, info, variables))
    raise _missing(config)


def check_agent(config: Config) -> None:
    """Raise ConfigError (`agent_missing`) where proctor.toml does not say what the agent is."""
    agent = config.agent
    if not (agent.command or agent.python or agent.url or agent.chat):
        raise _missing(config)


def settings_of(agent: AgentConfig) -> Settings:
    """What each turn tells the agent of how its model is to be asked."""
    return Settings(
        model=agent.model,
        prompt_version=agent.prompt_version,
        temperature=agent.temperature,
        top_p=agent.top_p,
        seed=agent.seed,
    )


def _missing(config: Config) -> ConfigError:
    return ConfigError(
        "agent_missing",
        f"{config.root / CONFIG_NAME} does not say what the agent is",
        'under [agent], give one of: command = "python agent.py", url = "http://...", '
        'python = "module:function", or a table [agent.chat]',
    )


def _chat(config: Config, chat: ChatConfig, info: SessionInfo, variables: Mapping[str, str]) -> Chat:
    _refuse_proxy(info.url)
    name = _llm_service(config, chat)
    known = {**os.environ, **variables}
    keys = (known.get(variable, "") for variable in config.services[name].key_variables)
    services = ((each, config.services[each]) for each in info.modes)
    return Chat(
        prompt=chat.prompt or _prompt(config.root / chat.prompt_file),
        settings=settings_of(config.agent),
        address=f"{info.url}/{name}",
        key=next(filter(None, keys), ""),
        services=tuple(_tools(each, service, info, known) for each, service in services if service.world),
    )


def _llm_service(config: Config, chat: ChatConfig) -> str:
    """Which service a chat's model is asked through. Raises ConfigError where that is not plain."""
    known = sorted(config.llm_services)
    if chat.service:
        config.service(chat.service)
        if chat.service not in known:
            told = f'[agent.chat] asks "{chat.service}", which is no LLM service: it has no preset'
            raise ConfigError("chat_service", told, nearest(chat.service, known))
        return chat.service
    if len(known) == 1:
        return known[0]
    if known:
        named = " or ".join(f'"{each}"' for each in known)
        fix = f"name one under [agent.chat]: service = {named}"
        raise ConfigError("chat_service", f"[agent.chat] may ask any of {', '.join(known)}", fix)
    fix = 'add [services.llm] with preset = "openai" or "anthropic"'
    raise ConfigError("chat_service", "[agent.chat] has no LLM service to ask", fix)


def _refuse_proxy(address: str) -> None:
    """litellm runs in this process and heeds its variables: what is meant for the session would go elsewhere."""
    parts = urlsplit(address)
    proxies, host = getproxies(), parts.hostname or ""
    if (parts.scheme in proxies or "all" in proxies) and not proxy_bypass(host):
        told = f"[agent.chat] would ask {host} through the proxy that this process's environment names"
        raise ConfigError("chat_proxied", told, f"export NO_PROXY={host} no_proxy={host}")


def _tools(name: str, service: ServiceConfig, info: SessionInfo, known: Mapping[str, str]) -> ToolService:
    named = service.identity_variables.items()
    keys = {identity: known[variable] for identity, variable in named if known.get(variable)}
    return ToolService(name, f"{info.url}/{name}", service.tools, keys)


def _prompt(path: Path) -> str:
    """The text, without the line end that editors put last."""
    try:
        return path.read_text(encoding="utf-8").rstrip()
    except OSError as error:
        raise ConfigError("prompt_unreadable", f"cannot read the prompt {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError("prompt_unreadable", f"the prompt {path} is not UTF-8 text", "save it as UTF-8") from None
