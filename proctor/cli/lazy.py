"""A group of commands that imports one when it is called: `--help` must not wait for aiohttp or a model's client."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import click

Commands = Mapping[str, tuple[str, str]]
"""By name: where the command is (`module:attribute`), and a line about it."""


class LazyGroup(click.Group):
    """Knows its commands by name alone."""

    def __init__(self, *arguments: Any, lazy: Commands, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order given."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None where there is none of that name."""
        if cmd_name not in self._lazy:
            return None
        target, _ = self._lazy[cmd_name]
        module, _, attribute = target.partition(":")
        command = getattr(_imported(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without an import."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in self._lazy.items()])


def _imported(name: str) -> ModuleType:
    """Import a module without looking for garbage: there is none yet, and the search takes a tenth of the time."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()
