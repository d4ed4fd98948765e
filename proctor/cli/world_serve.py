"""`proctor world serve`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import click

from proctor.cli.listening import Listening, listening, listening_options
from proctor.cli.project import project_config
from proctor.cli.stop_signal import stop_signal
from proctor.cli.world_project import SEED_OPTION, world_kind, world_services
from proctor.config import Config
from proctor.errors import EXIT_FINE, EXIT_PLATFORM
from proctor.proxy.server import Proxy, start_proxy
from proctor.summary import WORLD_CODES
from proctor.wire import SessionSpec

_SESSION = "world"
"""The session's id, so that its addresses are the same each time."""


@click.command("serve")
@click.argument("services", nargs=-1)
@listening_options
@SEED_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON line when ready: url, control, token, worlds.")
def serve_worlds(services: Sequence[str], port: int, host: str, advertise: str, seed: int, as_json: bool) -> int:
    """Serve worlds over HTTP until Ctrl-C or SIGTERM, in one session: POST /tools/NAME, GET /tools.

    By default every world of the project is served. The control API tells state, diff and log, and resets a world.
    An identity is named by the key `proctor-world-IDENTITY`, or by what its variable holds.

    \b
    Exit status: 0 fine; 2 usage, or a world cannot be loaded; 4 a world failed.

    \b
      proctor world serve --port 4712
      curl -s http://127.0.0.1:4712/s/world/orders/tools
    """
    config = project_config()
    names = [world_kind(config, name)[0] for name in services or world_services(config)]
    return asyncio.run(_serve(config, names, listening(port, host, advertise), seed, as_json=as_json))


async def _serve(config: Config, names: Sequence[str], where: Listening, seed: int, *, as_json: bool) -> int:
    stop = stop_signal()
    proxy = await start_proxy(config, where.host, where.port, advertised=where.advertised)
    try:
        spec = SessionSpec(cassette=_SESSION, session=_SESSION, modes=dict.fromkeys(names, "world"), seed=seed)
        session = await proxy.registry.open(spec)
        told = _told(proxy, proxy.session_url(session.id), names)
        click.echo(json.dumps(told) if as_json else _text(told))
        await stop.wait()
        summary = (await proxy.registry.close(session.id, 0)).summary
    finally:
        await proxy.close()
    for error in summary.errors:
        click.echo(f"proctor: {error.code}: {error.message}", err=True)
    click.echo(f"{summary.worlds} calls answered; see: proctor session show {_SESSION}", err=True)
    return EXIT_PLATFORM if any(error.code in WORLD_CODES for error in summary.errors) else EXIT_FINE


def _told(proxy: Proxy, session_url: str, names: Sequence[str]) -> dict[str, Any]:
    control = f"{proxy.url}/_proctor"
    states = f"{control}/sessions/{_SESSION}/worlds"
    worlds = {name: {"url": f"{session_url}/{name}", "state": f"{states}/{name}"} for name in names}
    return {"url": session_url, "control": control, "token": proxy.token, "worlds": worlds}


def _text(told: dict[str, Any]) -> str:
    lines = []
    for name, where in told["worlds"].items():
        lines.append(f"{name}: {where['url']}/tools")
        lines.append(f"  state  curl -s -H 'x-proctor-token: {told['token']}' {where['state']}")
        lines.append(f"  reset  curl -s -H 'x-proctor-token: {told['token']}' -X POST {where['state']}/reset")
    return "\n".join(lines)
