"""`proctor serve`."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import click

from proctor.cli.control_token import chosen_token, write_token_file
from proctor.cli.listening import Listening, listening, listening_options
from proctor.cli.memory import give_back_memory
from proctor.cli.project import project_config
from proctor.cli.serve_report import ended_text, serve_status, started_text
from proctor.cli.stop_signal import stop_signal
from proctor.config import Config
from proctor.proxy.server import Proxy, start_proxy


@click.command()
@listening_options
@click.option("--token-file", type=click.Path(path_type=Path), help="Write the token there (0600), print it nowhere.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line on stdout when ready: url, control, token, pid.")
def serve(port: int, host: str, advertise: str, token_file: Path | None, as_json: bool) -> int:
    """Run a proxy until Ctrl-C or SIGTERM, for launchers of your own.

    Sessions are opened and closed over HTTP; docs/serve.md shows how. PROCTOR_TOKEN may give the token, of at least
    16 characters. On a host that other machines reach, agents' addresses carry a secret path, made at each start.

    At the end each session that nobody closed is told. It counts as failed: a recording's journal is kept for
    `proctor cassette recover`, the trace and summary of any other are written.

    \b
    Exit status: 0 no session failed and none was left open; 1 one did or was;
    2 usage or configuration; 3 one had misses, unseen traffic or no request;
    4 Proctor failed. Where several hold: 4, 2, 3, 1.

    \b
      proctor serve --port 4711 --token-file serve.token
      proctor serve --host 0.0.0.0 --port 4711 --advertise http://host.docker.internal:4711
    """
    config = project_config()
    where = listening(port, host, advertise)
    token = chosen_token(os.environ)
    give_back_memory()
    return asyncio.run(_serve(config, where, token, token_file, as_json=as_json))


async def _serve(config: Config, where: Listening, token: str, token_file: Path | None, *, as_json: bool) -> int:
    stop = stop_signal()
    proxy = await start_proxy(config, where.host, where.port, advertised=where.advertised, token=token)
    try:
        if token_file is not None:
            write_token_file(token_file, proxy.token)
        secret = token_file is not None or bool(token)
        shown = None if secret else proxy.token
        click.echo(_ready_line(proxy, shown, token_file) if as_json else started_text(proxy, config, shown, token_file))
        await stop.wait()
    finally:
        left = await proxy.close()
    status = serve_status(proxy.registry.statuses, left)
    click.echo(ended_text(proxy.registry.totals, left, status), err=True)
    return status


def _ready_line(proxy: Proxy, token: str | None, token_file: Path | None) -> str:
    """For launchers: where agents and the control API are, and the token unless it is told elsewhere."""
    return json.dumps(
        {
            "url": proxy.addressing.agents_url,
            "control": f"{proxy.url}/_proctor",
            "token": token,
            "token_file": str(token_file.resolve()) if token_file else None,
            "pid": os.getpid(),
        }
    )
