"""The project that a command is about."""

from __future__ import annotations

from pathlib import Path

from proctor.config import AgentConfig, Config, JudgeConfig, find_config, load_config
from proctor.errors import ConfigError
from proctor.paths import Layout


def project_config() -> Config:
    """The configuration of the project around the working directory. Raises ConfigError."""
    return load_config(find_config(Path.cwd()))


def project_layout() -> Layout:
    """Where that project's files lie; the configuration itself need not be right. Raises ConfigError without one."""
    return Layout(find_config(Path.cwd()).parent.resolve())


def optional_project() -> tuple[Layout, AgentConfig, JudgeConfig]:
    """The project's files, agent and judge; without a proctor.toml the working directory's, and nothing declared."""
    try:
        config = project_config()
    except ConfigError as error:
        if error.code != "config_missing":
            raise
        return Layout(Path.cwd()), AgentConfig(), JudgeConfig()
    return Layout(config.root), config.agent, config.judge


def shown_path(path: str | Path, root: Path) -> str:
    """A path as a person types it: below the project, relative."""
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return str(path)
