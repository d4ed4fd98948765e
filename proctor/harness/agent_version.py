"""Which agent was tested: the version that `[agent]` of proctor.toml tells, and what it is made of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from proctor.config import AgentConfig
from proctor.errors import ConfigError
from proctor.harness.source_files import digest_of_files, named_files
from proctor.upstream_config import ENV_PREFIX

_SHORT = 12
"""Hexadecimal digits of a digest that people compare."""


def agent_version(agent: AgentConfig, root: Path, environ: Mapping[str, str] = os.environ) -> str:
    """What `Versions.agent` of a trajectory says: `1.4.2`, `1.4.2+3f9c01ab22de` with the digest of its sources, or that
    alone; empty where neither is known.

    Raises ConfigError for a variable that is not set, and for sources that are not there.
    """
    return "+".join(filter(None, (told_version(agent, environ), sources_digest(agent, root)[:_SHORT])))


def told_version(agent: AgentConfig, environ: Mapping[str, str] = os.environ) -> str:
    """The version as it is told, or as its variable holds it; empty where none is. Raises ConfigError."""
    if not agent.version.startswith(ENV_PREFIX):
        return agent.version
    variable = agent.version.removeprefix(ENV_PREFIX)
    value = environ.get(variable, "").strip()
    if not value:
        told = f"[agent] version is taken from {variable}, which is not set"
        raise ConfigError("agent_version_unset", told, f'export {variable}="$(git rev-parse HEAD)", for example')
    return value


def sources_digest(agent: AgentConfig, root: Path) -> str:
    """A SHA-256 of the paths and contents of its sources; empty without any. Raises ConfigError."""
    return digest_of_files(named_files(agent.sources, root))
