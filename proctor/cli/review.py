"""`proctor review`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click

from proctor.cli.project import optional_project
from proctor.cli.review_form import Form, Skipped, Stopped
from proctor.cli.review_shown import review_line
from proctor.cli.service_options import service_options, service_token, service_url
from proctor.errors import EXIT_FINE, UsageError
from proctor.review_client import ReviewClient

_AS = "Under which name you label; it stays the same, and small and capital letters are one."


@click.group(invoke_without_command=True)
@click.option("--as", "name", metavar="NAME", help=_AS)
@service_options
@click.pass_context
def review(context: click.Context, name: str | None, service: str | None, token_file: Path | None) -> int:
    """Label runs that the judge was in doubt about.

    Shows each run beside what it should have been and the rule it falls under, and asks for a level on each criterion.
    What the judge said comes after your last label. Each label is sent as you give it; ? helps, s skips, q stops.

    \b
      proctor review --as ann
      proctor review --as ann --service http://judge.internal:8080 --token-file judge.token
    """
    if context.invoked_subcommand is not None:
        if name or service or token_file:
            told = f"--as, --service and --token-file stand behind {context.invoked_subcommand}"
            raise UsageError("misplaced_option", told, f"proctor review {context.invoked_subcommand} --as NAME ...")
        return EXIT_FINE
    return _until_stopped(_walk(_needed(name), service, token_file))


@review.command("list")
@click.option("--as", "name", metavar="NAME", required=True, help=_AS)
@service_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def listed(name: str, service: str | None, token_file: Path | None, as_json: bool) -> int:
    """List the runs that wait for your labels.

    \b
      proctor review list --as ann
    """

    async def ask() -> None:
        async with reviewing(service, token_file) as client:
            found = await client.reviews(name)
        if as_json:
            click.echo(found.model_dump_json())
            return
        for each in found.reviews:
            click.echo(review_line(each))
        click.echo(f"{found.waiting} wait for {name}")

    asyncio.run(ask())
    return EXIT_FINE


@review.command("export")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write there, not to stdout.")
@click.option("--rubric", default="", metavar="NAME", help="By which rubric: its name, or first digits of its digest.")
@service_options
def export(out: Path | None, rubric: str, service: str | None, token_file: Path | None) -> int:
    """Write all labels as `proctor judge calibrate` reads them.

    \b
      proctor review export -o labels.jsonl
      proctor judge calibrate labels.jsonl
    """

    async def ask() -> None:
        async with reviewing(service, token_file) as client:
            found = await client.labels(rubric)
        if out is None:
            click.echo(found.lines.decode(), nl=False)
        else:
            _written(out, found.lines)
        left = f", {found.left_out} of earlier runs under the same id left out" if found.left_out else ""
        click.echo(f"{len(found.lines.splitlines())} labels{left}", err=True)

    asyncio.run(ask())
    return EXIT_FINE


@review.command("realign")
@click.option("--as", "name", metavar="NAME", required=True, help=_AS)
@service_options
def realign(name: str, service: str | None, token_file: Path | None) -> int:
    """Decide where two people are more than 1 apart, as a third who labelled neither.

    Shows the run and both labels. Talk it over with the two first, and sharpen the anchor that they read differently.

    \b
      proctor review realign --as eve
    """
    return _until_stopped(_decide(name, service, token_file))


@asynccontextmanager
async def reviewing(service: str | None, token_file: Path | None) -> AsyncIterator[ReviewClient]:
    """A client of a service that runs, or of one on this project's database while the command lasts."""
    if service:
        async with ReviewClient(service_url(service), service_token(token_file)) as client:
            yield client
        return
    from proctor.cli.judge_service import own_service  # the server's modules are heavy, and a remote one needs none

    layout, _, _ = optional_project()
    async with own_service(layout) as own, ReviewClient(own.url, own.token) as client:
        yield client


async def _walk(name: str, service: str | None, token_file: Path | None) -> None:
    async with reviewing(service, token_file) as client:
        form = Form(client, name)
        await form.walk()
        click.echo(f"nothing else waits for {name}: {form.kept} labels given")


async def _decide(name: str, service: str | None, token_file: Path | None) -> None:
    async with reviewing(service, token_file) as client:
        form = Form(client, name)
        for gap in (await client.realignments(name)).realignments:
            try:
                await form.decide(gap)
            except Skipped:
                continue
        click.echo(f"nothing else waits to be decided by {name}")


def _until_stopped(form: Coroutine[Any, Any, None]) -> int:
    try:
        asyncio.run(form)
    except Stopped:
        click.echo("\nstopped: what you gave is kept")
    return EXIT_FINE


def _needed(name: str | None) -> str:
    if not name:
        raise UsageError("annotator_name", "nothing tells who labels", "proctor review --as NAME")
    return name


def _written(path: Path, lines: bytes) -> None:
    try:
        path.write_bytes(lines)
    except OSError as error:
        raise UsageError("unwritable", f"{path} cannot be written: {error.strerror}", "name another file") from None
