"""Every command explains itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import click

from proctor.cli.main import cli
from tests.support import Project


def paths(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and subcommand, by the words that call it."""
    yield path
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from paths(below, (*path, name))


async def test_every_command_and_subcommand_explains_itself_and_each_of_its_options(project: Project) -> None:
    known = list(paths(cli))
    assert {("record",), ("replay",), ("session", "show"), ("cassette", "recover")} <= set(known)
    ended = await asyncio.gather(*(project.proctor(*path, "--help") for path in known))
    for path, help_ in zip(known, ended, strict=True):
        told = " ".join(("proctor", *path))
        assert (help_.status, help_.stderr) == (0, ""), told
        usage, _, rest = help_.stdout.partition("\n\n")
        assert usage.startswith(f"Usage: {told}"), told
        explanation = re.match(r"  [A-Z].{20,}", rest)
        assert explanation is not None, f"{told} --help explains nothing"
        _, _, options = rest.partition("\nOptions:\n")
        bare = [line for line in re.split(r"\n(?=  -)", options) if not re.search(r"  -.*?\s{2,}\S", line, re.DOTALL)]
        assert not bare, f"{told}: an option without a word: {bare}"


async def test_short_help_version_and_no_command_at_all_say_what_they_should(project: Project) -> None:
    short, version, bare, typo = await asyncio.gather(
        project.proctor("-h"), project.proctor("--version"), project.proctor(), project.proctor("recrod")
    )
    assert short.status == 0
    for told in (
        "init",
        "record",
        "replay",
        "serve",
        "env",
        "session",
        "cassette",
        "First steps:",
        "Exit status: 0 fine",
    ):
        assert told in short.stdout
    assert re.fullmatch(r"proctor, version \d+\.\d+\.\d+\n", version.stdout)
    assert bare.status == 2
    assert "First steps:" in bare.stdout + bare.stderr
    assert (typo.status, "recrod" in typo.stderr) == (2, True)
