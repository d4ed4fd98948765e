"""`proctor judge serve`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path

import click

from proctor.cli.control_token import chosen_token, write_token_file
from proctor.cli.memory import give_back_memory
from proctor.cli.project import optional_project
from proctor.cli.stop_signal import stop_signal
from proctor.errors import EXIT_FINE, UsageError
from proctor.judge.service.server import Service, start_service
from proctor.judge.service.settings import Limits, Settings
from proctor.judge.tape_salt import salt_under

_LIMITS = Limits()


@click.command()
@click.option("--model", "models", multiple=True, help="Who may judge; repeatable, the first by default. Else [judge].")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default any.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another one opens the service to machines.")
@click.option("--token-file", type=click.Path(path_type=Path), help="Write the token there (0600), print it nowhere.")
@click.option("--calls-at-once", type=click.IntRange(1), default=5, show_default=True, help="Per provider.")
@click.option("--runs-at-once", type=click.IntRange(1), default=4, show_default=True, help="Per model.")
@click.option("--max-waiting", type=click.IntRange(1), default=_LIMITS.waiting, show_default=True, help="Of verdicts.")
@click.option("--max-cost-per-day", type=click.FloatRange(0), metavar="USD", help="No call is made that might pass it.")
@click.option("--review-share", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Of unflagged ones.")
@click.option(
    "--grace", type=click.FloatRange(0), default=30.0, show_default=True, help="Seconds to end by when stopped."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line on stdout when ready: url, token, pid.")
def serve(
    models: tuple[str, ...],
    port: int,
    host: str,
    token_file: Path | None,
    calls_at_once: int,
    runs_at_once: int,
    max_waiting: int,
    max_cost_per_day: float | None,
    review_share: float,
    grace: float,
    as_json: bool,
) -> int:
    """Judge what is sent over HTTP until Ctrl-C or SIGTERM; docs/service.md shows how.

    What was accepted is on disk, in .proctor/judge of this folder's project, and goes on after a stop of whatever
    kind. PROCTOR_TOKEN may give the token, of at least 16 characters. Keys of providers stand in this command's
    environment alone: nobody who sends work needs one.

    \b
      proctor judge serve --model anthropic/MODEL --port 8080 --token-file judge.token
      proctor judge serve --model stand-in/obedient      no key, no live model, and every verdict says so
    """
    layout, agent, judge = optional_project()
    names = models or ((judge.model,) if judge.model else ())
    if not names:
        raise UsageError("no_judge_model", "nobody is named to judge", 'give --model, or [judge] model = "..."')
    settings = Settings(
        layout.judge,
        tuple(dict.fromkeys(names)),
        agent.vendor,
        host=host,
        port=port,
        token=chosen_token(os.environ),
        calls_at_once=calls_at_once,
        runs_at_once=runs_at_once,
        per_day=max_cost_per_day,
        share=review_share,
        grace=grace,
        limits=Limits(waiting=max_waiting),
    )
    layout.ensure_state()
    give_back_memory()
    logging.basicConfig(format="proctor: %(message)s", level=logging.WARNING)
    return asyncio.run(_serve(settings, token_file, as_json=as_json))


async def _serve(settings: Settings, token_file: Path | None, *, as_json: bool) -> int:
    stop = stop_signal()
    taped = await salt_under(os.environ, settings.models)
    service = await start_service(settings, salt=taped, reuse=taped is None)
    try:
        if token_file is not None:
            write_token_file(token_file, service.token)
        shown = None if token_file is not None or settings.token else service.token
        click.echo(_ready_line(service, shown, token_file) if as_json else _ready_text(service, shown, token_file))
        await stop.wait()
        click.echo("stopping: what is being judged has its time, the rest waits on disk", err=True)
    finally:
        await service.close()
    made = service.lanes.made
    click.echo(f"{made['done']} verdicts made, {made['refused']} refused, {made['failed']} failed", err=True)
    return EXIT_FINE


def _ready_line(service: Service, token: str | None, token_file: Path | None) -> str:
    """For launchers."""
    return json.dumps(
        {
            "url": service.url,
            "token": token,
            "token_file": str(token_file.resolve()) if token_file else None,
            "pid": os.getpid(),
            "goes_on": service.goes_on,
            "lost_calls": service.lost_calls,
        }
    )


def _ready_text(service: Service, token: str | None, token_file: Path | None) -> str:
    where = f"in {token_file}" if token_file else "that of PROCTOR_TOKEN" if token is None else token
    lines = [f"judging at {service.url}", f"token: {where}"]
    if service.goes_on or service.lost_calls:
        lost = f"; {service.lost_calls} calls were on their way, and may be made again" if service.lost_calls else ""
        lines.append(f"going on with {service.goes_on} verdicts that were accepted before{lost}")
    return "\n".join(lines)
