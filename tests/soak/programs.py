"""Other people's clients in their own environment, as agents of a standing proxy."""

from __future__ import annotations

import random
from dataclasses import dataclass

from proctor.presets import QUIET_VARIABLES
from proctor.wire import Mode, SessionInfo, SessionSpec
from tests.clients import environments
from tests.clients.catalogue import CLIENTS, Client
from tests.clients.running import KEY, command, lay_out
from tests.property.counts import SOAK
from tests.soak.load import Load
from tests.support import Finished, run

NAMES = (
    "openai chat",
    "anthropic, streamed",
    *(
        (
            "openai chat, streamed",
            "openai Responses, streamed",
            "anthropic",
            "litellm, OpenAI route",
            "litellm, Anthropic route, streamed",
        )
        if SOAK
        else ()
    ),
)
PROGRAMS = tuple(client for client in CLIENTS if client.name in NAMES)


def missing() -> str:
    """Why they cannot run here; empty where they can."""
    return next(filter(None, map(environments.missing, PROGRAMS)), "")


@dataclass
class Programs:
    """The clients, each with its tape, and what it said when that was recorded."""

    load: Load
    said: dict[str, list[str]]

    @classmethod
    async def recorded(cls, load: Load) -> Programs:
        """Every client once, against the model and an order desk of its own."""
        lay_out("python", load.project.root)
        made = cls(load, {})
        for client in PROGRAMS:
            modes: dict[str, Mode] = {"orders": "record", client.preset: "record"}
            info = await load.control.open(SessionSpec(cassette=_tape(client), modes=modes))
            made.said[client.name] = _lines(await made._run(client, info, KEY))
            assert (await load.control.close(info.session, 0)).sealed
        return made

    async def hold(self, number: int, rng: random.Random) -> None:
        """One conversation, by key or path: its tools by the tape, and its model by the tape, recorded anew or live."""
        client = rng.choice(PROGRAMS)
        mode: Mode = rng.choice(("record", "replay", "live"))
        modes: dict[str, Mode] = {"orders": "replay", client.preset: mode}
        new, old = (f"again{number}", _tape(client)) if mode == "record" else (_tape(client), "")
        info = await self.load.control.open(SessionSpec(cassette=new, over=old, modes=modes))
        finished = await self._run(client, info, rng.choice((KEY, info.key)))
        assert _lines(finished) == self.said[client.name]
        await self.load.control.close(info.session, finished.status)

    async def _run(self, client: Client, info: SessionInfo, key: str) -> Finished:
        base = info.current_url if key == info.key else info.url
        variable = f"{client.preset.upper()}_API_KEY"
        addresses = {
            client.variable: f"{base}/{client.preset}",
            "ORDERS_URL": f"{info.url}/orders/{PROGRAMS.index(client)}",
            **QUIET_VARIABLES,
        }
        return await run(*command(client), cwd=self.load.project.root, env={variable: key, **addresses})


def _tape(client: Client) -> str:
    return f"program{PROGRAMS.index(client)}"


def _lines(finished: Finished) -> list[str]:
    assert finished.status == 0, (finished.status, finished.stdout, finished.stderr)
    return finished.stdout.splitlines()
